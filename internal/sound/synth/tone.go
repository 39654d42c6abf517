package synth

import (
	"math"
	"math/rand/v2"
)

// Sine is a sine of a moving pitch. phase is in turns, 0 to 1.
func Sine(seconds float64, hz Curve, phase float64) []float32 {
	out := make([]float32, Frames(seconds))
	for i, f := range hz.over(len(out)) {
		out[i] = float32(math.Sin(2 * math.Pi * phase))
		phase += f / Rate
	}
	return out
}

// Saw is a sawtooth of a moving pitch: bright, all harmonics. It is smoothed at
// its steps at twice the rate, so that what folds back lies 50 dB and more
// under it. phase is in turns.
func Saw(seconds float64, hz Curve, phase float64) []float32 {
	return saw(hz.over(Frames(seconds)), 1, phase)
}

func saw(hz []float64, times, phase float64) []float32 {
	return edged(hz, times, phase, func(phase, step float64) float64 {
		return 2*phase - 1 - smoothed(phase, step)
	})
}

// Square is a rectangle of a moving pitch: hollow, odd harmonics when width is
// 0.5, more nasal the further from it. It has no DC. phase is in turns.
func Square(seconds float64, hz Curve, phase, width float64) []float32 {
	return edged(hz.over(Frames(seconds)), 1, phase, func(phase, step float64) float64 {
		v := -1.0
		if phase < width {
			v = 1
		}
		_, down := math.Modf(phase + 1 - width)
		return v + smoothed(phase, step) - smoothed(down, step) - (2*width - 1)
	})
}

// edged runs a waveform at twice the rate and brings it down. Its pitch is
// times a frequency given for each frame, its phase stays in [0,1).
func edged(hz []float64, times, phase float64, wave func(phase, step float64) float64) []float32 {
	twice := make([]float64, 2*len(hz))
	_, phase = math.Modf(math.Abs(phase))
	for i := range twice {
		step := min(hz[i/2]*times/(2*Rate), 0.25)
		twice[i] = wave(phase, step)
		if phase += step; phase >= 1 {
			phase--
		}
	}
	return halved(twice)
}

// smoothed is the correction that rounds a step from -1 to 1 at phase 0 over
// two samples (a polynomial band-limited step).
func smoothed(phase, step float64) float64 {
	switch {
	case phase < step:
		x := phase / step
		return 2*x - x*x - 1
	case phase > 1-step:
		x := (phase - 1) / step
		return x*x + 2*x + 1
	}
	return 0
}

// halved brings twice the rate down to Rate through a half-band low-pass.
func halved(twice []float64) []float32 {
	const reach = 16 // taps of odd offset either side; the even ones are 0
	var taps [reach]float64
	sum := 0.5
	for i := range taps {
		x := float64(2*i + 1)
		window := 0.42 + 0.5*math.Cos(math.Pi*x/(2*reach)) + 0.08*math.Cos(2*math.Pi*x/(2*reach))
		taps[i] = math.Sin(math.Pi*x/2) / (math.Pi * x) * window
		sum += 2 * taps[i]
	}
	at := func(i int) float64 { return twice[min(max(i, 0), len(twice)-1)] }
	out := make([]float32, len(twice)/2)
	for i := range out {
		v := 0.5 * twice[2*i]
		for k, tap := range taps {
			v += tap * (at(2*i-2*k-1) + at(2*i+2*k+1))
		}
		out[i] = float32(v / sum)
	}
	return out
}

// FM is a sine whose phase another sine moves: bells and metal when ratio, the
// other's pitch over its own, is no simple fraction. index is how far, in
// radians. Keep hz×(1+ratio×(index+1)) under 20 kHz: beyond, it folds back.
func FM(seconds float64, hz Curve, ratio float64, index Curve) []float32 {
	out := make([]float32, Frames(seconds))
	var own, other float64
	for i := range out {
		t := Seconds(i)
		out[i] = float32(math.Sin(2*math.Pi*own + index(t)*math.Sin(2*math.Pi*other)))
		step := hz(t) / Rate
		own += step
		other += step * ratio
	}
	return out
}

// Unison is a choir of saws around one pitch, detuned by up to cents either way
// and spread over the stereo field. Its level does not depend on voices.
func Unison(seconds float64, hz Curve, voices int, cents float64, rng *rand.Rand) Sound {
	out, path := Silence(seconds), hz.over(Frames(seconds))
	for v := range voices {
		place := 0.0
		if voices > 1 {
			place = 2*float64(v)/float64(voices-1) - 1
		}
		detune := math.Exp2(cents * (place + 0.2*(rng.Float64()-0.5)) / 1200)
		// Neighbours in pitch go to opposite sides: no side sounds higher.
		if v%2 == 1 {
			place = -place
		}
		out.Add(0, saw(path, detune, rng.Float64()), 1/math.Sqrt(float64(voices)), 0.9*place)
	}
	return out
}
