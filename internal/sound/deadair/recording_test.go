package deadair

import (
	"math"
	"testing"
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
		got := Rests(c.pcm, int(c.now*Rate), -50)
		if c.want < 0 && got != 0 || c.want >= 0 && math.Abs((got-behind).Seconds()-c.want) > 0.5 {
			t.Errorf("%s: %s, want %.1f s and what the guard is behind", name, got, c.want)
		}
	}
	if !repeats(repeat(music[:Rate], 8)) || repeats(music) {
		t.Error("a recording that repeats itself is not told from one that does not")
	}
}

// A recording that begins with its loop, as one with a beat from the first sample
// on does: the guard suspects it when hardly enough of it has been played.
func TestALoopFromTheFirstSampleIsTheRecordingsOwn(t *testing.T) {
	for _, beat := range []float64{0.3, 0.5, 0.8, 1.06, 1.37, 2} {
		recording := repeat(noise(beat, 0.3), 30)
		j, heard := NewJudge(-50), 0
		j.Add(sound(8, func(at float64) float64 { return 0.3 * math.Sin(2*math.Pi*(200+100*at)*at) }))
		for j.Verdict().Looping == 0 && heard < len(recording) {
			j.Add(recording[heard : heard+blockSize])
			heard += blockSize
		}
		if heard == len(recording) {
			t.Fatalf("a beat of %.2f s: not suspected", beat)
		}
		// The engine's clock and the guard's ear are not quite together.
		for _, off := range []float64{-0.3, 0, 0.5} {
			if !LoopsAbout(recording, heard+int(off*Rate)) {
				t.Errorf("a beat of %.2f s, %.1f s in, clock off by %.1f s: taken for a fault", beat, float64(heard)/Rate, off)
			}
		}
	}
}
