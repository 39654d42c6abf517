package aircheck

import (
	"math"
	"time"
)

// Click is a moment of broadband energy, as a jump in the waveform makes.
type Click struct {
	At    time.Duration
	Level float64 // dBFS above the highest tone's band
}

const (
	// clickBand lies above every tone and what a ramp spreads, and below where
	// lossy codecs cut off.
	clickBand = 11500.0
	// clickLevel is a jump of about 3 % of full scale, heard as a tick under a
	// tone 12 dB below full scale.
	clickLevel = -50.0
	clickBlock = time.Millisecond
	clickApart = 20 * time.Millisecond
	taps       = 63
)

// clicks finds jumps: the tones are filtered away, what remains should be next
// to nothing.
//
//go:norace
func clicks(p PCM) []Click {
	high := highPass(p)
	step := p.samples(clickBlock)
	var out []Click
	for i := 0; i+step <= len(high); i += step {
		var sum float64
		for _, v := range high[i : i+step] {
			sum += v * v
		}
		level := decibels(math.Sqrt(sum/float64(step)) / 32768)
		if level < clickLevel {
			continue
		}
		at := p.time(i + taps/2)
		if n := len(out); n > 0 && at-out[n-1].At < clickApart {
			out[n-1].Level = max(out[n-1].Level, level)
			continue
		}
		out = append(out, Click{at, level})
	}
	return out
}

// highPass keeps what lies above clickBand: a windowed-sinc filter. As with
// tone, there is nothing in it for the race detector, only time for it to take.
//
//go:norace
func highPass(p PCM) []float64 {
	kernel := make([]float64, taps)
	cut := clickBand / float64(p.Rate)
	var sum float64
	for i := range kernel {
		x := float64(i - taps/2)
		v := 2 * cut
		if x != 0 {
			v = math.Sin(2*math.Pi*cut*x) / (math.Pi * x)
		}
		// Blackman: 74 dB down beside the pass band.
		w := 2 * math.Pi * float64(i) / (taps - 1)
		kernel[i] = v * (0.42 - 0.5*math.Cos(w) + 0.08*math.Cos(2*w))
		sum += kernel[i]
	}
	for i := range kernel {
		kernel[i] /= -sum
	}
	kernel[taps/2]++

	if len(p.Samples) < taps {
		return nil
	}
	in, out := make([]float64, len(p.Samples)), make([]float64, len(p.Samples)-taps+1)
	for i, v := range p.Samples {
		in[i] = float64(v)
	}
	for i := range out {
		// The kernel is the same from either end.
		v := kernel[taps/2] * in[i+taps/2]
		for j, k := range kernel[:taps/2] {
			v += k * (in[i+j] + in[i+taps-1-j])
		}
		out[i] = v
	}
	return out
}
