package loudness

import (
	"math"
	"slices"
	"time"
)

// Measurement is a meter's result. Levels are -Inf without sound.
type Measurement struct {
	Duration time.Duration
	// Integrated is the programme loudness in LUFS, gated (BS.1770-5 Annex 1).
	// Of audio shorter than one gating block (400 ms) it is the loudness of the
	// whole, ungated, and Gated is false.
	Integrated float64
	Gated      bool
	Range      float64 // LU, Tech 3342
	Momentary  float64 // LUFS, the highest over 400 ms
	ShortTerm  float64 // LUFS, the highest over 3 s
	TruePeak   float64 // dBTP
	SamplePeak float64 // dBFS
	Offset     float64 // direct current, of full scale: see Displaced

	blocks blocks
	whole  int // blocks of full length: audio too short for a gating block has one more, cut short
}

const (
	momentary = 40  // blocks in 400 ms
	shortTerm = 300 // blocks in 3 s
	hop       = 10  // blocks in 100 ms: gating blocks overlap by 75 %
	silence   = -70 // LUFS, the absolute gate
)

// lufs is the loudness of a mean power summed over channels.
func lufs(power float64) float64 { return -0.691 + 10*math.Log10(power) }

func powerOf(lufs float64) float64 { return math.Pow(10, (lufs+0.691)/10) }

func (r *Measurement) evaluate() {
	sums := prefix(r.blocks.power, nil)
	r.Integrated, r.Gated = r.integrated(sums), r.whole >= momentary
	r.Momentary = lufs(loudest(sums, momentary))
	r.ShortTerm = lufs(loudest(sums, shortTerm))
	r.Range = loudnessRange(sums)
}

// prefix sums powers, each times its gain where gains are given.
func prefix(power []float32, gains []float64) []float64 {
	sums := make([]float64, len(power)+1)
	for i, p := range power {
		v := float64(p)
		if gains != nil {
			v *= gains[i] * gains[i]
		}
		if v != v || math.IsInf(v, 0) {
			v = 0
		}
		sums[i+1] = sums[i] + v
	}
	return sums
}

// windows returns the mean powers of all windows of n blocks, 100 ms apart.
func windows(sums []float64, n int) []float64 {
	var out []float64
	for end := n; end < len(sums); end += hop {
		out = append(out, (sums[end]-sums[end-n])/float64(n))
	}
	return out
}

// loudest is the highest mean power of n blocks in a row, wherever they begin.
func loudest(sums []float64, n int) float64 {
	top := 0.0
	for end := n; end < len(sums); end++ {
		top = math.Max(top, (sums[end]-sums[end-n])/float64(n))
	}
	return top
}

func (r *Measurement) integrated(sums []float64) float64 {
	if r.whole < momentary {
		return lufs(sums[len(sums)-1] / math.Max(1, float64(len(sums)-1)))
	}
	all := windows(sums, momentary)
	mean := meanAbove(all, powerOf(silence))
	return lufs(meanAbove(all, math.Max(mean/10, powerOf(silence)))) // 10 LU below
}

// meanAbove is the mean of what is above the gate, 0 if nothing is.
func meanAbove(powers []float64, gate float64) float64 {
	mean, n := 0.0, 0
	for _, p := range powers {
		if p > gate {
			mean += p
			n++
		}
	}
	return mean / math.Max(float64(n), 1)
}

func loudnessRange(sums []float64) float64 {
	all := windows(sums, shortTerm)
	mean := meanAbove(all, powerOf(silence))
	if mean == 0 {
		return 0
	}
	gate := math.Max(mean/100, powerOf(silence)) // 20 LU below
	all = slices.DeleteFunc(all, func(p float64) bool { return p < gate })
	slices.Sort(all)
	at := func(percent float64) float64 { return lufs(all[int(math.Round(percent*float64(len(all)-1)/100))]) }
	return at(95) - at(10)
}

// Sound returns where sound begins and ends: the first and the last 10 ms that are at
// most below LU under the integrated loudness and have two more such blocks within
// 50 ms, so that a click does not count as music. Silence gives zero for both.
func (r *Measurement) Sound(below float64) (begin, end time.Duration) {
	gate := float32(powerOf(math.Max(r.Integrated-below, silence)))
	power := r.blocks.power
	steady := func(from, to int) bool {
		over := 0
		for _, p := range power[max(from, 0):min(to, len(power))] {
			if p >= gate {
				over++
			}
		}
		return over >= min(3, len(power))
	}
	first, last := 0, len(power)-1
	for first <= last && !(power[first] >= gate && steady(first, first+5)) {
		first++
	}
	for last > first && !(power[last] >= gate && steady(last-4, last+1)) {
		last--
	}
	switch {
	case first > last:
		return 0, 0
	case last == len(power)-1:
		return time.Duration(first) * time.Second / perSecond, r.Duration
	}
	return time.Duration(first) * time.Second / perSecond, time.Duration(last+1) * time.Second / perSecond
}

// Limited predicts the integrated loudness behind gain (dB) and a Limiter with
// the given ceiling (dBTP), from the blocks alone. It saves a pass over the
// audio and is within 0.1 LU for most music.
func (r *Measurement) Limited(gain, ceiling float64) float64 {
	factor := math.Pow(10, gain/20)
	// Blocks know only their largest sample: their true peak is taken to exceed it as the whole file's does.
	over := factor * math.Pow(10, (math.Max(r.TruePeak-r.SamplePeak, 0)/2-ceiling)/20)
	gains := make([]float64, len(r.blocks.power))
	recovery := 1 - math.Exp(-1/(releaseSeconds*perSecond))
	held := 1.0
	for i := range gains {
		held += (1 - held) * recovery
		if peak := float64(r.blocks.peak[i]) * over; peak > 1 {
			held = math.Min(held, 1/peak)
		}
		gains[i] = held * factor
	}
	return r.integrated(prefix(r.blocks.power, gains))
}

// Alone is the highest short-term loudness of audio shorter than a window, in LUFS: over
// the window, with silence about the audio.
func (r *Measurement) Alone(window time.Duration) float64 {
	sum := 0.0
	for _, p := range r.blocks.power {
		sum += float64(p)
	}
	return lufs(sum / (window.Seconds() * perSecond))
}

// PeakBut returns the true peak (dBTP) of all but a share of the 10 ms blocks, those with
// the highest samples. A block's true peak is taken to exceed its largest sample as the
// whole file's does.
func (r *Measurement) PeakBut(share float64) float64 {
	left := int(share * float64(len(r.blocks.peak)))
	if left == 0 {
		return r.TruePeak
	}
	peaks := slices.Clone(r.blocks.peak)
	slices.Sort(peaks)
	return math.Min(r.TruePeak, decibels(float64(peaks[len(peaks)-1-left]))+math.Max(r.TruePeak-r.SamplePeak, 0))
}
