package synth

import (
	"math"
	"math/rand/v2"
)

// Curve is a value over time in seconds: a level, a pitch or cutoff in Hz, a place.
type Curve func(t float64) float64

// Flat stays.
func Flat(value float64) Curve { return func(float64) float64 { return value } }

// Line goes straight from one value to another over so many seconds, and stays.
func Line(from, to, seconds float64) Curve {
	return func(t float64) float64 { return from + (to-from)*along(t, seconds) }
}

// Glide goes from one frequency to another, both over 0, in equal steps to the
// ear, and stays. bend over 1 starts slowly and hurries at the end, under 1 the
// other way round.
func Glide(from, to, seconds, bend float64) Curve {
	octaves := math.Log2(to / from)
	return func(t float64) float64 {
		return from * math.Exp2(octaves*math.Pow(along(t, seconds), bend))
	}
}

func along(t, seconds float64) float64 {
	if seconds <= 0 {
		return 1
	}
	return min(max(t/seconds, 0), 1)
}

// Decay falls from 1 by 60 dB over so many seconds, and on.
func Decay(seconds float64) Curve {
	return func(t float64) float64 { return math.Exp(-6.908 * max(t, 0) / seconds) }
}

// Swell rises from 0 to 1 over so many seconds, and stays. power 1 is straight,
// more is later and steeper.
func Swell(seconds, power float64) Curve {
	return func(t float64) float64 { return math.Pow(along(t, seconds), power) }
}

// Arch rises from 0 to 1 at a time within its length and falls to 0 again, both
// along half a cosine; power over 1 makes it slimmer.
func Arch(top, seconds, power float64) Curve {
	return func(t float64) float64 {
		if t < top {
			return math.Pow(raised(t/top), power)
		}
		return math.Pow(raised((seconds-t)/(seconds-top)), power)
	}
}

// Strike rises over attack seconds along half a cosine, stays for hold seconds,
// and falls by 60 dB over decay seconds.
func Strike(attack, hold, decay float64) Curve {
	fall := Decay(decay)
	return func(t float64) float64 {
		switch {
		case t < attack:
			return raised(t / attack)
		case t < attack+hold:
			return 1
		}
		return fall(t - attack - hold)
	}
}

// Wave swings between 1-depth and 1, hz times a second. It begins at 1 for phase
// 0 and at 1-depth for phase 0.5.
func Wave(hz, depth, phase float64) Curve {
	return func(t float64) float64 {
		return 1 - depth*(0.5-0.5*math.Cos(2*math.Pi*(hz*t+phase)))
	}
}

// Drift wanders smoothly between -1 and 1, a new aim hz times a second.
func Drift(hz float64, rng *rand.Rand) Curve {
	aims := make([]float64, 64)
	for i := range aims {
		aims[i] = 2*rng.Float64() - 1
	}
	return func(t float64) float64 {
		at := max(t, 0) * hz
		i := int(at)
		a, b := aims[i%len(aims)], aims[(i+1)%len(aims)]
		return a + (b-a)*raised(at-float64(i))
	}
}

// Times is the product of curves.
func Times(curves ...Curve) Curve {
	return func(t float64) float64 {
		v := 1.0
		for _, c := range curves {
			v *= c(t)
		}
		return v
	}
}

// Scaled is a curve times a number.
func (c Curve) Scaled(by float64) Curve { return func(t float64) float64 { return c(t) * by } }

// over is the curve at each of so many frames: asked every sixteenth (0.4 ms),
// with straight lines between, which for a pitch or a cutoff is as good as always.
func (c Curve) over(frames int) []float64 {
	const every = 16
	values := make([]float64, frames)
	next := c(0)
	for i := 0; i < frames; i += every {
		now := next
		next = c(Seconds(i + every))
		for k := range min(every, frames-i) {
			values[i+k] = now + (next-now)*float64(k)/every
		}
	}
	return values
}
