package stinger

import (
	"github.com/athir-radio/athir/internal/sound/synth"
)

func blipUp(k take) synth.Sound   { return blip(k, true) }
func blipDown(k take) synth.Sound { return blip(k, false) }

// blip is two quick notes a fourth to an octave apart: a soft square with a
// glassy edge, one a little left, one a little right, and a short echo.
func blip(k take, up bool) synth.Sound {
	out := synth.Silence(k.seconds)
	low := k.pitch(600, 1000)
	high := low * k.one(4.0/3, 1.5, 5.0/3, 2)
	// Up it opens, down it closes.
	notes, from, to := [2]float64{low, high}, 2.5, 6.0
	if !up {
		notes, from, to = [2]float64{high, low}, 5, 1.5
	}
	every := k.seconds * k.between(0.36, 0.42)
	width, ratio := k.between(0.35, 0.5), k.one(2, 3, 4)
	for i, hz := range notes {
		at := float64(i) * every
		length := min(every*0.95, k.part(at))
		level := synth.Strike(0.002, every*0.3, every*1.1)
		tone := synth.Square(length, synth.Flat(hz), 0, width)
		synth.Filter(tone, synth.LowPass, synth.Glide(from*hz, to*hz, length, 1), 0.9)
		place := synth.Flat(0.35 * k.hand * float64(1-2*i))
		layer(out, at, synth.Pan(synth.Shape(tone, level), place), -4)
		glass := synth.FM(length, synth.Flat(2*hz), ratio, synth.Decay(0.12).Scaled(1.2))
		layer(out, at, synth.Pan(synth.Shape(glass, level), place), -12)
		layer(out, at, k.click(4500, 0.006), -16)
	}
	room := out.Clone()
	room.Echo(every*0.75, 0.22)
	room.Mix(0, out, -1)
	out.Mix(0, room, 1)
	ring(out, synth.Room{Size: 0.25, Decay: 0.25, Damp: 9000}, -15)
	return out
}

// metallic is a struck plate: partials in no simple ratio, each doubled so that
// it beats, the high ones dying first, and the blow that set them off.
func metallic(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	root := k.pitch(240, 460)
	// A free bar's modes, bent by chance: no two plates are alike.
	modes := [...]float64{1, 1.593, 2.136, 2.756, 3.211, 3.598, 4.43, 5.404, 6.1, 6.79, 7.87, 8.933, 10.3, 11.2, 13.34, 15.7}
	for i, mode := range modes {
		hz := root * mode * (1 + 0.04*(k.rng.Float64()-0.5))
		if hz > 15000 {
			break
		}
		decay := k.seconds * 2 / (1 + 0.14*float64(i))
		beat := k.between(1.5, 5)
		gain := (0.6 + 0.4*k.rng.Float64()) / (1 + 0.1*float64(i))
		for side := range 2 {
			pitch := hz + beat*(float64(side)-0.5)
			tone := synth.Shape(synth.Sine(k.seconds, synth.Flat(pitch), k.rng.Float64()), synth.Strike(0.001, 0, decay))
			out.Add(0, tone, gain, (float64(side)*2-1)*k.between(0.3, 0.9))
		}
	}
	out.Normalize(1)
	out.Drive(k.between(2, 3), 0)
	out.Normalize(1)
	clang := synth.FM(k.seconds, synth.Flat(root*1.41), 2.71, synth.Decay(0.4).Scaled(k.between(2, 3.5)))
	layer(out, 0, widened(synth.Shape(clang, synth.Strike(0.001, 0.01, 0.5)), k.hand), -14)
	layer(out, 0, k.click(5500, 0.03), -20)
	ring(out, synth.Room{Size: 0.6, Decay: 1.1, Damp: 9000}, -12)
	synth.Press{Threshold: -16, Ratio: 4, Attack: 0.0005, Release: 0.3}.On(out)
	return out
}

// shimmer scatters small bells high up over a bed of air, all of it trembling.
func shimmer(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	root := k.pitch(1900, 2600)
	scale := [...]float64{1, 9.0 / 8, 5.0 / 4, 3.0 / 2, 5.0 / 3, 2, 9.0 / 4, 5.0 / 2, 3}
	bells := synth.Silence(k.seconds)
	every := k.between(0.038, 0.055)
	for at := 0.0; at < k.seconds-0.2; at += every * k.between(0.7, 1.3) {
		hz := root * scale[k.rng.IntN(len(scale))]
		length := min(k.between(0.4, 0.8), k.part(at))
		bell := synth.FM(length, synth.Flat(hz), 1.5, synth.Decay(0.2).Scaled(0.7))
		synth.Shape(bell, synth.Strike(0.003, 0.01, length))
		bells.Add(at, bell, k.between(0.5, 1), k.between(-0.9, 0.9))
	}
	layer(out, 0, bells, -3)
	air := synth.Noises(k.seconds, synth.White, k.rng)
	air.Filter(synth.HighPass, synth.Flat(k.pitch(6000, 8000)), 0.7)
	layer(out, 0, air, -17)
	tremble := k.between(7, 11)
	out.Shape(synth.Times(synth.Wave(tremble, 0.65, 0), func(t float64) float64 {
		return 0.35 + 0.65*synth.Arch(k.seconds*0.3, k.seconds*1.3, 1)(t)
	}))
	synth.Press{Threshold: -18, Ratio: 2, Attack: 0.003, Release: 0.08}.On(out)
	ring(out, synth.Room{Size: 0.7, Decay: 1.4, Damp: 12000, Predelay: 0.01}, -12)
	return out
}

// pulse throbs in time: every beat a chord that strikes and closes its filter,
// from side to side, over a bass that throbs with it.
func pulse(k take) synth.Sound {
	out := synth.Silence(k.seconds)
	beats := 6 + k.rng.IntN(4)
	every := k.seconds / float64(beats)
	root := k.pitch(105, 160)
	third := k.one(1.2, 1.25, 4.0/3)
	bright := k.pitch(1800, 3200)
	for beat := range beats {
		at := float64(beat) * every
		length := min(every, k.part(at))
		chord := synth.Silence(length)
		for _, ratio := range [...]float64{1, third, 1.5, 2} {
			chord.Mix(0, synth.Unison(length, synth.Flat(root*ratio), 3, 12, k.rng), 0.5)
		}
		chord.Filter(synth.LowPass, synth.Glide(bright, 300, length, 0.8), 1.6)
		beatOf := synth.Strike(0.004, every*0.35, every*0.6)
		chord.Shape(beatOf)
		chord.Width(0.8 + 0.4*float64(beat%2))
		chord.Fade(0, 0.004)
		layer(out, at, chord, -3)
		bass := synth.Planes(synth.Shape(synth.Sine(length, synth.Flat(root/2), 0), beatOf))
		bass.Fade(0, 0.004)
		layer(out, at, bass, -7)
		layer(out, at, k.click(3500, 0.01), -15)
	}
	// A pad that the beats push down and let up again joins them.
	pad := synth.Unison(k.seconds, synth.Flat(root*2), 5, 14, k.rng)
	pad.Filter(synth.LowPass, synth.Flat(bright*0.6), 0.8)
	pump := synth.Silence(k.seconds)
	layer(pump, 0, pad, -19)
	synth.Ducker{Depth: 12, Threshold: -12, Attack: 0.004, Release: every / 3}.Duck(pump, out)
	out.Mix(0, pump, 1)
	ring(out, synth.Room{Size: 0.3, Decay: 0.25, Damp: 5000}, -18)
	return out
}
