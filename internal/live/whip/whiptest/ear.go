package whiptest

import "math"

// Level is how loud a tone of some frequency is in the left of interleaved stereo at
// 48,000 Hz, as an amplitude of 0 to 32767 (Goertzel's algorithm).
func Level(samples []int16, hertz float64) float64 {
	n := len(samples) / 2
	if n == 0 {
		return 0
	}
	w := 2 * math.Cos(2*math.Pi*hertz/48_000)
	var a, b float64
	for i := range n {
		a, b = float64(samples[2*i])+w*a-b, a
	}
	return 2 / float64(n) * math.Sqrt(max(0, a*a+b*b-w*a*b))
}

// Heard is which of some tones is the loudest, as its index; -1 where none is above
// -40 dBFS.
func Heard(samples []int16, tones ...float64) int {
	most, best := 327.0, -1
	for i, f := range tones {
		if l := Level(samples, f); l > most {
			most, best = l, i
		}
	}
	return best
}

// Edge is the sharpest bend of the left channel, in steps of 16 bits: a click.
func Edge(samples []int16) float64 {
	var most float64
	for i := 4; i < len(samples); i += 2 {
		most = max(most, math.Abs(float64(samples[i])-2*float64(samples[i-2])+float64(samples[i-4])))
	}
	return most
}
