package check

import (
	"math"
	"time"
)

const (
	peakCount   = 200
	columnCount = 120
	loudestTime = 10 * time.Second

	// The spectrogram's bytes: 0 is so far (dB) under full scale, 255 so far.
	darkest, brightest = -96.0, -12.0
)

// peaks are the largest samples of as many parts of equal length, 0 to 1.
func (h *heard) peaks() []float64 {
	out := make([]float64, peakCount)
	for i := range out {
		for _, b := range slice(h.blocks, i, peakCount) {
			out[i] = math.Max(out[i], math.Min(1, float64(b.peak)))
		}
	}
	return out
}

// slice is part i of n of a list; at least one entry, where there are any.
func slice[T any](all []T, i, n int) []T {
	from, to := i*len(all)/n, (i+1)*len(all)/n
	if to == from && from < len(all) {
		to = from + 1
	}
	return all[from:to]
}

// loudestAt is where the loudest ten seconds begin, after begin.
func (h *heard) loudestAt() time.Duration {
	width := int(loudestTime / blockTime)
	sum, top, at := 0.0, 0.0, 0
	for i, b := range h.blocks {
		sum += float64(b.left + b.right)
		if i >= width {
			sum -= float64(h.blocks[i-width].left + h.blocks[i-width].right)
		}
		if start := i + 1 - width; start >= 0 && sum > top*1.001 {
			top, at = sum, start
		}
	}
	return time.Duration(at) * blockTime
}

// Spectrum is a small spectrogram of the sound: Columns from left to right, each of Bands
// bytes from the lowest upwards: to 16 kHz, by logarithms from 400 Hz on.
type Spectrum struct {
	Bands   int
	Columns int
	Power   []byte // 0: nothing; 255: loud
}

func (h *heard) spectrum() Spectrum {
	s := Spectrum{Bands: bandCount, Columns: columnCount, Power: make([]byte, bandCount*columnCount)}
	if len(h.bands) == 0 {
		return s
	}
	for c := range columnCount {
		column := slice(h.bands, c, columnCount)
		for b := range bandCount {
			sum := 0.0
			for _, frame := range column {
				sum += float64(frame[b])
			}
			db := 10 * math.Log10(sum/float64(len(column))+1e-12)
			s.Power[c*bandCount+b] = byte(math.Round(255 * math.Min(1, math.Max(0, (db-darkest)/(brightest-darkest)))))
		}
	}
	return s
}
