package loudness_test

import (
	"math"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/loudness"
)

// tone is an interleaved stereo tone on an offset.
func tone(rate int, seconds, hz, level, left, right float64) []float32 {
	var out []float32
	for i := range int(seconds * float64(rate)) {
		v := level * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))
		out = append(out, float32(v+left), float32(v+right))
	}
	return out
}

func TestOffsetIsFoundAndBassIsNone(t *testing.T) {
	const rate = 44100
	for name, c := range map[string]struct {
		sound []float32
		want  bool
	}{
		"both channels":  {tone(rate, 12, 440, 0.3, 0.05, 0.05), true},
		"one channel":    {tone(rate, 12, 440, 0.3, 0, -0.02), true},
		"short":          {tone(rate, 0.4, 440, 0.3, 0.05, 0.05), true},
		"none":           {tone(rate, 12, 440, 0.3, 0, 0), false},
		"bass":           {tone(rate, 12.3, 31.7, 0.9, 0, 0), false},
		"a short thud":   {tone(rate, 0.31, 51.7, 0.9, 0, 0), false},
		"only at an end": {append(tone(rate, 31, 440, 0.3, 0, 0), tone(rate, 12, 440, 0.3, 0.03, 0.03)...), true},
	} {
		m := loudness.NewMeter(rate, loudness.Stereo)
		m.Write(c.sound)
		if r := m.Result(); r.Displaced() != c.want {
			t.Errorf("%s: displaced is %v at %.4f of %v", name, r.Displaced(), r.Offset, r.Duration.Round(time.Millisecond))
		}
	}
}

// What comes out begins and ends about zero, without the jump of a filter that has
// never seen the offset, and what can be heard is as it was.
func TestBlockerRemovesAnOffsetWithoutAClickAndLeavesTheRest(t *testing.T) {
	const rate = 44100
	for _, seconds := range []float64{0.05, 3} {
		in := tone(rate, seconds, 100, 0.25, 0.1, -0.05)
		b := loudness.NewBlocker(rate, 2)
		var out []float32
		for at := 0; at < len(in); at += 999 * 2 {
			out = append(out, b.Process(in[at:min(len(in), at+999*2)])...)
		}
		if out = append(out, b.Flush()...); len(out) != len(in) {
			t.Fatalf("%d of %d samples came out", len(out), len(in))
		}
		worst := 0.0
		want := tone(rate, seconds, 100, 0.25, 0, 0)
		for i, v := range out {
			worst = max(worst, math.Abs(float64(v-want[i])))
		}
		// A tone of 100 Hz is turned by 6 degrees, a tenth of its level, and settles. A
		// filter that starts from silence begins at 0.1.
		if first := math.Abs(float64(out[0])); first > 0.01 || worst > 0.06 {
			t.Errorf("%v s: begins at %.4f, at most %.4f off", seconds, first, worst)
		}
	}
}
