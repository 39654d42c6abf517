package stinger

import (
	"math"
	"testing"

	"github.com/athir-radio/athir/internal/sound/synth"
	"github.com/athir-radio/athir/internal/sound/synth/synthtest"
)

// heard is one stinger, and what a listener can tell of it.
type heard struct {
	sound synth.Sound
	mono  []float32
}

// made are all designs of all seeds, once they have been asked for.
var made map[Design][]heard

// everything makes all designs of all seeds, once for all tests.
func everything() map[Design][]heard {
	if made == nil {
		made = make(map[Design][]heard)
		for _, d := range Designs() {
			for seed := range seeds {
				s := Make(d, uint64(seed))
				made[d] = append(made[d], heard{s, s.Mono()})
			}
		}
	}
	return made
}

// each calls check with every seed of a design.
func each(t *testing.T, d Design, check func(t *testing.T, seed int, h heard)) {
	t.Helper()
	for seed, h := range everything()[d] {
		check(t, seed, h)
	}
}

// part is the mono signal between two shares of the length.
func (h heard) part(from, to float64) []float32 {
	n := float64(len(h.mono))
	return h.mono[int(from*n):int(to*n)]
}

// time is the mono signal between two times in seconds.
func (h heard) time(from, to float64) []float32 {
	return h.mono[synth.Frames(from):min(synth.Frames(to), len(h.mono))]
}

func (h heard) centroid(from, to float64) float64 { return synthtest.Of(h.part(from, to)).Centroid() }

// within is the strongest frequency of a signal between two others.
func within(mono []float32, from, to float64) float64 {
	s := synthtest.Of(append(append([]float32(nil), mono...), make([]float32, 8192)...))
	best, top := 0.0, 0.0
	for i, p := range s {
		if hz := s.Hz(i); hz >= from && hz < to && p > best {
			best, top = p, hz
		}
	}
	return top
}

// top is the strongest frequency of a signal.
func top(mono []float32) float64 { return within(mono, 25, 16000) }

// loudestAt is the share of the length at which the loudest 60 ms are.
func (h heard) loudestAt() float64 {
	e := synthtest.Envelope(h.mono, 0.06)
	best := 0
	for i := range e {
		if e[i] > e[best] {
			best = i
		}
	}
	return (float64(best) + 0.5) * 0.06 / synth.Seconds(len(h.mono))
}

// levels is the level of every window of so many seconds, in dB under the loudest.
func (h heard) levels(seconds float64) []float64 {
	e := synthtest.Envelope(h.mono, seconds)
	loud := 1e-9
	for _, v := range e {
		loud = max(loud, v)
	}
	for i := range e {
		e[i] = 20 * math.Log10(e[i]/loud+1e-6)
	}
	return e
}

// rhythm is the lag in seconds, from a range, at which the envelope is most like
// itself, and how much (1 is all).
func (h heard) rhythm(from, to float64) (lag, likeness float64) {
	const step = 0.005
	e := synthtest.Envelope(h.mono, step)
	var mean float64
	for _, v := range e {
		mean += v / float64(len(e))
	}
	for n := int(from / step); n <= int(to/step) && n < len(e)/2; n++ {
		var both, a, b float64
		for i := range len(e) - n {
			x, y := e[i]-mean, e[i+n]-mean
			both, a, b = both+x*y, a+x*x, b+y*y
		}
		if like := both / math.Sqrt(a*b+1e-20); like > likeness {
			lag, likeness = float64(n)*step, like
		}
	}
	return lag, likeness
}
