package rider

import "math"

// weighting is the K-weighting of ITU-R BS.1770-5 Annex 1 for both channels, in the
// transposed direct form II. The standard gives coefficients for 48 kHz; these are the
// analogue prototypes behind them under the bilinear transform, equal to the standard's
// at 48 kHz to its last digit.
type weighting struct {
	b0, b1, b2, a1, a2 float64       // high shelf
	h1, h2             float64       // high pass: b is 1, -2, 1
	state              [2][4]float64 // of each channel
}

func newWeighting(rate float64) weighting {
	const (
		shelfHz, shelfQ, shelfDB = 1681.974450955533, 0.7071752369554196, 3.999843853973347
		passHz, passQ            = 38.13547087602444, 0.5003270373238773
	)
	k := math.Tan(math.Pi * shelfHz / rate)
	vh := math.Pow(10, shelfDB/20)
	vb := math.Pow(vh, 0.4996667741545416)
	a0 := 1 + k/shelfQ + k*k
	w := weighting{
		b0: (vh + vb*k/shelfQ + k*k) / a0, b1: 2 * (k*k - vh) / a0, b2: (vh - vb*k/shelfQ + k*k) / a0,
		a1: 2 * (k*k - 1) / a0, a2: (1 - k/shelfQ + k*k) / a0,
	}
	k = math.Tan(math.Pi * passHz / rate)
	a0 = 1 + k/passQ + k*k
	w.h1, w.h2 = 2*(k*k-1)/a0, (1-k/passQ+k*k)/a0
	return w
}

// power is the sum of the squares of both channels' weighted samples.
func (w *weighting) power(frames []float32) float64 {
	l, r := w.state[0], w.state[1]
	sum := 0.0
	for i := 0; i+1 < len(frames); i += 2 {
		// Side by side, so that one channel's arithmetic hides the other's latency.
		x, z := float64(frames[i]), float64(frames[i+1])
		y, u := w.b0*x+l[0], w.b0*z+r[0]
		l[0], r[0] = w.b1*x-w.a1*y+l[1], w.b1*z-w.a1*u+r[1]
		l[1], r[1] = w.b2*x-w.a2*y, w.b2*z-w.a2*u
		p, q := y+l[2], u+r[2]
		l[2], r[2] = -2*y-w.h1*p+l[3], -2*u-w.h1*q+r[3]
		l[3], r[3] = y-w.h2*p, u-w.h2*q
		sum += p*p + q*q
	}
	for i := range l { // denormal numbers are slow
		l[i], r[i] = calm(l[i]), calm(r[i])
	}
	w.state[0], w.state[1] = l, r
	return sum
}

func calm(v float64) float64 {
	if math.Abs(v) < 1e-30 {
		return 0
	}
	return v
}

// lufs is the loudness of a mean power summed over channels.
func lufs(power float64) float64 { return max(-0.691+10*math.Log10(power), Nothing) }

func powerOf(lufs float64) float64 { return math.Pow(10, (lufs+0.691)/10) }
