package stinger

import (
	"math"

	"github.com/athir-radio/athir/internal/sound/synth"
)

// zap falls from the top of hearing to the bottom in a tenth of a second or two,
// torn by a second pitch, with a spark in front.
func zap(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	fall := k.between(0.16, 0.24)
	from, to := k.pitch(3500, 6000), k.pitch(70, 120)
	path := synth.Glide(from, to, fall, k.between(0.65, 0.85))
	level := synth.Strike(0.001, 0.09, k.seconds*1.3)

	saw := synth.Unison(k.seconds, path, 3, 25, k.rng)
	saw.Filter(synth.LowPass, func(t float64) float64 { return 4*path(t) + 300 }, 1.5)
	saw.Shape(level)
	layer(out, 0, saw, -4)

	// The tear: the same fall times a tone that has nothing to do with it.
	torn := synth.Square(k.seconds, path, 0, k.between(0.25, 0.4))
	other := k.pitch(90, 170)
	synth.Shape(torn, func(t float64) float64 { return math.Sin(2 * math.Pi * other * t) })
	layer(out, 0, widened(synth.Shape(torn, level), k.hand), -8)

	crackle := synth.Noises(k.seconds, synth.White, k.rng)
	crackle.Filter(synth.HighPass, synth.Flat(3000), 0.8)
	spark := synth.Drift(90, k.rng)
	crackle.Shape(synth.Times(synth.Decay(0.2), func(t float64) float64 { return math.Max(0, spark(t)) }))
	layer(out, 0, crackle, -14)
	layer(out, 0, k.click(6000, 0.012), -10)
	ring(out, synth.Room{Size: 0.25, Decay: 0.3, Damp: 8000}, -13)
	return out
}

// widened gives a mono layer width: one side hears it a hair later and duller.
func widened(mono []float32, hand float64) synth.Sound {
	s := synth.Planes(mono)
	late := s[0]
	if hand > 0 {
		late = s[1]
	}
	n := synth.Frames(0.0007)
	for i := len(late) - 1; i >= 0; i-- {
		if i >= n {
			late[i] = late[i-n]
		} else {
			late[i] = 0
		}
	}
	synth.Shelf(late, 4000, -3)
	return s
}

// laser fires several shots, each a fast fall, from side to side, each a little
// lower than the one before.
func laser(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	shots := 3 + k.rng.IntN(3)
	room := 0.1
	every := (k.seconds - room) / float64(shots)
	from, to := k.pitch(2800, 4500), k.pitch(280, 480)
	width, bend := k.between(0.2, 0.45), k.between(0.55, 0.8)
	for shot := range shots {
		at := float64(shot) * every
		length := min(every*1.15, k.part(at))
		lower := math.Exp2(-0.12 * float64(shot))
		path := synth.Glide(from*lower, to*lower, every*0.85, bend)
		tone := synth.Square(length, path, 0, width)
		synth.Filter(tone, synth.LowPass, func(t float64) float64 { return 3*path(t) + 800 }, 2.5)
		under := synth.Sine(length, path.Scaled(0.5), 0)
		for i := range tone {
			tone[i] += 0.5 * under[i]
		}
		synth.Shape(tone, synth.Strike(0.001, every*0.45, every*0.9))
		side := k.hand * 0.5
		if shot%2 == 1 {
			side = -side
		}
		layer(out, at, synth.Pan(tone, synth.Line(side, -side*0.3, length)), -3)
		layer(out, at, k.click(5000, 0.008), -12)
	}
	ring(out, synth.Room{Size: 0.35, Decay: 0.4, Damp: 8000}, -14)
	return out
}

// drop is a synthesiser that lets itself fall: a hit, saws that glide down into
// a bass, a filter that closes behind them.
func drop(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	from, to := k.pitch(550, 900), k.pitch(58, 78)
	fall := k.seconds * k.between(0.5, 0.65)
	path := synth.Glide(from, to, fall, k.between(0.75, 1))
	level := synth.Strike(0.002, k.seconds*0.45, k.seconds*1.1)

	saws := synth.Unison(k.seconds, path, 5, k.between(10, 18), k.rng)
	saws.Filter(synth.LowPass, synth.Glide(k.pitch(5000, 8000), k.pitch(85, 110), fall*1.3, 0.9), k.between(1.5, 2.5))
	saws.Shape(level)
	saws.Drive(1.5, 0.1)
	layer(out, 0, saws, -4)

	bass := synth.Drive(synth.Sine(k.seconds, path, 0), 1.8, 0)
	layer(out, 0, synth.Planes(synth.Shape(bass, synth.Times(level, synth.Swell(0.15, 1)))), -2)
	layer(out, 0, k.thud(180, 70, 0.16), -8)
	layer(out, 0, k.click(3500, 0.04), -11)
	ring(out, synth.Room{Size: 0.4, Decay: 0.5, Damp: 4000}, -14)
	return out
}

// thud is the body of a hit: a low sine that falls quickly.
func (k take) thud(from, to, seconds float64) synth.Sound {
	s := synth.Sine(min(seconds, k.seconds), synth.Glide(from, to, seconds*0.5, 0.6), 0.02)
	return synth.Planes(synth.Drive(synth.Shape(s, synth.Strike(0.001, seconds*0.1, seconds*1.3)), 2.5, 0))
}

// subdrop falls below what small speakers play, with harmonics at first so that
// they too tell of it, and a soft knock in front.
func subdrop(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	from, to := k.pitch(120, 170), k.pitch(33, 42)
	path := synth.Glide(from, to, k.seconds*k.between(0.6, 0.75), k.between(0.6, 0.8))
	level := synth.Strike(0.006, k.seconds*0.55, k.seconds*1.2)

	sub := synth.Sine(k.seconds, path, 0)
	layer(out, 0, synth.Planes(synth.Shape(sub, level)), -2)

	warm := synth.Drive(synth.Sine(k.seconds, path, 0), 4, 0.5)
	synth.Filter(warm, synth.LowPass, synth.Glide(700, 60, k.seconds*0.7, 0.7), 0.7)
	layer(out, 0, widened(synth.Shape(warm, synth.Times(level, synth.Decay(k.seconds*1.4))), k.hand), -8)

	growl := synth.Unison(k.seconds, path.Scaled(2), 5, 20, k.rng)
	growl.Filter(synth.LowPass, synth.Glide(k.pitch(1400, 2400), 60, k.seconds*0.6, 0.7), 1.2)
	growl.Shape(synth.Times(level, synth.Decay(k.seconds)))
	layer(out, 0, growl, -9)

	air := synth.Noises(k.seconds, synth.Pink, k.rng)
	air.Filter(synth.LowPass, synth.Glide(k.pitch(1800, 3000), 90, k.seconds*0.6, 0.7), 0.8)
	air.Shape(synth.Strike(0.003, 0.02, k.seconds*0.8))
	layer(out, 0, air, -11)
	layer(out, 0, k.click(1500, 0.025), -13)
	return out
}
