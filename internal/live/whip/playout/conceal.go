package playout

const (
	channels = 2
	tick     = 960 // samples of one channel in 20 ms
	// fadeTicks is for how long a hole is concealed: 60 ms. A voice that is repeated for
	// longer sounds like a machine, and silence like a pause.
	fadeTicks = 3
	// joint is the length of a crossfade where concealment meets audio, 5 ms.
	joint = 240
)

// concealer fills short holes with what was heard last, there and back again, ever
// softer: each piece begins with the sample that the one before ended with, so there is
// no click. It is pure.
type concealer struct {
	last  [tick * channels]float32 // the last tick that was heard, as it was played
	round int                      // ticks concealed in a row; fadeTicks and more: silence
	cut   bool                     // audio before the next tick was left out
}

// heard notes a tick that was played, and joins it to the concealment before it.
func (c *concealer) heard(frame []float32) {
	switch {
	case c.round >= fadeTicks:
		fadeIn(frame)
	case c.round > 0 || c.cut:
		var goes [tick * channels]float32
		c.next(goes[:], c.round)
		for i := range joint {
			in := float32(i) / joint
			for ch := range channels {
				k := i*channels + ch
				frame[k] = frame[k]*in + goes[k]*(1-in)
			}
		}
	}
	copy(c.last[:], frame)
	c.round, c.cut = 0, false
}

// fill writes the tick that stands in for one that did not come, and reports whether
// there is anything: after fadeTicks there is not.
func (c *concealer) fill(frame []float32) bool {
	if c.round >= fadeTicks {
		return false
	}
	c.next(frame, c.round)
	c.round++
	return true
}

func (c *concealer) next(frame []float32, round int) {
	for i := range tick {
		from := i
		if round%2 == 0 {
			from = tick - 1 - i // back
		}
		gain := 1 - (float32(round)+float32(i)/tick)/fadeTicks
		gain = max(gain, 0)
		for ch := range channels {
			frame[i*channels+ch] = c.last[from*channels+ch] * gain
		}
	}
}

func fadeIn(frame []float32) {
	for i := range joint {
		in := float32(i) / joint
		for ch := range channels {
			frame[i*channels+ch] *= in
		}
	}
}
