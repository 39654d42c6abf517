package guard

import (
	"math"
	"testing"
	"time"
)

func TestRestsAreTheRecordingsOwn(t *testing.T) {
	music := noise(12, 0.3)
	rest := func(s float64) []int16 { return noise(s, 0) }
	for name, c := range map[string]struct {
		pcm  []int16
		now  float64 // seconds
		want float64 // seconds until sound, as the engine plays; negative: no rest
	}{
		"music":                     {music, 10, -1},
		"in a rest":                 {join(music, rest(6), music), 15, 3},
		"near the end of a rest":    {join(music, rest(6), music), 17.9, 0.1},
		"silent for too long":       {join(music, rest(30)), 16, -1},
		"silent from the beginning": {rest(40), 4, -1},
		"a rest before the end":     {join(music, rest(5)), 15, 2},
		"just begun":                {join(music, rest(6), music), 12.3, -1},
	} {
		got := rests(c.pcm, int(c.now*Rate), -50)
		if c.want < 0 && got != 0 || c.want >= 0 && math.Abs((got-behind).Seconds()-c.want) > 0.5 {
			t.Errorf("%s: %s, want %.1f s and what the guard is behind", name, got, c.want)
		}
	}
	if !repeats(repeat(music[:Rate], 8)) || repeats(music) {
		t.Error("a recording that repeats itself is not told from one that does not")
	}
}

// Silence does not wait for an answer, a loop does.
func TestExcusesHoldForAWhile(t *testing.T) {
	x, at := &excuse{}, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	if loops, rests, asked := x.now(at); !loops || rests || asked {
		t.Error("before any answer")
	}
	x.ask()
	if _, _, asked := x.now(at); !asked {
		t.Error("asked twice")
	}
	x.answer(at, false, 4*time.Second)
	if loops, rests, asked := x.now(at.Add(3 * time.Second)); loops || !rests || !asked {
		t.Error("within the rest")
	}
	if _, rests, _ := x.now(at.Add(5 * time.Second)); rests {
		t.Error("after the rest")
	}
	if loops, _, asked := x.now(at.Add(originalEvery)); !loops || asked {
		t.Error("an answer that is old")
	}
}
