package synth

import "math/rand/v2"

// White is noise with the same power in every Hz, between -1 and 1.
func White(seconds float64, rng *rand.Rand) []float32 {
	out := make([]float32, Frames(seconds))
	for i := range out {
		out[i] = 2*rng.Float32() - 1
	}
	return out
}

// Pink is noise with the same power in every octave (-3 dB an octave, within
// 0.1 dB above 10 Hz), at an RMS of about 0.2. The filter is Paul Kellet's.
func Pink(seconds float64, rng *rand.Rand) []float32 {
	out := make([]float32, Frames(seconds))
	var b [7]float64
	step := func() float64 {
		w := 2*rng.Float64() - 1
		b[0] = 0.99886*b[0] + w*0.0555179
		b[1] = 0.99332*b[1] + w*0.0750759
		b[2] = 0.96900*b[2] + w*0.1538520
		b[3] = 0.86650*b[3] + w*0.3104856
		b[4] = 0.55000*b[4] + w*0.5329522
		b[5] = -0.7616*b[5] - w*0.0168980
		v := b[0] + b[1] + b[2] + b[3] + b[4] + b[5] + b[6] + w*0.5362
		b[6] = w * 0.115926
		return v
	}
	for range 4096 { // until its slowest part has settled
		step()
	}
	for i := range out {
		out[i] = float32(0.11 * step())
	}
	return out
}

// Noises are two independent noises of one kind, White or Pink: as wide as
// stereo gets. Width narrows them.
func Noises(seconds float64, kind func(float64, *rand.Rand) []float32, rng *rand.Rand) Sound {
	return Sound{kind(seconds, rng), kind(seconds, rng)}
}
