// Package synth synthesises and shapes sound: oscillators, noise,
// moving filters, envelopes, a room, saturation, a sidechain ducker, and mixing
// in stereo. Everything is 32-bit float at Rate, full scale 1.
//
// It is pure: chance comes in as a *rand.Rand, so the same seed makes the same
// samples. It reads and writes no files, knows nothing of loudness targets
// (mastering does), and never clips: levels over 1 are left to the caller.
//
// Tones and noises are made as mono slices, placed into a Sound, and treated
// there. What changes over time (pitch, cutoff, level, pan) is a Curve.
package synth

import "math"

// Rate is the sample rate of everything made here, in Hz.
const Rate = 44100

// Sound is stereo audio: two planes of the same length, left and right.
type Sound [2][]float32

// Frames is the number of samples a channel has in so many seconds.
func Frames(seconds float64) int { return max(0, int(math.Round(seconds*Rate))) }

// Seconds is the time of a frame.
func Seconds(frame int) float64 { return float64(frame) / Rate }

// Silence returns a silent Sound of a length in seconds.
func Silence(seconds float64) Sound {
	n := Frames(seconds)
	return Sound{make([]float32, n), make([]float32, n)}
}

// Planes makes a Sound of a mono signal: the same on both sides, not shared.
func Planes(mono []float32) Sound {
	return Sound{append([]float32(nil), mono...), append([]float32(nil), mono...)}
}

// Frames is the length of a channel in samples.
func (s Sound) Frames() int { return len(s[0]) }

// Seconds is the length.
func (s Sound) Seconds() float64 { return Seconds(len(s[0])) }

// Clone returns a copy that shares nothing.
func (s Sound) Clone() Sound {
	return Sound{append([]float32(nil), s[0]...), append([]float32(nil), s[1]...)}
}

// Mono returns the mean of both sides.
func (s Sound) Mono() []float32 {
	mono := make([]float32, len(s[0]))
	for i := range mono {
		mono[i] = (s[0][i] + s[1][i]) / 2
	}
	return mono
}

// Interleaved returns left, right, left, right…, as encoders and meters take it.
func (s Sound) Interleaved() []float32 {
	out := make([]float32, 0, 2*len(s[0]))
	for i := range s[0] {
		out = append(out, s[0][i], s[1][i])
	}
	return out
}

// Mix adds another Sound at a time in seconds, with a linear gain. What would
// lie before the start or past the end is cut.
func (s Sound) Mix(at float64, other Sound, gain float64) {
	for side := range s {
		mix(s[side], other[side], at, float32(gain))
	}
}

// Add mixes a mono signal in at a time in seconds, with a linear gain and a
// pan from -1 (left) to 1 (right), at constant power: in the middle each side
// takes 0.71 of it.
func (s Sound) Add(at float64, mono []float32, gain, pan float64) {
	left, right := sides(pan)
	mix(s[0], mono, at, float32(gain*left))
	mix(s[1], mono, at, float32(gain*right))
}

func mix(to, from []float32, at float64, gain float32) {
	start := int(math.Round(at * Rate))
	for i := max(0, -start); i < len(from) && start+i < len(to); i++ {
		to[start+i] += from[i] * gain
	}
}

func sides(pan float64) (left, right float64) {
	angle := (min(max(pan, -1), 1) + 1) * math.Pi / 4
	return math.Cos(angle), math.Sin(angle)
}

// Pan places a mono signal on a moving spot from -1 (left) to 1 (right), at
// constant power.
func Pan(mono []float32, place Curve) Sound {
	out := Sound{make([]float32, len(mono)), make([]float32, len(mono))}
	for i, v := range mono {
		left, right := sides(place(Seconds(i)))
		out[0][i], out[1][i] = v*float32(left), v*float32(right)
	}
	return out
}

// Width changes how wide a Sound is, in place: 0 is mono, 1 leaves it, 2 doubles
// what differs between the sides.
func (s Sound) Width(amount float64) {
	for i := range s[0] {
		middle, side := (s[0][i]+s[1][i])/2, (s[0][i]-s[1][i])/2*float32(amount)
		s[0][i], s[1][i] = middle+side, middle-side
	}
}

// Gain multiplies in place, linearly.
func (s Sound) Gain(by float64) {
	for _, plane := range s {
		Gain(plane, by)
	}
}

// Gain multiplies a mono signal in place, linearly, and returns it.
func Gain(mono []float32, by float64) []float32 {
	for i := range mono {
		mono[i] *= float32(by)
	}
	return mono
}

// Shape multiplies both sides by a curve, in place.
func (s Sound) Shape(level Curve) {
	for i := range s[0] {
		v := float32(level(Seconds(i)))
		s[0][i] *= v
		s[1][i] *= v
	}
}

// Shape multiplies a mono signal by a curve, in place, and returns it.
func Shape(mono []float32, level Curve) []float32 {
	for i := range mono {
		mono[i] *= float32(level(Seconds(i)))
	}
	return mono
}

// Fade takes the first and the last seconds from and to silence along half a
// cosine, so that neither end clicks. The first and last samples become 0.
func (s Sound) Fade(in, out float64) {
	for _, plane := range s {
		n := len(plane)
		for i, m := 0, min(Frames(in), n); i < m; i++ {
			plane[i] *= float32(raised(float64(i) / float64(m)))
		}
		for i, m := 0, min(Frames(out), n); i < m; i++ {
			plane[n-1-i] *= float32(raised(float64(i) / float64(m)))
		}
	}
}

// raised rises from 0 to 1 along half a cosine.
func raised(x float64) float64 { return 0.5 - 0.5*math.Cos(math.Pi*min(max(x, 0), 1)) }

// Peak is the highest sample, linear.
func (s Sound) Peak() float64 {
	var peak float64
	for _, plane := range s {
		for _, v := range plane {
			peak = max(peak, math.Abs(float64(v)))
		}
	}
	return peak
}

// Normalize brings the highest sample to peak (linear), in place. Silence stays.
func (s Sound) Normalize(peak float64) {
	if now := s.Peak(); now > 0 {
		s.Gain(peak / now)
	}
}

// Decibels turns dB into a linear gain.
func Decibels(db float64) float64 { return math.Pow(10, db/20) }
