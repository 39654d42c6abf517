package stinger

import (
	"math"

	"github.com/athir-radio/athir/internal/sound/synth"
)

// impact is one heavy hit: a crack, a thump that sinks, rubble behind them, and
// a large room that answers.
func impact(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	low := k.pitch(42, 58)
	thump := synth.Sine(k.seconds, synth.Glide(low*k.between(2.5, 3.5), low, 0.22, 0.6), 0.02)
	synth.Drive(synth.Shape(thump, synth.Strike(0.001, 0.04, k.seconds)), 3, 0.1)
	layer(out, 0, synth.Planes(thump), -7)

	rubble := synth.Noises(k.seconds, synth.Pink, k.rng)
	rubble.Filter(synth.LowPass, synth.Glide(k.pitch(4500, 7000), 250, k.seconds*0.8, 0.6), 0.9)
	rubble.Filter(synth.HighPass, synth.Flat(90), 0.7)
	rubble.Drive(5, 0)
	first := synth.Decay(0.3)
	rubble.Shape(synth.Times(synth.Strike(0.001, 0.03, k.seconds*1.15), func(t float64) float64 { return 0.6 + 0.4*first(t) }))
	layer(out, 0, rubble, -4)

	// A wreck's groan gives the hit a pitch of its own.
	groan := synth.FM(k.seconds, synth.Glide(low*5, low*4, k.seconds, 1), 1.37, synth.Decay(k.seconds).Scaled(k.between(2, 4)))
	synth.Shape(groan, synth.Strike(0.002, 0.03, k.seconds))
	layer(out, 0, widened(groan, k.hand), -12)

	crack := synth.Noises(0.12, synth.White, k.rng)
	crack.Filter(synth.BandPass, synth.Flat(k.pitch(1800, 3200)), 0.7)
	crack.Drive(4, 0)
	crack.Shape(synth.Strike(0.0005, 0.012, 0.12))
	layer(out, 0, crack, -6)
	ring(out, synth.Room{Size: 1, Decay: 1.6, Damp: 5000, Predelay: 0.012}, -10)
	synth.Press{Threshold: -14, Ratio: 4, Attack: 0.0005, Release: 0.25}.On(out)
	return out
}

// glitch is a signal that breaks: slices of tone and noise, held samples and
// stutters, cut on and off hard, thrown from side to side.
func glitch(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	step := k.between(0.022, 0.032)
	root := k.pitch(140, 260)
	slices := int(k.seconds / step)
	var grain synth.Sound
	gap, run, silent := 0, 0, 0
	for i := range slices {
		at := float64(i) * step
		// Silence now and then, never at the start, never long, and always soon.
		quiet := i > 1 && i < slices-1 && gap < 2 && (run > 2 || 5*silent < i || k.rng.Float64() < 0.25)
		if quiet {
			gap, run, silent = gap+1, 0, silent+1
			continue
		}
		gap, run = 0, run+1
		if grain.Frames() == 0 || k.rng.Float64() < 0.6 {
			grain = k.grain(step, root)
		}
		layer(out, at, grain, -3)
	}
	return out
}

// grain is one slice of a glitch, with edges just soft enough not to click.
func (k take) grain(seconds, root float64) synth.Sound {
	hz := root * math.Exp2(float64(k.rng.IntN(5)))
	var mono []float32
	switch k.rng.IntN(4) {
	case 0:
		mono = synth.Square(seconds, synth.Flat(hz), 0, k.between(0.15, 0.5))
	case 1:
		mono = held(synth.White(seconds, k.rng), 4+k.rng.IntN(24))
	case 2:
		mono = held(synth.Saw(seconds, synth.Glide(hz, hz*k.one(0.5, 2, 3), seconds, 1), 0), 3+k.rng.IntN(9))
	default:
		mono = synth.FM(seconds, synth.Flat(hz), k.between(0.3, 3.3), synth.Flat(k.between(1, 4)))
	}
	// Bass that is cut off would ring on in the gaps.
	synth.Filter(mono, synth.HighPass, synth.Flat(160), 0.6)
	s := synth.Pan(mono, synth.Flat(k.between(-0.8, 0.8)))
	s.Fade(0.0012, 0.0012)
	centre(s)
	return s
}

// held keeps every n-th sample for n samples: the grit of a broken converter,
// which folds over on purpose.
func held(mono []float32, n int) []float32 {
	for i := range mono {
		mono[i] = mono[i-i%n]
	}
	return mono
}
