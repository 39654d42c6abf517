package synth

import "math"

// Drive saturates a mono signal softly (tanh) after a linear gain, in place,
// and returns it: louder at the same peak, with odd harmonics. bias over 0 adds
// even ones. The mean of the curve between two samples is taken in place of its
// value, which keeps most of what would fold back out.
func Drive(mono []float32, gain, bias float64) []float32 {
	primitive := func(x float64) float64 { // ln cosh, safe for large x
		x = math.Abs(x)
		return x + math.Log1p(math.Exp(-2*x)) - math.Ln2
	}
	rest := math.Tanh(bias)
	last, lastArea := bias, primitive(bias)
	for i, v := range mono {
		x := float64(v)*gain + bias
		area := primitive(x)
		var y float64
		if d := x - last; math.Abs(d) > 1e-4 {
			y = (area - lastArea) / d
		} else {
			y = math.Tanh((x + last) / 2)
		}
		last, lastArea = x, area
		mono[i] = float32(y - rest)
	}
	return mono
}

// Drive saturates both sides; see the function of the same name.
func (s Sound) Drive(gain, bias float64) {
	for _, plane := range s {
		Drive(plane, gain, bias)
	}
}

// Ducker lowers a bed while a key, such as a voice, is heard.
type Ducker struct {
	Depth     float64 // dB the bed goes down, over 0
	Threshold float64 // dBFS of the key at which it is down all the way; 6 dB under it nothing happens
	Attack    float64 // seconds; time constant down
	Release   float64 // seconds; time constant up
	Hold      float64 // seconds it stays down after the key: pauses between words do not pump
	Ahead     float64 // seconds it acts before the key, so that the first sound is clear
}

// Duck lowers bed in place, and returns the gain applied at each frame, linear,
// for whoever wants to see it. key runs beside bed from its first frame; where
// it is shorter it is silent.
func (d Ducker) Duck(bed, key Sound) []float32 {
	gain := make([]float32, bed.Frames())
	down, up := coefficient(d.Attack), coefficient(d.Release)
	follow := coefficient(0.010)
	ahead, hold := Frames(d.Ahead), Frames(d.Hold)
	var level, held, db float64
	left := 0 // frames of hold still to go
	// The follower starts before the bed, with what the key has by then.
	for i := -ahead; i < len(gain); i++ {
		var v float64
		if j := i + ahead; j < key.Frames() {
			v = math.Max(math.Abs(float64(key[0][j])), math.Abs(float64(key[1][j])))
		}
		level = max(v, level-level*follow)
		share := min(max((20*math.Log10(level+1e-9)-d.Threshold+6)/6, 0), 1)
		switch {
		case share >= held:
			held, left = share, hold
		case left > 0:
			left--
		default:
			held = share
		}
		aim, k := -d.Depth*held, up
		if aim < db {
			k = down
		}
		db += (aim - db) * k
		if i >= 0 {
			gain[i] = float32(Decibels(db))
			bed[0][i] *= gain[i]
			bed[1][i] *= gain[i]
		}
	}
	return gain
}

// Press is a compressor: above Threshold (dBFS of a follower of both sides) it
// takes away 1-1/Ratio of the excess. It evens out a voice or a hit, so that
// less is left for a limiter to do.
type Press struct {
	Threshold, Ratio float64
	Attack, Release  float64 // seconds
}

// On compresses in place.
func (p Press) On(s Sound) {
	attack, release := coefficient(p.Attack), coefficient(p.Release)
	var level float64
	for i := range s[0] {
		v := math.Max(math.Abs(float64(s[0][i])), math.Abs(float64(s[1][i])))
		k := release
		if v > level {
			k = attack
		}
		level += (v - level) * k
		if over := 20*math.Log10(level+1e-9) - p.Threshold; over > 0 {
			g := float32(Decibels(-over * (1 - 1/p.Ratio)))
			s[0][i] *= g
			s[1][i] *= g
		}
	}
}

// coefficient is that of a one-pole smoother with a time constant in seconds.
func coefficient(seconds float64) float64 {
	if seconds <= 0 {
		return 1
	}
	return 1 - math.Exp(-1/(seconds*Rate))
}
