package aircheck

import (
	"math"
	"math/bits"
	"math/cmplx"
	"slices"
	"time"
)

// Scale says which tone each track number has.
type Scale int

const (
	// Coarse has 48 tracks and is read in windows of 20 ms: to measure crosses.
	Coarse Scale = iota
	// Fine has 140 tracks and is read in windows of 46 ms: to follow the order
	// of a whole library. Tracks of less than a quarter second may be missed.
	Fine
)

const (
	firstHz = 600
	stepHz  = 150 // three bins of the analysis window: neighbours stay apart

	// The fine scale lies on bins of one transform, so that one finds all tones.
	fineWindow = 2048 // samples at captureRate
	fineHop    = 512
	fineFirst  = 28 // bin
	fineStep   = 4  // bins
	maxFineID  = 139
)

// MaxID is the highest track number there is a tone for.
func (s Scale) MaxID() int {
	if s == Fine {
		return maxFineID
	}
	return MaxID
}

// Frequency is the tone of a track, in Hz.
func (s Scale) Frequency(id int) float64 {
	if s == Fine {
		return float64(fineFirst+fineStep*id) * captureRate / fineWindow
	}
	return float64(firstHz + stepHz*id)
}

// Analyse reads a capture whose tracks are all of this scale. On the fine one
// clicks are not looked for: its tones reach into their band.
func (s Scale) Analyse(p PCM) Report {
	if s == Coarse {
		return Analyse(p)
	}
	r := Report{Length: p.Duration(), Gap: longestGap(p)}
	grid := grid{hop: p.time(fineHop), window: p.time(fineWindow), audible: 26, shortest: 100 * time.Millisecond}
	tones := fineTones(p)
	for id, levels := range tones {
		for _, s := range grid.stays(levels, id) {
			from := int((s.Start - grid.window/2) / grid.hop)
			if !splatter(tones, s, from, from+int(s.Length()/grid.hop)+1) {
				r.Segments = append(r.Segments, s)
			}
		}
	}
	r.sort()
	return r
}

const (
	splatterReach = 4    // tones to either side
	splatterDepth = 12.0 // decibels
	// Further away it is fainter, and so must be what is taken for it.
	farReach = 8
	farDepth = 24.0
)

// splatter reports that a tone next in pitch was much louder all the while:
// where that one was cut and joined its phase jumped, and its neighbours rang
// with it. A track has a time of its own.
func splatter(tones [][]float64, s Segment, from, to int) bool {
	for near := max(0, s.ID-farReach); near <= min(len(tones)-1, s.ID+farReach); near++ {
		depth := splatterDepth
		if near < s.ID-splatterReach || near > s.ID+splatterReach {
			depth = farDepth
		}
		beside := slices.Sorted(slices.Values(tones[near][from:min(to, len(tones[near]))]))
		if near != s.ID && beside[len(beside)/2] > s.Level+depth {
			return true
		}
	}
	return false
}

// fineTones is the amplitude of every fine tone in each window, in dBFS: that of the peak
// of the spectrum which is nearer to it than to any other tone. The live desk reads a source
// up to half a percent faster or slower than it was sent, which puts a tone of 6 kHz more
// than a bin beside its place; a tone of the coarse scale lies up to two beside any, and is
// heard as one.
func fineTones(p PCM) [][]float64 {
	hann := make([]float64, fineWindow)
	for i := range hann {
		hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/fineWindow)
	}
	levels := make([][]float64, maxFineID+1)
	frame := make([]complex128, fineWindow)
	turns := rootsOfUnity(fineWindow)
	for start := 0; start+fineWindow <= len(p.Samples); start += fineHop {
		for i, v := range p.Samples[start : start+fineWindow] {
			frame[i] = complex(float64(v)*hann[i], 0)
		}
		transform(frame, turns)
		n := len(levels[0])
		for id := range levels {
			levels[id] = append(levels[id], decibels(0))
		}
		// From a bin below the lowest tone to a bin above the highest: each peak is nearest to one.
		const from, to = fineFirst - 1, fineFirst + fineStep*maxFineID + 1
		before, here := cmplx.Abs(frame[from-1]), cmplx.Abs(frame[from])
		for bin := from; bin <= to; bin++ {
			after := cmplx.Abs(frame[bin+1])
			if here >= before && here > after {
				place := float64(bin) + peakBeside(before, here, after)
				id := int(math.Round((place - fineFirst) / fineStep))
				levels[id][n] = max(levels[id][n], decibels(here*4/fineWindow/32768))
			}
			before, here = here, after
		}
	}
	return levels
}

// peakBeside is by how many bins a tone lies beside the bin that has most of it: behind a
// Hann window the bins on its two sides say so exactly (Grandke, Interpolation Algorithms for
// Discrete Fourier Transforms of Weighted Signals, IEEE Trans. Instrum. Meas. 32, 1983).
func peakBeside(before, peak, after float64) float64 {
	side, sign := after, 1.0
	if before > after {
		side, sign = before, -1
	}
	ratio := side / peak
	return sign * min(max((2*ratio-1)/(1+ratio), 0), 0.5)
}

func rootsOfUnity(n int) []complex128 {
	out := make([]complex128, n/2)
	for i := range out {
		out[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/float64(n))
	}
	return out
}

// transform is the fast Fourier transform, in place; the length is a power of two.
func transform(x, turns []complex128) {
	n := len(x)
	shift := bits.UintSize - bits.Len(uint(n-1))
	for i := range x {
		if j := int(bits.Reverse(uint(i)) >> shift); i < j { //nolint:gosec // below n
			x[i], x[j] = x[j], x[i]
		}
	}
	for half := 1; half < n; half *= 2 {
		stride := n / (2 * half)
		for at := 0; at < n; at += 2 * half {
			low, high := x[at:at+half], x[at+half:at+2*half]
			for i := range low {
				t := high[i] * turns[i*stride]
				low[i], high[i] = low[i]+t, low[i]-t
			}
		}
	}
}
