package synth

import "math"

// Room is a small space around a sound.
type Room struct {
	Size     float64 // 1 is a hall with walls some 15 m apart; 0.3 a studio
	Decay    float64 // seconds until its tail has fallen by 60 dB
	Damp     float64 // Hz; what is higher dies sooner
	Predelay float64 // seconds before the first reflection
}

// Of returns what the room adds to a Sound: early reflections and a tail, of the
// same length as the Sound and without the Sound itself. Leave silence at the
// end for the tail, and Mix the result in at a gain of some 0.1 to 0.5.
func (r Room) Of(dry Sound) Sound {
	wet := Silence(dry.Seconds())
	r.reflect(dry, wet)
	r.ring(wet)
	return wet
}

// reflect adds the first reflections off the walls, each from its own side.
func (r Room) reflect(dry, wet Sound) {
	taps := [...]struct{ ms, gain, cross float64 }{
		{7.1, 0.80, 0.2}, {11.3, -0.68, 0.7}, {17.9, 0.60, 0.3}, {23.7, 0.50, 0.8}, {31.1, -0.42, 0.4}, {41.9, 0.36, 0.6},
	}
	for i, tap := range taps {
		for side := range wet {
			// The sides hear the walls at slightly different times.
			at := r.Predelay + r.Size*tap.ms*(1+0.07*float64((side+i)%2))/1000
			mix(wet[side], dry[side], at, float32(0.5*tap.gain*(1-tap.cross)))
			mix(wet[side], dry[1-side], at, float32(0.5*tap.gain*tap.cross))
		}
	}
}

// ring lets the reflections go round: eight delays that feed each other through
// a Householder matrix, which loses nothing, so that the decay is as asked.
func (r Room) ring(wet Sound) {
	lengths := [...]float64{29.3, 34.7, 40.1, 45.3, 51.7, 57.1, 63.9, 70.3} // ms, of a Size of 1
	var lines [8][]float64
	var at [8]int
	var gains, damped [8]float64
	for k, ms := range lengths {
		n := max(8, Frames(r.Size*ms/1000))
		lines[k] = make([]float64, n)
		gains[k] = math.Pow(10, -3*Seconds(n)/r.Decay)
	}
	dark := 1 - math.Exp(-2*math.Pi*r.Damp/Rate)
	for i := range wet[0] {
		var outs [8]float64
		var sum float64
		for k := range lines {
			damped[k] += (lines[k][at[k]]*gains[k] - damped[k]) * dark
			outs[k] = damped[k]
			sum += outs[k]
		}
		in := [2]float64{float64(wet[0][i]), float64(wet[1][i])}
		for k := range lines {
			lines[k][at[k]] = in[k%2] + outs[k] - sum/4
			if at[k]++; at[k] == len(lines[k]) {
				at[k] = 0
			}
		}
		wet[0][i] += float32(0.5 * (outs[0] - outs[2] + outs[4] - outs[6]))
		wet[1][i] += float32(0.5 * (outs[1] - outs[3] + outs[5] - outs[7]))
	}
}

// Echo mixes repeats into a Sound, in place: one every so many seconds, each
// gain times the one before and on the other side.
func (s Sound) Echo(every, gain float64) {
	n := Frames(every)
	if n == 0 {
		return
	}
	for i := n; i < s.Frames(); i++ {
		left, right := s[0][i-n], s[1][i-n]
		s[0][i] += right * float32(gain)
		s[1][i] += left * float32(gain)
	}
}
