package imaging

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/athir-radio/athir/internal/sound/synth"
	"github.com/athir-radio/athir/internal/sound/synth/synthtest"
)

// Intros come at every second sweeper; neither they nor drops end alike in one order.
func TestPiecesOfAnOrderEndEachInAnotherWay(t *testing.T) {
	for seed := range uint64(20) {
		ends := map[string]map[int]bool{}
		for _, it := range plan(Order{Sweepers: 6, SongDrops: 6, Seed: seed}, Phrases{}) {
			if ends[it.prefix] == nil {
				ends[it.prefix] = map[int]bool{}
			}
			ends[it.prefix][it.outro] = true
		}
		if len(ends[introPrefix]) != 3 || len(ends[voxPrefix]) != 3 || len(ends[songPrefix]) != 6 {
			t.Fatalf("seed %d: %v", seed, ends)
		}
	}
}

// What the outros add sounds different: where their energy lies in time and pitch differs
// more between two of them than between two takes of one.
func TestOutrosAreToldApart(t *testing.T) {
	const at, seconds = 2.0, 3.4
	features := func(o outro, seed uint64) (f []float64) {
		bed := synth.Silence(seconds)
		o.play(bed, at, rand.New(rand.NewPCG(seed, 1)))
		mono := bed.Mono()
		for part := range 6 {
			from, to := 0.5+0.45*float64(part), 0.5+0.45*float64(part+1)
			s := synthtest.Of(mono[synth.Frames(from):synth.Frames(to)])
			for _, band := range [][2]float64{{30, 150}, {150, 700}, {700, 3000}, {3000, 14000}} {
				f = append(f, math.Max(-60, 10*math.Log10(s.Band(band[0], band[1])+1e-12)))
			}
		}
		return f
	}
	apart := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += math.Abs(a[i]-b[i]) / float64(len(a))
		}
		return sum
	}
	var takes [][2][]float64
	for _, o := range outros() {
		takes = append(takes, [2][]float64{features(o, 1), features(o, 2)})
	}
	for i, a := range takes {
		same := apart(a[0], a[1])
		for j, b := range takes[:i] {
			if other := apart(a[0], b[0]); other < 4 || other < same {
				t.Errorf("%s and %s are %.1f dB apart, two takes of the first %.1f", outros()[i].name, outros()[j].name, other, same)
			}
		}
	}
}
