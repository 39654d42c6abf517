package score

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/athir-radio/athir/internal/sound/synth"
)

func chance(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func same(a, b synth.Sound) bool {
	if a.Frames() != b.Frames() {
		return false
	}
	for i := range a[0] {
		if a[0][i] != b[0][i] || a[1][i] != b[1][i] {
			return false
		}
	}
	return true
}

// power of a part of a sound, from and to in seconds.
func power(s synth.Sound, from, to float64) float64 {
	var sum float64
	a, b := synth.Frames(from), min(synth.Frames(to), s.Frames())
	for i := a; i < b; i++ {
		sum += float64(s[0][i])*float64(s[0][i]) + float64(s[1][i])*float64(s[1][i])
	}
	return sum / float64(max(1, b-a))
}

func TestBedsKeepTheirBeatAndEndOnAHit(t *testing.T) {
	for seed := range uint64(4) {
		mood := Mood(seed % 2)
		bed := Play(mood, 8.7, chance(seed))
		if got := bed.Sound.Seconds(); math.Abs(got-8.7) > 0.001 {
			t.Errorf("seed %d: %.3f s", seed, got)
		}
		period := bed.Beats[1] - bed.Beats[0]
		for i, at := range bed.Beats {
			if math.Abs(at-bed.Beats[0]-float64(i)*period) > 1e-9 {
				t.Errorf("seed %d: beat %d at %.4f", seed, i, at)
			}
		}
		if tempo := 60 / period; tempo < 84 || tempo > 128 {
			t.Errorf("seed %d: %.0f beats a minute", seed, tempo)
		}
		end := bed.Beats[len(bed.Beats)-1]
		if rest := bed.Sound.Seconds() - end; rest < 1 || rest > 1.6 {
			t.Errorf("seed %d: the last hit has %.2f s to ring out", seed, rest)
		}
		if power(bed.Sound, end, end+0.08) < 2*power(bed.Sound, end-0.03, end-0.005) {
			t.Errorf("seed %d: nothing is struck at the last hit", seed)
		}
		if bed.Sound.Peak() > 1 || power(bed.Sound, 8.68, 8.7) > 1e-4 {
			t.Errorf("seed %d: peak %.2f, %.5f at its end", seed, bed.Sound.Peak(), power(bed.Sound, 8.68, 8.7))
		}
		// No hole anywhere: what is spoken over is music all the way.
		for at := 0.1; at < end; at += 0.25 {
			if power(bed.Sound, at, at+0.25) < 1e-4 {
				t.Errorf("seed %d: silent at %.2f s", seed, at)
			}
		}
	}
	if !same(Play(Bright, 6, chance(5)).Sound, Play(Bright, 6, chance(5)).Sound) {
		t.Error("the same chance played something else")
	}
	if same(Play(Bright, 6, chance(5)).Sound, Play(Bright, 6, chance(6)).Sound) {
		t.Error("another chance played the same")
	}
}

func TestASignatureIsTheStationsOwnAndStaysTheSame(t *testing.T) {
	ours := SignatureOf("أَثِيرْ")
	if again := SignatureOf("أَثِيرْ"); again.degrees != ours.degrees || again.times != ours.times || again.tonic != ours.tonic {
		t.Error("a station's signature changed")
	}
	different := 0
	for _, other := range []string{"نجوم", "Radio Nile", "أثير ٢", "X"} {
		s := SignatureOf(other)
		if s.degrees != ours.degrees || s.times != ours.times || s.tonic != ours.tonic {
			different++
		}
		if s.Last() < 0.4 || s.Last() > 1.6 {
			t.Errorf("%s: its last note comes at %.2f s", other, s.Last())
		}
	}
	if different != 4 {
		t.Errorf("%d of 4 other stations have a signature of their own", different)
	}
	if sound := ours.Play(4.5, 3.2, chance(1)); math.Abs(sound.Seconds()-4.5) > 0.001 || sound.Peak() > 1 || power(sound, 0.05, 0.4) < 1e-4 {
		t.Errorf("%.2f s with a peak of %.2f", sound.Seconds(), sound.Peak())
	}
}

func TestATakhtPlaysOnToItsCloseAndTheSameAgain(t *testing.T) {
	piece := Takht{Scale: Hijaz(), Tonic: 146.8, Rhythm: Maqsum, Tempo: 120, Bars: 10}
	sound := piece.Play(chance(3))
	want := 6 + 10*2.0 + 3 // an opening, ten bars of two seconds, the ring
	if math.Abs(sound.Seconds()-want) > 0.001 || power(sound, want-0.02, want) > 1e-4 {
		t.Errorf("%.2f s, %.5f at its end", sound.Seconds(), power(sound, want-0.02, want))
	}
	for at := 0.2; at < want-3; at += 0.5 {
		if power(sound, at, at+0.5) < 1e-4 {
			t.Errorf("silent at %.1f s", at)
		}
	}
	if !same(sound, piece.Play(chance(3))) {
		t.Error("the same chance played something else")
	}
	if clock := Clock(8, chance(1)); math.Abs(clock.Seconds()-8) > 0.001 || power(clock, 4, 5) < 1e-4 {
		t.Error("the clock stands still")
	}
}
