package rider

const (
	upMost, downMost = 8.0, 14.0 // dB a second
	upShare          = 0.6       // of the distance, a second
	downShare        = 1.5
	musicShare       = 0.03
	musicDown        = 0.5
	musicRange       = 12.0 // dB that music may be under its loudest before it is brought up
	quickMost        = 30.0 // dB a second, for a voice that nobody knows yet
	quickShare       = 4.0
	// shout is how far a hop may be over the target, in LU; what two in a row exceed it by
	// is taken away at once.
	shout, shoutSpeed = 8.0, 100.0
	// What compressor and limiter take of the voice is made up for, up to mostLoss dB;
	// lossShare is how quickly it is learnt, a hop.
	mostLoss  = 6.0
	lossShare = 0.05
)

// decide sets where the gain goes in the next hop.
func (r *Rider) decide() {
	want, heard := r.wanted/hopSteps, r.heard/float64(max(r.given, 1))
	r.wanted, r.heard, r.given = 0, 0, 0
	r.speed = 0
	if !r.ear.hop() {
		return
	}
	is, _ := r.ear.loudness()
	r.spent[0] += (want - r.spent[0]) * lossShare
	r.spent[1] += (heard - r.spent[1]) * lossShare
	if over := r.shouted(); over > 0 {
		r.goal = r.gain - over
		r.speed = shoutSpeed / stepsPerSecond
		r.ear.voice = append(r.ear.voice[:0], r.ear.mean(2))
		return
	}
	loss := min(max(lufs(r.spent[0])-lufs(r.spent[1]), 0), mostLoss)
	r.goal = min(max(r.target+loss-is, LeastGain), MostGain)
	r.speed = r.pace(r.goal-r.gain) / stepsPerSecond
	r.known += (r.gain - r.known) * 0.02
	if r.ear.quick > 0 {
		r.known = r.gain
	}
}

// shouted is by how much both of the last two hops are over what may be, in dB.
func (r *Rider) shouted() float64 {
	low := min(r.ear.hops[(r.ear.n-1)%settled], r.ear.hops[(r.ear.n+settled-2)%settled])
	return lufs(low) + r.gain - r.target - shout
}

// pace is how fast the gain moves over a distance in dB, in dB a second.
func (r *Rider) pace(away float64) float64 {
	switch {
	case r.ear.quick > 0 && away > 0:
		return min(away*quickShare, quickMost)
	case r.ear.spoken() && away > 0:
		return min(away*upShare, upMost)
	case away > 0: // a quiet passage stays one
		return min(away*musicShare+max(away-musicRange, 0)*upShare, upMost)
	case r.ear.spoken() || r.ear.quick > 0:
		return min(-away*downShare, downMost)
	}
	return min(-away*musicDown, downMost)
}
