package rotation_test

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

func TestACategoryAirsWhereItsDaypartLeavesItAWeight(t *testing.T) {
	cfg := rotation.DefaultConfig()
	night, noon := time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC), time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	cfg.GenreSplit[station.Social] = 0
	for _, c := range []struct {
		category station.Category
		at       time.Time
		want     bool
	}{
		{station.English, night, true}, {station.ArabicHits, night, false}, {station.Mashups, night, false},
		{station.English, noon, true}, {station.ArabicHits, noon, true}, {station.Mashups, noon, true},
		{station.Social, noon, false}, {station.News, noon, false},
	} {
		if got := cfg.Airs(c.category, c.at); got != c.want {
			t.Errorf("%s at %s: %v", c.category, c.at.Format("15:04"), got)
		}
	}
}
