package media

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/station"
)

// Every category has a bound, a file at it passes, and one over it does not.
func TestEveryCategoryHasItsLongest(t *testing.T) {
	want := map[station.Category]time.Duration{
		"arabic_hits": 3 * time.Hour, "english": 3 * time.Hour, "social": 3 * time.Hour, "mashups": 6 * time.Hour, "news": 2 * time.Hour,
		"ads": 10 * time.Minute, "shorts": 10 * time.Minute, "jingles": 5 * time.Minute, "sweepers": 5 * time.Minute, "sfx": 5 * time.Minute,
	}
	for _, c := range station.Categories() {
		for off, fits := range map[time.Duration]bool{0: true, 1: false} {
			if err := fitsIn(c, &audiofile.Info{SampleRate: 44100, Duration: want[c] + off}); (err == nil) != fits {
				t.Errorf("%s of %v: %v", c, want[c]+off, err)
			}
		}
		if want[c] >= longestAny {
			t.Errorf("%s is not decoded to its bound", c)
		}
	}
}
