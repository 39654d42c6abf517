// Package synthtest measures what a sound is like, for tests: spectra, and what
// can be said of them in one number. It is no part of the program.
package synthtest

import (
	"math"

	"github.com/athir-radio/athir/internal/sound/fourier"
)

// Rate is the sample rate of all that is measured here, in Hz.
const Rate = 44100

// Spectrum is the power in equal steps of frequency from 0 to half the rate.
type Spectrum []float64

// Of returns the spectrum of a mono signal, through a Hann window over all of
// it, filled up with silence to a power of two.
func Of(mono []float32) Spectrum {
	n := 1
	for n < len(mono) {
		n *= 2
	}
	x := make([]complex128, n)
	for i, v := range mono {
		x[i] = complex(float64(v)*(0.5-0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(len(mono)))), 0)
	}
	fourier.Transform(x)
	s := make(Spectrum, n/2)
	for i := range s {
		s[i] = real(x[i])*real(x[i]) + imag(x[i])*imag(x[i])
	}
	return s
}

// Hz is the frequency of a bin.
func (s Spectrum) Hz(bin int) float64 { return float64(bin) * Rate / float64(2*len(s)) }

// Band is the power between two frequencies in Hz.
func (s Spectrum) Band(from, to float64) float64 {
	var sum float64
	for i, p := range s {
		if hz := s.Hz(i); hz >= from && hz < to {
			sum += p
		}
	}
	return sum
}

// Share is the part of all power above 20 Hz that lies between two frequencies.
func (s Spectrum) Share(from, to float64) float64 {
	return s.Band(from, to) / (s.Band(20, Rate/2) + 1e-30)
}

// Centroid is the middle of the power, in Hz, on a scale of octaves.
func (s Spectrum) Centroid() float64 {
	var sum, weight float64
	for i, p := range s {
		if hz := s.Hz(i); hz >= 20 {
			sum += p * math.Log2(hz)
			weight += p
		}
	}
	if weight == 0 {
		return 0
	}
	return math.Exp2(sum / weight)
}

// Top is the frequency of the strongest bin above 20 Hz.
func (s Spectrum) Top() float64 {
	best := 0
	for i, p := range s {
		if s.Hz(i) >= 20 && p > s[best] || best == 0 {
			best = i
		}
	}
	return s.Hz(best)
}

// Flatness is the mean over third-octave bands, weighted by their power, of
// geometric over arithmetic mean of the power within the band: near 0.56 for
// noise, whatever its colour, and near 0 for tones.
func (s Spectrum) Flatness() float64 {
	var sum, weight float64
	for low := 100.0; low < 16000; low *= math.Exp2(1.0 / 3) {
		var logs, power float64
		n := 0
		for i := int(low / s.Hz(1)); i < len(s) && s.Hz(i) < low*math.Exp2(1.0/3); i++ {
			logs += math.Log(s[i] + 1e-30)
			power += s[i]
			n++
		}
		if n < 4 {
			continue
		}
		sum += math.Exp(logs/float64(n)) / (power/float64(n) + 1e-30) * power
		weight += power
	}
	return sum / (weight + 1e-30)
}

// RMS is the root of the mean square.
func RMS(mono []float32) float64 {
	var sum float64
	for _, v := range mono {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(1, len(mono))))
}

// Envelope is the RMS of every window of so many seconds.
func Envelope(mono []float32, seconds float64) []float64 {
	n := int(seconds * Rate)
	var out []float64
	for i := 0; i+n <= len(mono); i += n {
		out = append(out, RMS(mono[i:i+n]))
	}
	return out
}
