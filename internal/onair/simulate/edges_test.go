package simulate

import (
	"fmt"
	"slices"
	"testing"
	"time"

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

// The window of English alone stays English, however few songs there are, and does not
// repeat them sooner than it must; without any, the mix goes on and says so.
func TestTheEnglishNightStaysEnglish(t *testing.T) {
	all, names := Synthetic(378, 3)
	for _, tc := range []struct {
		songs int
		rest  time.Duration // between two plays of a song in one night, at the least
	}{{0, 0}, {1, 2 * time.Minute}, {3, 8 * time.Minute}, {10, 25 * time.Minute}, {30, 30 * time.Minute}} {
		t.Run(fmt.Sprint(tc.songs, " songs"), func(t *testing.T) {
			library := AtMost(all, station.English, tc.songs)
			o := Options{Library: library, Zone: zone(t), Config: rotation.DefaultConfig(), Days: 7, Seed: 1}
			r, err := Run(o)
			if err != nil {
				t.Fatal(err)
			}
			night, strangers, last := 0, 0, map[string]time.Time{}
			for _, a := range r.Log {
				was, again := last[a.Track.Path]
				last[a.Track.Path] = a.At
				if h := a.At.Hour(); h < 2 || h >= 5 || !a.Track.Category.Music() {
					continue
				}
				night++
				said := slices.Contains(a.Relaxed, rotation.HardGate)
				if a.Track.Category != station.English {
					strangers++
				}
				if said != (a.Track.Category != station.English) {
					t.Errorf("%s: %s relaxes %v", a.At, a.Track.Path, a.Relaxed)
				}
				if again && a.At.Sub(was) < tc.rest {
					t.Errorf("%s: %s again after %s", a.At, a.Track.Path, a.At.Sub(was))
				}
			}
			if tc.songs > 0 && strangers > 0 || tc.songs == 0 && strangers != night || night < 7*25 {
				t.Errorf("%d of %d songs at night are not English", strangers, night)
			}
			for _, f := range Judge(r, o.Config, names).Findings {
				t.Error(f)
			}
		})
	}
}
