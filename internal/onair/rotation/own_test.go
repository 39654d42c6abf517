package rotation

import (
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// limited gives every n-th track limits of its own, in turn.
func limited(tracks []station.Track, every int, limits ...station.Limits) []station.Track {
	for i := range tracks {
		if i%every == 0 {
			tracks[i].Own = &station.Own{Limits: limits[i/every%len(limits)]}
		}
	}
	return tracks
}

// A week of air keeps the limits of each track, songs and imaging alike, and these air
// nonetheless; the others go on to air alike.
func TestAWeekOfAirKeepsEachTracksOwnLimits(t *testing.T) {
	cfg := DefaultConfig()
	for seed := range uint64(3) {
		tracks := limited(library(typical(300), seed), 7,
			station.Limits{From: 20260506}, station.Limits{Until: 20260506}, station.Limits{From: 20260505, Until: 20260507},
			station.Limits{Hours: 1<<22 | 1<<23 | 1<<0}, station.Limits{PerDay: 1}, station.Limits{Rest: 50 * time.Hour}, station.Limits{From: 20270101})
		log := broadcast(NewIndex(tracks), cfg, noon, 7, seed*1000)
		starts := map[string][]time.Time{}
		for _, a := range log {
			own := a.Track.Own
			if own == nil || a.Track.Category == station.News {
				continue
			}
			before := starts[a.Track.Path]
			starts[a.Track.Path] = append(before, a.at)
			l := own.Limits
			// What was planned for one hour may be heard in the next: a list is some hours long.
			if !l.Open(a.at) && !l.Open(a.at.Add(-10*time.Minute)) && !l.Open(a.at.Add(10*time.Minute)) {
				t.Errorf("seed %d: %s aired at %s, beyond %+v", seed, a.Track.Path, a.at, l)
			}
			for _, at := range before {
				if since := a.at.Sub(at); since < l.Rest-10*time.Minute || l.PerDay > 0 && since < 24*time.Hour-10*time.Minute {
					t.Errorf("seed %d: %s aired again after %s, beyond %+v", seed, a.Track.Path, since, l)
				}
			}
			if slices.Contains(a.Relaxed, TrackLimits) {
				t.Errorf("seed %d: the planner let %s break its limits", seed, a.Track.Path)
			}
		}
		for _, track := range tracks {
			if track.Own != nil && track.Category.Music() && track.Own.Limits.From != 20270101 && len(starts[track.Path]) == 0 {
				t.Errorf("seed %d: %s never aired within %+v", seed, track.Path, track.Own.Limits)
			}
		}
		checkRules(t, cfg, log)
		plays := map[string]int{}
		for _, track := range tracks {
			if track.Category == station.ArabicHits && track.Own == nil {
				plays[track.Path] = 0
			}
		}
		for _, a := range log {
			if _, counts := plays[a.Track.Path]; counts {
				plays[a.Track.Path]++
			}
		}
		least, most := 1<<20, 0
		for _, n := range plays {
			least, most = min(least, n), max(most, n)
		}
		if most-least > 3 {
			t.Errorf("seed %d: songs without limits aired %d to %d times", seed, least, most)
		}
	}
}

// Where nothing else could air, a track airs beyond its limits, and the entry says so.
func TestALibraryThatMayNotAirIsNotSilent(t *testing.T) {
	tracks := limited(library(shelf{station.English: 20}, 1), 1, station.Limits{From: 20270101})
	rot := Build(Request{Index: NewIndex(tracks), Config: DefaultConfig(), Now: noon, Seed: 1})
	if len(rot.Entries) == 0 {
		t.Fatal("silence")
	}
	for _, e := range rot.Entries {
		if !slices.Contains(e.Relaxed, TrackLimits) {
			t.Fatalf("an entry does not say what it breaks: %v", e.Relaxed)
		}
	}
}
