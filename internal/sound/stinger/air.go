package stinger

import (
	"math"

	"github.com/athir-radio/athir/internal/sound/synth"
)

// riser: noise and a choir of saws climb together, faster and faster, with a
// tremolo that hurries; then it lets go, and a room rings on.
func riser(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	top := k.part(k.between(0.09, 0.14))
	bend := k.between(1.1, 1.6)
	root := k.pitch(70, 130)
	path := synth.Glide(root, root*k.one(4, 6, 8), top, bend)
	level := rising(top, 0.06, k.between(2.1, 2.8))

	saws := synth.Unison(k.seconds, path, 7, k.between(12, 22), k.rng)
	saws.Filter(synth.LowPass, synth.Glide(260, k.pitch(7000, 12000), top, bend), k.between(0.9, 1.5))
	hurry := k.between(14, 20)
	saws.Shape(synth.Times(level, func(t float64) float64 {
		turns := 4*t + (hurry-4)*t*t/(2*top)
		return 0.7 + 0.3*math.Cos(2*math.Pi*turns)
	}))
	layer(out, 0, saws, -3)

	air := synth.Noises(k.seconds, synth.White, k.rng)
	air.Filter(synth.BandPass, synth.Glide(k.pitch(250, 450), k.pitch(6500, 10000), top, bend), 0.9)
	air.Shape(level)
	widen(air, top)
	layer(out, 0, air, -5)

	body := synth.Planes(synth.Sine(k.seconds, path, 0))
	body.Shape(level)
	layer(out, 0, body, -6)
	ring(out, synth.Room{Size: 0.5, Decay: 0.7, Damp: 7000}, -9)
	return out
}

// rising swells to 1 at top from a floor that can be heard, then stops short.
func rising(top, floor, power float64) synth.Curve {
	return func(t float64) float64 {
		if t > top {
			return math.Exp(-(t - top) / 0.008)
		}
		return floor + (1-floor)*math.Pow(t/top, power)
	}
}

// widen takes a Sound from narrow to wide until top.
func widen(s synth.Sound, top float64) {
	for i := range s[0] {
		w := float32(0.2 + 0.8*min(synth.Seconds(i)/top, 1))
		middle, side := (s[0][i]+s[1][i])/2, (s[0][i]-s[1][i])/2*w
		s[0][i], s[1][i] = middle+side, middle-side
	}
}

// riserDown is the way back: a bright start, then saws and noise sink and the
// tremolo grows weary.
func riserDown(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	bend := k.between(0.65, 0.9)
	root := k.pitch(500, 900)
	path := synth.Glide(root, root/k.one(6, 8), k.seconds, bend)
	level := synth.Strike(0.004, 0.1, k.seconds*k.between(2.2, 3))

	saws := synth.Unison(k.seconds, path, 7, k.between(12, 22), k.rng)
	saws.Filter(synth.LowPass, synth.Glide(k.pitch(8000, 12000), 500, k.seconds, bend), k.between(1, 1.8))
	tired := k.between(13, 18)
	saws.Shape(synth.Times(level, func(t float64) float64 {
		turns := tired*t - (tired-4)*t*t/(2*k.seconds)
		return 0.7 + 0.3*math.Cos(2*math.Pi*turns)
	}))
	layer(out, 0, saws, -3)

	air := synth.Noises(k.seconds, synth.White, k.rng)
	air.Filter(synth.BandPass, synth.Glide(k.pitch(7000, 10000), k.pitch(200, 350), k.seconds, bend), 0.9)
	air.Shape(level)
	layer(out, 0, air, -5)

	body := synth.Planes(synth.Sine(k.seconds, path, 0))
	body.Shape(level)
	layer(out, 0, body, -8)
	layer(out, 0, k.click(4000, 0.03), -10)
	ring(out, synth.Room{Size: 0.6, Decay: 0.9, Damp: 5000}, -9)
	return out
}

func whooshUp(k take) synth.Sound   { return whoosh(k, true) }
func whooshDown(k take) synth.Sound { return whoosh(k, false) }

// whoosh is air alone: a body of pink noise and a brighter edge above it, both
// swept, that pass from one side to the other.
func whoosh(k take, up bool) synth.Sound {
	out := synth.Silence(k.seconds)
	low, high := k.pitch(220, 380), k.pitch(5500, 8500)
	top := k.seconds * k.between(0.58, 0.68)
	band := synth.Glide(low, high, k.seconds*0.9, k.between(0.9, 1.2))
	if !up {
		top = k.seconds - top
		band = synth.Glide(high, low, k.seconds*0.9, k.between(0.8, 1))
	}
	arch := synth.Arch(top, k.seconds, k.between(1.1, 1.4))
	flutter := synth.Drift(k.between(14, 24), k.rng)
	level := func(t float64) float64 { return (0.04 + 0.96*arch(t)) * (1 + 0.15*flutter(t)) }

	body := synth.Noises(k.seconds, synth.Pink, k.rng)
	body.Filter(synth.BandPass, band, k.between(1, 1.4))
	body.Filter(synth.HighPass, func(t float64) float64 { return 0.6 * band(t) }, 0.7)
	body.Width(0.7)
	edge := synth.Noises(k.seconds, synth.White, k.rng)
	edge.Filter(synth.BandPass, func(t float64) float64 { return 1.9 * band(t) }, 1.5)
	layer(out, 0, body, -3)
	layer(out, 0, edge, -9)
	out.Shape(level)
	passing(out, k.hand, k.seconds)
	ring(out, synth.Room{Size: 0.4, Decay: 0.5, Damp: 9000}, -13)
	return out
}

// passing moves a Sound from one side to the other, never all the way.
func passing(s synth.Sound, hand, seconds float64) {
	for i := range s[0] {
		place := 0.55 * hand * math.Cos(math.Pi*min(synth.Seconds(i)/seconds, 1))
		s[0][i] *= float32(1 + place)
		s[1][i] *= float32(1 - place)
	}
}

// sweep holds a chord while a resonant filter opens and closes over it, a little
// later on one side than on the other.
func sweep(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	root := k.pitch(98, 165)
	top := k.seconds * k.between(0.45, 0.6)
	open := synth.Arch(top, k.seconds, 1)
	low, octaves := k.pitch(220, 320), k.between(4.2, 5)
	chord := synth.Silence(k.seconds)
	for i, ratio := range [...]float64{1, 1.5, 2, k.one(2.25, 3, 4)} {
		chord.Mix(0, synth.Unison(k.seconds, synth.Flat(root*ratio), 5, k.between(8, 16), k.rng), 1/(1+0.3*float64(i)))
	}
	chord.Shelf(250, 18) // as bright as it can be: the filter decides what is heard of it
	q := k.between(1.2, 1.8)
	late := [2]float64{0.02 * (1 + k.hand), 0.02 * (1 - k.hand)}
	for side, plane := range chord {
		cutoff := func(t float64) float64 { return low * math.Exp2(octaves*open(max(0, t-late[side]))) }
		// What lies far below the cutoff steps back as the filter opens.
		beneath := append([]float32(nil), plane...)
		synth.Filter(beneath, synth.LowPass, cutoff, 0.7)
		synth.Filter(plane, synth.BandPass, cutoff, q)
		for i := range plane {
			plane[i] += 0.12 * beneath[i]
		}
		synth.Filter(plane, synth.Notch, func(t float64) float64 { return 0.45 * cutoff(t) }, 1.2)
	}
	chord.Shape(synth.Times(synth.Strike(0.02, k.seconds*0.75, k.seconds), func(t float64) float64 { return 0.3 + 0.7*open(t) }))
	layer(out, 0, chord, -3)
	breath := synth.Noises(k.seconds, synth.White, k.rng)
	breath.Filter(synth.BandPass, func(t float64) float64 { return 1.5 * low * math.Exp2(octaves*open(t)) }, 2)
	breath.Shape(open)
	layer(out, 0, breath, -14)
	ring(out, synth.Room{Size: 0.5, Decay: 0.6, Damp: 6000}, -14)
	return out
}
