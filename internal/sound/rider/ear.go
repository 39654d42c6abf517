package rider

import "math"

const (
	// absolute is the gate under which nothing is a voice, in LUFS. White noise of
	// -60 dBFS in both channels is at -55.
	absolute = -50.0
	// relative is how far under the voice a sound still counts as its own, in LU.
	relative = 12.0
	// clear is from where on a sound is a programme, whatever it is like, in LUFS.
	clear = -38.0
	// above is how far a quieter voice stands above the noise of its pauses, in LU, and
	// lively by how much the loudness of its syllables differs within a second: noise of a
	// room differs by 1 or 2.
	above, lively = 10.0, 6.0
	// moving is the standard deviation of frames of 20 ms within 3 s, in dB: noise of
	// anything that runs has up to 1.3, music seldom less than 1.6.
	moving = 1.5
	// steady is for how many hops a sound above the noise that is not lively must last to be
	// a programme after all: a pad of strings, not a chair.
	steady = 80
	// settled is how many hops of voice are measured together, 3 s.
	settled = 30
	// turned is how many hops in a row must differ by swing LU from what was measured
	// before, to be a voice of its own: 1.5 s.
	turned, swing = 15, 6.0
	// Speech is full of holes, music is not: spokenShare of the frames of 20 ms within 3 s
	// are under hole of the mean power. Of speech 0.2 to 0.5 are, of music half of the time
	// none. (After Saunders, ICASSP 1996, and Scheirer and Slaney, ICASSP 1997.)
	hole, spokenShare = 0.1, 0.18
	// quickHops is for how many hops of voice a source that nobody knows is followed
	// quickly.
	quickHops = 25
)

// ear tells voice from pause and measures the voice. It counts in hops of 100 ms.
type ear struct {
	sum   float64 // power of the steps since the last hop
	count int
	hops  [settled]float64 // mean powers, a ring
	n     int

	frames  [150]float64 // mean powers of 20 ms each, a ring
	partial float64      // of the frame in the making
	steps   int

	minima [10]float64 // the lowest hop of 3 s each: what is there when nobody speaks
	voice  []float64   // mean powers over 400 ms that were voice, oldest first
	quick  int         // hops of voice that are followed quickly
	last   int         // hops in a row that were above the noise
	pause  int         // hops since the last voice
}

func newEar() ear {
	e := ear{voice: make([]float64, 0, settled)}
	for i := range e.minima {
		e.minima[i] = math.Inf(1)
	}
	return e
}

// add takes the power of a step.
func (e *ear) add(power float64) {
	e.sum += power
	e.count++
	e.partial += power
	if e.steps++; e.steps%4 == 0 {
		e.frames[(e.steps/4-1)%len(e.frames)] = e.partial
		e.partial = 0
	}
}

// spoken tells speech from music, by the last 3 s.
func (e *ear) spoken() bool {
	n := min(e.steps/4, len(e.frames))
	sum, holes := 0.0, 0
	for _, p := range e.frames[:n] {
		sum += p
	}
	for _, p := range e.frames[:n] {
		if p < hole*sum/float64(n) {
			holes++
		}
	}
	return float64(holes) >= spokenShare*float64(n)
}

func (e *ear) mean(hops int) float64 {
	sum := 0.0
	for i := range min(hops, e.n) {
		sum += e.hops[(e.n-1-i)%settled]
	}
	return sum / float64(hops)
}

// shortTerm is the loudness of the last 3 s.
func (e *ear) shortTerm() float64 { return lufs(e.mean(settled)) }

// floor is the loudness of what is there when nobody speaks, by the last 30 s.
func (e *ear) floor() float64 {
	low := math.Inf(1)
	for _, p := range e.minima {
		low = min(low, p)
	}
	if math.IsInf(low, 1) {
		return Nothing
	}
	return max(lufs(low), Nothing)
}

// loudness is that of the voice, gated as BS.1770-5 gates a programme; false before the
// first.
func (e *ear) loudness() (float64, bool) {
	if len(e.voice) == 0 {
		return 0, false
	}
	return lufs(gated(e.voice)), true
}

func gated(powers []float64) float64 {
	mean := func(gate float64) float64 {
		sum, n := 0.0, 0
		for _, p := range powers {
			if p > gate {
				sum += p
				n++
			}
		}
		return sum / float64(max(n, 1))
	}
	return mean(mean(0) / 10)
}

// hop ends a hop and says whether it was voice.
func (e *ear) hop() bool {
	power := e.sum / float64(max(e.count, 1))
	e.sum, e.count = 0, 0
	if e.n%settled == 0 {
		e.minima[e.n/settled%len(e.minima)] = math.Inf(1)
	}
	bucket := &e.minima[e.n/settled%len(e.minima)]
	// Less than -80 LUFS is no room, but a codec that sends nothing in pauses; a hop at the
	// edge of such a hole says nothing either.
	before := e.hops[(e.n+settled-1)%settled]
	if power > 1e-8 && before > 1e-8 {
		*bucket = min(*bucket, max(power, before))
	}
	e.hops[e.n%settled] = power
	e.n++
	now := e.mean(4)
	if !e.isVoice(lufs(now)) {
		e.pause++
		return false
	}
	e.pause = 0
	e.quick = max(e.quick-1, 0)
	if len(e.voice) == settled {
		e.voice = e.voice[:copy(e.voice, e.voice[1:])]
	}
	e.voice = append(e.voice, now)
	e.turn()
	return true
}

// isVoice judges 400 ms of a loudness: see the gates above.
func (e *ear) isVoice(now float64) bool {
	if now < absolute {
		e.last = 0
		return false
	}
	reference := clear
	is, known := e.loudness()
	if known {
		reference = is - relative
	}
	if now > reference {
		e.last = 0
		return true
	}
	// Dense music may be all that there has ever been: then it is not noise of pauses.
	standsOut := now >= e.floor()+above
	if !standsOut && (known || !e.moves()) {
		e.last = 0
		return false
	}
	e.last++
	return e.last > steady || standsOut && e.spread() > lively
}

// moves reports that the last 3 s are no steady noise.
func (e *ear) moves() bool {
	n := min(e.steps/4, len(e.frames))
	sum, squares := 0.0, 0.0
	for _, p := range e.frames[:n] {
		db := lufs(p)
		sum += db
		squares += db * db
	}
	mean := sum / float64(n)
	return squares/float64(n)-mean*mean > moving*moving
}

// spread is the distance of the loudest from the quietest hop within a second, in LU.
func (e *ear) spread() float64 {
	low, high := math.Inf(1), 0.0
	for i := range min(10, e.n) {
		p := e.hops[(e.n-1-i)%settled]
		low, high = min(low, p), max(high, p)
	}
	return lufs(high) - max(lufs(low), -70)
}

// turn forgets what was measured before another voice, or the same from elsewhere.
func (e *ear) turn() {
	if len(e.voice) < 2*turned {
		return
	}
	before, now := e.voice[:len(e.voice)-turned], e.voice[len(e.voice)-turned:]
	if math.Abs(lufs(gated(now))-lufs(gated(before))) > swing {
		e.voice = e.voice[:copy(e.voice, now)]
	}
}
