package synth

import "math"

// Band says what a filter lets through.
type Band int

// The bands, around a cutoff: 12 dB an octave. Peak of BandPass is 1 whatever
// its q.
const (
	LowPass Band = iota
	HighPass
	BandPass
	Notch
)

// Filter is a state-variable filter with a moving cutoff in Hz, in place; it
// returns its argument. q of 0.71 is flat, more rings at the cutoff. It is the
// trapezoidal form, which stays stable however fast the cutoff moves.
func Filter(mono []float32, band Band, hz Curve, q float64) []float32 {
	filter(mono, band, bends(hz, len(mono)), 1/q)
	return mono
}

// Filter filters both sides alike, in place.
func (s Sound) Filter(band Band, hz Curve, q float64) {
	g := bends(hz, s.Frames())
	for _, plane := range s {
		filter(plane, band, g, 1/q)
	}
}

// bends is the gain of the filter's integrators for each frame's cutoff.
func bends(hz Curve, frames int) []float64 {
	return Curve(func(t float64) float64 {
		return math.Tan(math.Pi * min(max(hz(t), 5), 0.45*Rate) / Rate)
	}).over(frames)
}

func filter(mono []float32, band Band, bends []float64, k float64) {
	var low, mid float64 // the states of its two integrators
	for i, v := range mono {
		g := bends[i]
		a := 1 / (1 + g*(g+k))
		rest := float64(v) - low
		b := a * (mid + g*rest)
		l := low + g*b
		low, mid = 2*l-low, 2*b-mid
		switch band {
		case LowPass:
			mono[i] = float32(l)
		case HighPass:
			mono[i] = float32(float64(v) - k*b - l)
		case BandPass:
			mono[i] = float32(k * b)
		case Notch:
			mono[i] = float32(float64(v) - k*b)
		}
	}
}

// Shelf lifts or lowers what lies above a frequency by db, gently, in place,
// and returns its argument.
func Shelf(mono []float32, hz, db float64) []float32 {
	k := 1 - math.Exp(-2*math.Pi*hz/Rate)
	gain := Decibels(db)
	var low float64
	for i, v := range mono {
		low += (float64(v) - low) * k
		mono[i] = float32(low + (float64(v)-low)*gain)
	}
	return mono
}

// Shelf lifts or lowers what lies above a frequency by db on both sides.
func (s Sound) Shelf(hz, db float64) {
	for _, plane := range s {
		Shelf(plane, hz, db)
	}
}

// Level removes DC and what is too low to be heard (below some 18 Hz), in place.
func (s Sound) Level() { s.Filter(HighPass, Flat(18), 0.71) }
