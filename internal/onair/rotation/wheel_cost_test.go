package rotation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/station"
)

// Steps whose category holds nothing add no entry and are gone through again
// and again: what lies beyond the hour is laid out once, not for each of them.
func TestStepsThatHoldNothingDoNotLayOutTheNextHour(t *testing.T) {
	cfg := DefaultConfig()
	x := NewIndex(withoutNews(library(typical(300), 1)))
	allocations := func(steps int) float64 {
		cfg.Clocks = clocksOf(t, fmt.Sprintf(`[{"name": "a", "hour": [{"category": "music"}%s]}]`, strings.Repeat(`, {"category": "news"}`, steps)))
		return testing.AllocsPerRun(1, func() {
			if rot := Build(Request{Index: x, Config: cfg, Now: noon, Seed: 1}); len(rot.Entries) != cfg.Rotation.BufferMax {
				t.Fatalf("%d entries", len(rot.Entries))
			}
		})
	}
	if few, many := allocations(4), allocations(400); many > 2*few {
		t.Errorf("%.0f allocations with 4 empty steps, %.0f with 400", few, many)
	}
}

func withoutNews(tracks []station.Track) []station.Track {
	return slices.DeleteFunc(tracks, func(t station.Track) bool { return t.Category == station.News })
}
