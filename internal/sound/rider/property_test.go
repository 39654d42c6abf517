package rider_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/sound/rider"
)

// hostile is input of every kind a decoder may return by a fault, among sound.
func hostile(seed uint64, n int) []float32 {
	random := rand.New(rand.NewPCG(seed, 3))
	out := make([]float32, n)
	mode := 0
	for i := range out {
		if i%977 == 0 {
			mode = random.IntN(7)
		}
		switch mode {
		case 0:
			out[i] = math.Float32frombits(random.Uint32()) // anything
		case 1:
			out[i] = float32(random.NormFloat64()) * 1e-4
		case 2:
			out[i] = float32(math.Copysign(1, random.NormFloat64())) // full scale
		case 3:
			out[i] = math.Float32frombits(random.Uint32() & 0x007fffff) // denormal
		case 4:
			out[i] = float32(math.Sin(float64(i) * 0.7))
		case 5:
			out[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32}[random.IntN(4)]
		}
	}
	return out
}

// However loud or broken the input: nothing is above the ceiling, nothing is not a number,
// and a voice that comes afterwards is heard.
func TestNothingIsAboveTheCeiling(t *testing.T) {
	ceiling := float32(math.Pow(10, rider.Ceiling/20))
	for seed := range uint64(8) {
		r := rider.New(rate, target)
		out := ride(r, hostile(seed, 2*6*rate), nil)
		for i, v := range out {
			if v != v || v > ceiling || v < -ceiling {
				t.Fatalf("seed %d: frame %d is %v", seed, i/2, v)
			}
		}
		if peak := measure(out).TruePeak; peak > rider.Ceiling {
			t.Errorf("seed %d: %.3f dBTP", seed, peak)
		}
		for _, v := range []float64{r.Gain(), r.LUFS(), r.Peak(), r.Remembered()} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("seed %d: says %v", seed, v)
			}
		}
		out = ride(r, voice(t, 14, -30, seed), nil)
		if lufs := measure(seconds(out, 8, 14)).Integrated; math.Abs(lufs-target) > 3 {
			t.Errorf("seed %d: a voice comes out at %.1f LUFS afterwards", seed, lufs)
		}
	}
}

// As many frames come as went in, late by what Latency says, whatever the pieces, and the
// same to the bit.
func TestAnySplitGivesTheSame(t *testing.T) {
	sound := joined(hostile(11, 2*rate), voice(t, 5, -30, 1), hostile(12, 2*rate))
	whole := slices.Clone(rider.New(rate, target).Process(sound))
	if len(whole) != len(sound) {
		t.Fatalf("%d samples in, %d out", len(sound), len(whole))
	}
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 5))
		r, out := rider.New(rate, target), []float32(nil)
		for at := 0; at < len(sound); {
			n := min(2*random.IntN([]int{2, 50, 500, 5000}[seed]), len(sound)-at)
			got := r.Process(sound[at : at+n])
			if len(got) != n {
				t.Fatalf("%d samples in, %d out", n, len(got))
			}
			out = append(out, got...)
			at += n
		}
		for i := range out {
			if math.Float32bits(out[i]) != math.Float32bits(whole[i]) {
				t.Fatalf("seed %d: sample %d is %v, in one piece %v", seed, i, out[i], whole[i])
			}
		}
	}
}

func TestTheOutputIsLateByLatency(t *testing.T) {
	for _, hz := range []int{48_000, 44_100, 32_000} {
		r := rider.New(hz, target)
		click := make([]float32, 2*hz)
		click[2*hz/2] = 0.01
		out := r.Process(click)
		at := 0
		for i, v := range out {
			if v > out[at] {
				at = i
			}
		}
		if late := at/2 - hz/2; late != r.Latency() || r.Latency()*100 > hz {
			t.Errorf("%d Hz: late by %d frames, and says %d", hz, late, r.Latency())
		}
		if peak := r.Peak(); math.Abs(peak+40) > 0.01 && peak != rider.Nothing {
			t.Errorf("%d Hz: the peak is %v dBFS", hz, peak)
		}
	}
}

func TestLevelsOfSilenceAreNumbers(t *testing.T) {
	r := rider.New(rate, target)
	for _, v := range r.Process(make([]float32, 2*rate)) {
		if v != 0 {
			t.Fatalf("silence becomes %v", v)
		}
	}
	if r.LUFS() != rider.Nothing || r.Peak() != rider.Nothing || r.Gain() != rider.StartGain {
		t.Errorf("%v LUFS, %v dBFS, %v dB", r.LUFS(), r.Peak(), r.Gain())
	}
}

func BenchmarkTick(b *testing.B) {
	sound := voice(b, 20, -30, 0)
	r := rider.New(rate, target)
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		at := i * tick % (len(sound) - tick)
		r.Process(sound[at : at+tick])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20e6*100, "%core")
}
