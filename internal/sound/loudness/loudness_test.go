package loudness

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// noise is white noise in bursts of changing level: peaks everywhere.
func noise(rng *rand.Rand, frames int) []float32 {
	x := make([]float32, 2*frames)
	level := 0.1
	for i := range x {
		if i%4000 == 0 {
			level = math.Pow(10, -rng.Float64()*2)
		}
		x[i] = float32(level * (2*rng.Float64() - 1))
	}
	return x
}

func TestPiecesOfAnySizeMeasureTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := noise(rng, 3*rate)
	whole := measure(x)
	m := NewMeter(rate, Stereo)
	for rest := x; len(rest) > 0; {
		n := min(2*rng.IntN(5000), len(rest))
		m.Write(rest[:n])
		rest = rest[n:]
	}
	parts := m.Result()
	near(t, "I", parts.Integrated, whole.Integrated, 1e-9)
	near(t, "TP", parts.TruePeak, whole.TruePeak, 0)
	if parts.Duration != 3*time.Second {
		t.Errorf("duration %v", parts.Duration)
	}
}

// The meter skips what cannot be a peak; it must never skip one.
func TestTruePeakIsThatOfTheWholeSignalOversampled(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		x := noise(rng, 5000)
		in := newInterpolator()
		want := float32(0)
		for c := range 2 {
			plane := make([]float32, taps)
			for i := c; i < len(x); i += 2 {
				plane = append(plane, x[i])
			}
			plane = append(plane, make([]float32, taps)...)
			for i := 0; i+taps <= len(plane); i++ {
				want = max(want, abs(plane[i]), in.between((*[taps]float32)(plane[i:])))
			}
		}
		near(t, "TP", measure(x).TruePeak, decibels(float64(want)), 0)
	}
}

func TestShortAndSilentAudioIsMeasuredByWhatThereIs(t *testing.T) {
	for _, seconds := range []float64{0.05, 0.26, 0.3, 0.399} {
		m := measure(tone(part{-14, seconds}))
		if m.Gated {
			t.Errorf("%v s: gated", seconds)
		}
		near(t, "I of a short tone", m.Integrated, -14, 0.35)
	}
	for _, x := range [][]float32{nil, make([]float32, 2*rate)} {
		m := measure(x)
		if !math.IsInf(m.Integrated, -1) || !math.IsInf(m.TruePeak, -1) || m.Range != 0 {
			t.Errorf("silence: %+v", m)
		}
		if begin, end := m.Sound(30); begin != 0 || end != 0 {
			t.Errorf("silence sounds from %v to %v", begin, end)
		}
	}
	nan := tone(part{-20, 2})
	nan[rate] = float32(math.NaN())
	nan[rate+3] = float32(math.Inf(1))
	if m := measure(nan); math.IsNaN(m.Integrated) {
		t.Error("one bad sample spoils the whole")
	}
}

func TestSoundIsFoundBetweenSilencesAndPastAClick(t *testing.T) {
	x := tone(part{nothing, 1.5}, part{-20, 4}, part{-80, 2})
	x[rate/2], x[rate/2+1] = 0.5, 0.5 // a click in the first silence
	begin, end := measure(x).Sound(30)
	if (begin-1500*time.Millisecond).Abs() > 20*time.Millisecond || (end-5500*time.Millisecond).Abs() > 20*time.Millisecond {
		t.Errorf("sound from %v to %v", begin, end)
	}
	if begin, end := measure(tone(part{-20, 2})).Sound(30); begin > 10*time.Millisecond || end < 1990*time.Millisecond {
		t.Errorf("sound all through: from %v to %v", begin, end)
	}
}

func limit(x []float32, gain, ceiling float64) ([]float32, *Limiter) {
	l := NewLimiter(rate, 2, gain, ceiling)
	var out []float32
	for rest := x; len(rest) > 0; {
		n := min(len(rest), 2*777)
		out = append(out, l.Process(rest[:n])...)
		rest = rest[n:]
	}
	return append(out, l.Flush()...), l
}

func TestLimiterHoldsTheCeilingAndMovesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 10 {
		x := noise(rng, rate+rng.IntN(5000))
		gain, ceiling := 20*rng.Float64(), -6*rng.Float64()
		y, l := limit(x, gain, ceiling)
		if len(y) != len(x) {
			t.Fatalf("%d samples became %d", len(x), len(y))
		}
		if tp := measure(y).TruePeak; tp > ceiling+0.05 {
			t.Errorf("gain %.1f dB: %.3f dBTP over the ceiling of %.3f", gain, tp, ceiling)
		}
		factor, lowest := math.Pow(10, gain/20), math.Pow(10, -l.Reduction()/20)
		for i, v := range x { // every sample is its own, turned down by no more than it says
			whole := float64(v) * factor
			if r := float64(y[i]) / whole; v != 0 && (r > 1+1e-5 || r < lowest-1e-5) {
				t.Fatalf("sample %d: %g became %g", i, whole, y[i])
			}
		}
	}
}

func TestLimiterOnlyMultipliesWhatFits(t *testing.T) {
	x := tone(part{-20, 2})
	y, l := limit(x, 6, -2)
	for i, v := range x {
		if want := v * l.gain; y[i] != want {
			t.Fatalf("sample %d: %g, want %g", i, y[i], want)
		}
	}
	if l.Reduction() != 0 {
		t.Errorf("reduced by %v dB", l.Reduction())
	}
}

// The limiter's loss of loudness is predicted without running it.
func TestPredictedLoudnessBehindTheLimiter(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	// Drum-like: decaying noise twice a second over a steady tone.
	x := tone(part{-30, 20})
	for i := range x {
		beat := float64(i/2%(rate/2)) / rate
		x[i] += float32(0.9 * math.Exp(-beat*30) * (2*rng.Float64() - 1))
	}
	m := measure(x)
	for _, gain := range []float64{3, 6, 10} {
		y, _ := limit(x, gain, -2.5)
		near(t, "predicted I", m.Limited(gain, -2.5), measure(y).Integrated, 0.5)
	}
}
