package simulate

import (
	"fmt"
	"testing"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// month airs thirty days of a library.
func month(t *testing.T, library []station.Track, names Names) Report {
	t.Helper()
	o := Options{Library: library, Zone: zone(t), Config: rotation.DefaultConfig(), Days: 30, Seed: 1}
	r, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	rep := Assess(o, r, names)
	t.Logf("%d entries, Gini of a week %.3f, of the month %.3f, plays %d to %d, %v, relaxed %v", rep.Entries,
		rep.Songs7.Gini, rep.Music.Gini, rep.Music.Min, rep.Music.Max, rep.Verdict.Violations, rep.Verdict.Relaxed)
	for _, f := range rep.Verdict.Findings {
		t.Log(f)
	}
	return rep
}

// An artist who sings half of the music has twice as many songs as fit between artist
// gaps of half an hour: the gap follows the share, and all songs air alike.
func TestHalfTheCatalogueByOneArtistAirsAlike(t *testing.T) {
	all, names := Synthetic(378, 1)
	for name, tc := range map[string]struct {
		part float64
		of   []station.Category
	}{
		"a quarter of each deck": {part: 0.25},
		"half of each deck":      {part: 0.5},
		"most of one deck":       {part: 0.8, of: []station.Category{station.ArabicHits}},
	} {
		t.Run(name, func(t *testing.T) {
			library, artists := OneVoice(all, names, tc.part, tc.of...)
			r := month(t, library, artists)
			if r.Music.Gini > 0.10 || r.Songs7.Gini > 0.10 {
				t.Errorf("Gini %.3f in a week, %.3f in a month, want at most 0.10", r.Songs7.Gini, r.Music.Gini)
			}
			if n := r.Verdict.Total(); n > 0 {
				t.Errorf("%d violations", n)
			}
			if r.Error > TargetShare {
				t.Errorf("shares are %.2f points off", r.Error)
			}
		})
	}
}

// Where the mix asks for as much of each category as the library has, no song airs more
// often than another, whatever its deck: the English-only night counts towards the mix.
func TestAWeekOfOrdinaryMusicAirsAlike(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed+1), func(t *testing.T) {
			if r := air(t, 570, Options{Days: 7, Seed: seed + 1}); r.Songs7.Gini > 0.08 || r.Verdict.Total() > 0 {
				t.Errorf("Gini of %d songs in a week %.3f, want at most 0.08; %d violations", r.Songs7.Tracks, r.Songs7.Gini, r.Verdict.Total())
			}
		})
	}
}
