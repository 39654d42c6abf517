package stinger

import (
	"math"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/sound/synth/synthtest"
)

// features say in numbers how a stinger sounds: where its energy lies in time
// and in pitch, how these move, how noisy and how rhythmic it is.
func features(h heard) []float64 {
	f := []float64{8 * math.Log2(h.sound.Seconds())}
	const parts = 6
	before := 0.0
	for p := range parts {
		piece := h.part(float64(p)/parts, float64(p+1)/parts)
		place := 2 * math.Log2(synthtest.Of(piece).Centroid()+20)
		f = append(f, place, math.Max(-40, 20*math.Log10(synthtest.RMS(piece)+1e-6))/4)
		if p > 0 {
			f = append(f, 2*(place-before))
		}
		before = place
	}
	whole := synthtest.Of(h.mono)
	for _, band := range [...][2]float64{{20, 60}, {60, 150}, {150, 400}, {400, 1200}, {1200, 4000}, {4000, 16000}} {
		f = append(f, math.Max(-40, 10*math.Log10(whole.Share(band[0], band[1])+1e-6))/4)
	}
	_, like := h.rhythm(0.07, 0.25)
	quiet, jumps := 0.0, 0.0
	levels := h.levels(0.008)
	for i, v := range levels {
		if v < -32 {
			quiet += 1 / float64(len(levels))
		}
		if i > 0 && v > levels[i-1]+6 {
			jumps++
		}
	}
	return append(f, 10*whole.Flatness(), 6*like, 10*quiet, 2*math.Sqrt(jumps), 12*step(h))
}

// step is how many octaves the strongest tone moves from the first third to the
// middle, as far as there is one tone that is the strongest.
func step(h heard) float64 {
	first, then := h.part(0.02, 0.3), h.part(0.45, 0.65)
	a, b := top(first), top(then)
	clear := func(mono []float32, hz float64) float64 {
		s := synthtest.Of(mono)
		return s.Band(0.96*hz, 1.04*hz) / (s.Band(25, 16000) + 1e-20)
	}
	return math.Log2(b/a) * clear(first, a) * clear(then, b)
}

func distance(a, b, scale []float64) float64 {
	var sum float64
	for i := range a {
		d := (a[i] - b[i]) / scale[i]
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(a)))
}

// middle is the mean of features.
func middle(of [][]float64) []float64 {
	m := make([]float64, len(of[0]))
	for _, f := range of {
		for i, v := range f {
			m[i] += v / float64(len(of))
		}
	}
	return m
}

// spread is how much each feature varies from seed to seed in the middle one of
// the designs: the measure in which distances are counted, with a floor so that
// no feature counts for everything.
func spread(of map[Design][][]float64, from, to int) []float64 {
	var each [][]float64
	for _, all := range of {
		m := middle(all[from:to])
		vary := make([]float64, len(m))
		for _, f := range all[from:to] {
			for i, v := range f {
				vary[i] += (v - m[i]) * (v - m[i]) / float64(to-from)
			}
		}
		each = append(each, vary)
	}
	scale := make([]float64, len(each[0]))
	for i := range scale {
		var designs []float64
		for _, vary := range each {
			designs = append(designs, vary[i])
		}
		slices.Sort(designs)
		scale[i] = math.Max(0.3, math.Sqrt(designs[len(designs)/2]))
	}
	return scale
}

// A listener who knows ten seeds of each design names the design of ten others.
func TestEveryDesignIsToldFromTheOthersAndItsSeedsResembleEachOther(t *testing.T) {
	all := make(map[Design][][]float64)
	for _, d := range Designs() {
		for _, h := range everything()[d] {
			all[d] = append(all[d], features(h))
		}
	}
	scale := spread(all, 0, seeds/2)
	right, total := 0, 0
	for _, d := range Designs() {
		for seed := seeds / 2; seed < seeds; seed++ {
			best, nearest := math.Inf(1), Design("")
			for _, other := range Designs() {
				if away := distance(all[d][seed], middle(all[other][:seeds/2]), scale); away < best {
					best, nearest = away, other
				}
			}
			total++
			if nearest == d {
				right++
			} else {
				t.Errorf("%s %d sounds like a %s", d, seed, nearest)
			}
		}
	}
	t.Logf("%d of %d unknown seeds named rightly by nearest centroid", right, total)

	scale = spread(all, 0, seeds)
	for _, d := range Designs() {
		own := between(all[d], all[d], scale)
		next, nearest := math.Inf(1), Design("")
		for _, other := range Designs() {
			if other == d {
				continue
			}
			if away := between(all[d], all[other], scale); away < next {
				next, nearest = away, other
			}
		}
		t.Logf("%-11s two of its seeds %.2f apart, from the nearest other (%s) %.2f: %.1f times", d, own, nearest, next, next/own)
		if next < 1.2*own {
			t.Errorf("%s: its seeds are %.2f apart, those of %s only %.2f from it", d, own, nearest, next)
		}
	}
}

// between is the mean distance of two different seeds, one of each list.
func between(a, b [][]float64, scale []float64) float64 {
	var sum, n float64
	for i := range a {
		for j := range b {
			if i != j {
				sum, n = sum+distance(a[i], b[j], scale), n+1
			}
		}
	}
	return sum / n
}
