package loudness

import "math"

// biquad is one second-order section, normalised to a0 = 1.
type biquad struct{ b0, b1, b2, a1, a2 float64 }

// kWeighting returns the two sections of ITU-R BS.1770-5 Annex 1 for a sample
// rate. The standard gives coefficients for 48 kHz only; these are the analogue
// prototypes behind them under the bilinear transform, and equal to the
// standard's at 48 kHz to its last digit.
func kWeighting(rate float64) (shelf, highPass biquad) {
	const (
		shelfHz, shelfQ, shelfDB = 1681.974450955533, 0.7071752369554196, 3.999843853973347
		passHz, passQ            = 38.13547087602444, 0.5003270373238773
	)
	k := math.Tan(math.Pi * shelfHz / rate)
	vh := math.Pow(10, shelfDB/20)
	vb := math.Pow(vh, 0.4996667741545416)
	a0 := 1 + k/shelfQ + k*k
	shelf = biquad{
		b0: (vh + vb*k/shelfQ + k*k) / a0, b1: 2 * (k*k - vh) / a0, b2: (vh - vb*k/shelfQ + k*k) / a0,
		a1: 2 * (k*k - 1) / a0, a2: (1 - k/shelfQ + k*k) / a0,
	}
	k = math.Tan(math.Pi * passHz / rate)
	a0 = 1 + k/passQ + k*k
	highPass = biquad{b0: 1, b1: -2, b2: 1, a1: 2 * (k*k - 1) / a0, a2: (1 - k/passQ + k*k) / a0}
	return shelf, highPass
}

// kState is the memory of both sections for one channel (transposed direct form II).
type kState struct{ s1, s2, h1, h2 float64 }

// kSquares filters two channels side by side, so that one's arithmetic hides
// the other's latency, and returns the sums of their squares.
func (m *Meter) kSquares(left, right []float32, l, r *kState) (sumL, sumR float64) {
	f, h := m.shelf, m.highPass
	right = right[:len(left)]
	ls1, ls2, lh1, lh2 := l.s1, l.s2, l.h1, l.h2
	rs1, rs2, rh1, rh2 := r.s1, r.s2, r.h1, r.h2
	for i, v := range left {
		x, z := float64(v), float64(right[i])
		y, w := f.b0*x+ls1, f.b0*z+rs1
		ls1, rs1 = f.b1*x-f.a1*y+ls2, f.b1*z-f.a1*w+rs2
		ls2, rs2 = f.b2*x-f.a2*y, f.b2*z-f.a2*w
		u, t := y+lh1, w+rh1
		lh1, rh1 = -2*y-h.a1*u+lh2, -2*w-h.a1*t+rh2
		lh2, rh2 = y-h.a2*u, w-h.a2*t
		sumL += u * u
		sumR += t * t
	}
	*l, *r = kState{calm(ls1), calm(ls2), calm(lh1), calm(lh2)}, kState{calm(rs1), calm(rs2), calm(rh1), calm(rh2)}
	return sumL, sumR
}

// calm clears what has decayed to nothing: denormal numbers are slow, and one
// NaN in the audio would stay in the filter for good.
func calm(v float64) float64 {
	if math.Abs(v) < 1e-30 || v != v || math.IsInf(v, 0) {
		return 0
	}
	return v
}
