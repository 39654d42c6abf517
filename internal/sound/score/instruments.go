package score

import (
	"math"
	"math/rand/v2"

	"github.com/athir-radio/athir/internal/sound/synth"
)

// Instruments return sounds with a peak near 1.

// pluck is a plucked string (Karplus and Strong, 1983): a burst of noise going
// round a delay that loses its highs. bright is 0 to 1, ring the time it takes
// to fall by 60 dB, in seconds.
func pluck(hz, seconds, bright, ring float64, rng *rand.Rand) []float32 {
	period := synth.Rate/hz - 0.5 // the loop's averaging adds half a sample
	size := int(period)
	frac := period - float64(size)
	line := make([]float64, size+1)
	var low float64
	for i := range line {
		low += (0.15 + 0.85*bright) * (2*rng.Float64() - 1 - low)
		line[i] = low
	}
	for i := len(line) - 1; i >= size/7; i-- {
		line[i] -= line[i-size/7] // plucked near the bridge: every seventh harmonic is missing
	}
	damp := math.Pow(10, -3/(hz*ring))
	out := make([]float32, synth.Frames(seconds))
	var before, peak float64
	for i, j := 0, 0; i < len(out); i++ {
		next := j + 1
		if next == len(line) {
			next = 0
		}
		y := frac*line[j] + (1-frac)*line[next]
		line[j] = damp * 0.5 * (y + before)
		before = y
		out[i] = float32(y)
		peak = max(peak, math.Abs(y))
		j = next
	}
	fadeOut(out, 0.03)
	return synth.Gain(out, 1/max(peak, 1e-9))
}

// oud is a double course: two strings a few cents apart, with a wooden body.
func oud(hz, seconds float64, rng *rand.Rand) []float32 {
	a, b := pluck(hz, seconds, 0.4, 2.0, rng), pluck(hz*1.0025, seconds, 0.35, 1.8, rng)
	for i := range a {
		a[i] = 0.55*a[i] + 0.45*b[i]
	}
	body := synth.Filter(append([]float32(nil), a...), synth.BandPass, synth.Flat(210), 1.2)
	for i := range a {
		a[i] += 0.5 * body[i]
	}
	return a
}

// qanun is bright and rings long; three strings to a note.
func qanun(hz, seconds float64, rng *rand.Rand) []float32 {
	a := pluck(hz, seconds, 0.9, 2.6, rng)
	for _, detune := range []float64{0.9985, 1.0015} {
		for i, v := range pluck(hz*detune, seconds, 0.8, 2.4, rng) {
			a[i] = 0.8*a[i] + 0.4*v
		}
	}
	return a
}

// bell is a soft struck tone, as of a vibraphone.
func bell(hz, seconds float64) []float32 {
	out := synth.FM(seconds, synth.Flat(hz), 3, synth.Decay(0.5).Scaled(1.6))
	return synth.Shape(out, synth.Strike(0.002, 0, seconds))
}

// dum is the low stroke in the middle of a darbuka, over a soft kick.
func dum() []float32 {
	skin := synth.Shape(synth.Sine(0.42, synth.Glide(165, 66, 0.11, 0.5), 0), synth.Strike(0.001, 0.01, 0.55))
	return synth.Drive(skin, 1.6, 0.05)
}

// tek is the stroke at the rim.
func tek(rng *rand.Rand) []float32 {
	slap := synth.Filter(synth.White(0.14, rng), synth.BandPass, synth.Glide(4200, 2600, 0.1, 1), 1.1)
	synth.Shape(slap, synth.Decay(0.13))
	ring := synth.Shape(synth.Sine(0.14, synth.Glide(640, 540, 0.08, 1), 0), synth.Decay(0.16))
	for i := range slap {
		slap[i] = 0.9*slap[i] + 0.4*ring[i]
	}
	return slap
}

// riq is a tambourine's jingle.
func riq(rng *rand.Rand) []float32 {
	out := synth.Filter(synth.White(0.11, rng), synth.HighPass, synth.Flat(7200), 1.4)
	return synth.Shape(out, synth.Strike(0.003, 0, 0.12))
}

// clap is several hands, a few milliseconds apart.
func clap(rng *rand.Rand) synth.Sound {
	out := synth.Silence(0.3)
	for i := range 4 {
		hand := synth.Filter(synth.White(0.2, rng), synth.BandPass, synth.Flat(1300+250*rng.Float64()), 1.5)
		decay := 0.03
		if i == 3 {
			decay = 0.22
		}
		out.Add(float64(i)*0.011+0.003*rng.Float64(), synth.Shape(hand, synth.Decay(decay)), 0.9, 0.7*float64(i%2*2-1))
	}
	return out
}

// bass is a low, round note.
func bass(hz, seconds float64) []float32 {
	out := synth.Saw(seconds, synth.Flat(hz), 0)
	synth.Filter(out, synth.LowPass, synth.Glide(900, 180, 0.22, 0.6), 1.1)
	for i, v := range synth.Sine(seconds, synth.Flat(hz), 0) {
		out[i] = 0.5*out[i] + 0.6*v
	}
	synth.Shape(out, synth.Strike(0.004, 0.6*seconds, 0.8*seconds))
	fadeOut(out, 0.02)
	return out
}

// pad is a chord of detuned saws behind a filter.
func pad(chord []float64, seconds float64, cutoff synth.Curve, rng *rand.Rand) synth.Sound {
	out := synth.Silence(seconds)
	for _, hz := range chord {
		out.Mix(0, synth.Unison(seconds, synth.Flat(hz), 2, 7, rng), 0.5/math.Sqrt(float64(len(chord))))
	}
	out.Filter(synth.LowPass, cutoff, 0.9)
	out.Fade(0.05, 0.12)
	return out
}

func fadeOut(mono []float32, seconds float64) {
	n := min(synth.Frames(seconds), len(mono))
	for i := range n {
		mono[len(mono)-1-i] *= float32(i) / float32(n)
	}
}
