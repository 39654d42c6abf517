package rotation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/station"
)

// An entry says why it was chosen, out of how many, and what was passed over
// by which rule.
func TestAnEntrySaysWhyItWasChosen(t *testing.T) {
	song := func(c station.Category, path, artist string) station.Track {
		return station.Track{Path: path, Category: c, Artist: artist, Duration: 4 * time.Minute}
	}
	only := func(split map[station.Category]float64) Config {
		cfg := DefaultConfig()
		cfg.GenreSplit, cfg.MashupChance, cfg.Rotation.BufferMax = split, 0, 1
		return cfg
	}
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	arabic := map[station.Category]float64{station.ArabicHits: 1}
	hits := func(paths ...string) (out []station.Track) {
		for _, p := range paths {
			out = append(out, song(station.ArabicHits, p, "artist of "+p))
		}
		return out
	}
	for name, tc := range map[string]struct {
		tracks []station.Track
		cfg    Config
		plays  []Play
		path   string
		why    Why
	}{
		"by the rules": {
			append(hits("free", "fresh1", "fresh2", "cool"), song(station.ArabicHits, "same", "artist of cool")), only(arabic),
			[]Play{{Path: "fresh1", At: ago(2 * time.Hour)}, {Path: "fresh2", At: ago(2 * time.Hour)}, {Path: "cool", At: ago(5 * time.Minute)}},
			"free", Why{"not aired of late; one of 5 in arabic_hits", station.ArabicHits, 5, []Passed{{Cooldown, 1, "cool"}, {FreshWindow, 2, "fresh1"}, {ArtistGap, 1, "same"}}},
		},
		"by its turn": {
			hits("three", "two"), only(arabic), []Play{{"three", ago(11 * time.Hour), 3}, {"two", ago(10 * time.Hour), 2}},
			"two", Why{"turn 3; one of 2 in arabic_hits", station.ArabicHits, 2, []Passed{{Turnover, 1, "three"}}},
		},
		"what was best at first is passed over too": {
			hits("a", "b"), only(arabic), []Play{{"a", ago(2 * time.Hour), 1}}, "b",
			Why{"not aired of late; one of 2 in arabic_hits", station.ArabicHits, 2, []Passed{{FreshWindow, 1, "a"}}},
		},
	} {
		rot := Build(Request{Index: NewIndex(tc.tracks), Config: tc.cfg, State: State{}.RememberAll(tc.plays), Now: noon, Seed: 1})
		e := rot.Entries[0]
		if e.Track.Path != tc.path {
			t.Errorf("%s: %s was chosen", name, e.Track.Path)
		}
		if d := cmp.Diff(tc.why, e.Why); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	// A category that cannot serve is stood in for, and the entry says by what.
	for other, reason := range map[station.Category]string{
		station.ArabicHits: "supplement from arabic_hits: english is short of tracks", station.Social: "social in place of english, which is short of tracks",
	} {
		heard := song(station.English, "heard", "a")
		r := Request{
			Index: NewIndex([]station.Track{heard, song(other, "other", "b")}), Config: only(map[station.Category]float64{station.English: 1, other: 1}), Now: noon,
			State: State{LastTrackPlayed: heard.Path}.Remember(heard.Path, ago(time.Minute)),
		}
		said := false
		for r.Seed = range uint64(600) {
			if e := Build(r).Entries[0]; e.Why.Wanted == station.English {
				said = said || e.Why.Reason == reason
				if e.Why.Reason != reason || e.Why.Considered != 2 {
					t.Errorf("%s for english: %+v", other, e.Why)
				}
			}
		}
		if !said {
			t.Errorf("english was never asked for beside %s", other)
		}
	}
}
