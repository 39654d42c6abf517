package loudness

import "math"

const (
	half    = 8        // samples on either side of an interpolated point
	taps    = 2 * half // per phase
	segment = 16       // samples that are looked at, or passed over, together
	context = taps     // samples kept before and needed after
)

// interpolator finds peaks between samples: four times oversampling as
// ITU-R BS.1770-5 Annex 2 asks, with a longer filter than its example. The
// quarter points are split into an even and an odd part, which share their work.
type interpolator struct {
	even, odd, mid [half]float32
	// reach is the most an interpolated value can exceed the largest sample
	// under the filter. What lies below a limit divided by it needs no filter.
	reach float32
}

// Between returns the filters that make the points a quarter, a half and three
// quarters of the way from one sample to the next, for a meter elsewhere that is to
// read as this one. The point lies between the two weights in the middle.
func Between() [][]float64 {
	var all [][]float64
	for _, at := range []float64{0.25, 0.5, 0.75} {
		h := phase(at)
		all = append(all, h[:])
	}
	return all
}

// phase is the filter that makes the point so far, 0 to 1, from sample half-1 to
// sample half: a sinc in a Kaiser window.
func phase(at float64) (h [taps]float64) {
	const beta = 5.0
	sum := 0.0
	for k := range h {
		t := float64(k-half+1) - at
		if math.Abs(t) < half {
			h[k] = bessel0(beta*math.Sqrt(1-t*t/(half*half))) / bessel0(beta) * math.Sin(math.Pi*t) / (math.Pi * t)
		}
		sum += h[k]
	}
	for k := range h {
		h[k] /= sum
	}
	return h
}

func newInterpolator() interpolator {
	var in interpolator
	quarter, middle := phase(0.25), phase(0.5)
	var q, m float64
	for k := range half {
		a, b := quarter[k], quarter[taps-1-k]
		in.even[k], in.odd[k], in.mid[k] = float32((a+b)/2), float32((a-b)/2), float32(middle[k])
		q += math.Abs(a) + math.Abs(b)
		m += 2 * math.Abs(middle[k])
	}
	in.reach = float32(math.Max(1, math.Max(q, m)))
	return in
}

// bessel0 is the modified Bessel function of the first kind, order 0.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1; term > 1e-12*sum; k++ {
		term *= x * x / 4 / float64(k*k)
		sum += term
	}
	return sum
}

// between returns the largest magnitude at the three points between the two
// middle samples of w.
func (in *interpolator) between(w *[taps]float32) float32 {
	var e, o, m float32
	for k := range half {
		a, b := w[k], w[taps-1-k]
		s, d := a+b, a-b
		e += s * in.even[k]
		o += d * in.odd[k]
		m += s * in.mid[k]
	}
	return max(abs(e+o), abs(e-o), abs(m))
}

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// biggest is the largest magnitude in x.
func biggest(x []float32) float32 {
	// Magnitudes of floats are in the order of their bits. Four at a time: one comparison
	// need not wait for the last.
	var a, b, c, d uint32
	for ; len(x) >= 4; x = x[4:] {
		a = max(a, math.Float32bits(x[0])&^(1<<31))
		b = max(b, math.Float32bits(x[1])&^(1<<31))
		c = max(c, math.Float32bits(x[2])&^(1<<31))
		d = max(d, math.Float32bits(x[3])&^(1<<31))
	}
	for _, v := range x {
		a = max(a, math.Float32bits(v)&^(1<<31))
	}
	return math.Float32frombits(max(a, b, c, d))
}
