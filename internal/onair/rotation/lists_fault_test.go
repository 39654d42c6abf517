package rotation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

// ofCategory returns the paths of a category.
func ofCategory(tracks []station.Track, c station.Category, most int) (paths []string) {
	for _, t := range tracks {
		if t.Category == c && len(paths) < most {
			paths = append(paths, t.Path)
		}
	}
	return paths
}

// Up to a timed event the only step that must bring something is a playlist of station
// identifications, for which at last no room is left.
func TestAPlaylistOfImagingBeforeAnEventLeavesTheRestToMusic(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Clocks = clocksOf(t, `[{"name": "c", "hour": [{"category": "playlist", "list": "ids", "count": 5}, {"category": "sfx"}, {"category": "ads", "at": "30:00"}, {"category": "music", "count": 3}]}]`)
	tracks := library(typical(200), 1)
	for i := range tracks {
		if !tracks[i].Category.Music() {
			tracks[i].Duration = 50 * time.Second
		}
	}
	l := List{ID: 1, Name: "ids", Plays: PlaysClock, Order: OrderSequence}
	for _, c := range []station.Category{station.Shorts, station.Jingles, station.Sweepers} {
		l.Paths = ofCategory(tracks, c, 6)
		rot := Build(Request{Index: NewIndex(tracks), Config: cfg, Now: noon, Seed: 1, Lists: []List{l}})
		if len(rot.Entries) != cfg.Rotation.BufferMax {
			t.Errorf("%s: %d entries", c, len(rot.Entries))
		}
		if !slices.ContainsFunc(rot.Entries, func(e Entry) bool { return e.List == 1 }) {
			t.Errorf("%s: nothing of the playlist", c)
		}
	}
}

// Whatever a clock asks for and whatever the playlists have, a build ends, with something to play.
func TestABuildEndsWhateverItsPlaylistsBring(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := DefaultConfig()
		cfg.Rotation.BufferMax = rapid.IntRange(5, 120).Draw(t, "buffer")
		tracks := library(typical(rapid.IntRange(1, 120).Draw(t, "songs")), 1)
		length := rapid.SampledFrom([]time.Duration{-1, 0, time.Second, 50 * time.Second, 4 * time.Minute, 3 * time.Hour}).Draw(t, "length")
		limited := rapid.IntRange(2, 20).Draw(t, "limited")
		for i := range tracks {
			if length >= 0 && !tracks[i].Category.Music() {
				tracks[i].Duration = length
			}
			if i%limited == 1 {
				tracks[i].Own = &station.Own{Limits: limitsOf(t)}
			}
		}
		kinds := []station.Category{station.Shorts, station.Jingles, station.Sweepers, station.SFX, station.Ads, station.News, station.English}
		var lists []List
		names := []string{"gone"}
		for i := range rapid.IntRange(1, 4).Draw(t, "lists") {
			l := anyList(t, i, tracks)
			if rapid.Bool().Draw(t, "imaging") {
				l.Plays, l.When = PlaysClock, nil
				l.Paths = ofCategory(tracks, rapid.SampledFrom(kinds).Draw(t, "of"), rapid.IntRange(0, 6).Draw(t, "tracks"))
			}
			lists, names = append(lists, l), append(names, l.Name)
		}
		clock := HourClock{Name: "c"}
		last := Offset(-1)
		for range rapid.IntRange(1, 6).Draw(t, "positions") {
			pos := Position{Category: listCategory, List: rapid.SampledFrom(names).Draw(t, "list")}
			if rapid.IntRange(0, 4).Draw(t, "other") == 0 {
				pos = Position{Category: rapid.SampledFrom([]string{anyMusic, anyBreak, "jingles", "news", "ads", "english"}).Draw(t, "category")}
			}
			if at := last + Offset(rapid.IntRange(1, 1500).Draw(t, "after")); pos.Category != anyBreak && at < 3600 && rapid.IntRange(0, 2).Draw(t, "timed") == 0 {
				pos.At, last = &at, at
			} else {
				pos.Count = rapid.SampledFrom([]int{0, 1, 5, 60}).Draw(t, "count")
			}
			clock.Hour = append(clock.Hour, pos)
		}
		cfg.Clocks = []HourClock{clock}
		if err := cfg.Validate(); err != nil {
			t.Fatal(err)
		}
		now := noon.Add(time.Duration(rapid.IntRange(0, 24*60*60).Draw(t, "now")) * time.Second)
		rot := Build(Request{Index: NewIndex(tracks), Config: cfg, Now: now, Seed: rapid.Uint64().Draw(t, "seed"), Lists: lists})
		if n := len(rot.Entries); n == 0 || n > cfg.Rotation.BufferMax {
			t.Fatalf("%d entries, want up to %d", n, cfg.Rotation.BufferMax)
		}
	})
}

// A clock finds a playlist by the form in which names are unique, one of punctuation by its bytes.
func TestAClockFindsAPlaylistByItsFoldedName(t *testing.T) {
	for _, tc := range []struct {
		list, clock string
		found       bool
	}{{"أغاني الصَّباح", "اغانى الصباح", true}, {"Friday Jazz", "friday  jazz", true}, {"***", "***", true}, {"***", "!!!", false}, {"a", "b", false}} {
		cfg := DefaultConfig()
		tracks, paths := withOwn(100, 5, &cfg)
		cfg.Clocks = []HourClock{{Name: "c", Hour: []Position{{Category: listCategory, List: tc.clock}}}}
		rot := Build(Request{Index: NewIndex(tracks), Config: cfg, Now: noon, Lists: []List{{ID: 1, Name: tc.list, Plays: PlaysClock, Order: OrderSequence, Paths: paths}}})
		if got := rot.Entries[0].List == 1; got != tc.found {
			t.Errorf("%q for %q: found %t", tc.clock, tc.list, got)
		}
	}
}

// Many that the library lacks, or that are out of season, do not hold up a playlist for good.
func TestAPlaylistGetsPastManyThatMayNotAir(t *testing.T) {
	for _, plays := range []ListPlays{PlaysOnly, PlaysOnce} {
		for _, missing := range []bool{true, false} {
			for _, order := range []ListOrder{OrderSequence, OrderShuffle} {
				cfg := DefaultConfig()
				cfg.Rotation.BufferMax = 20
				tracks, paths := withOwn(100, 3000, &cfg)
				for i := range tracks {
					if tracks[i].Category == station.Social && tracks[i].Path != paths[2999] && tracks[i].Path != paths[2998] {
						tracks[i].Own = &station.Own{Limits: station.Limits{Until: 20250101}}
						if missing {
							tracks[i].Path = fmt.Sprintf("elsewhere/%d.mp3", i)
						}
					}
				}
				l := List{ID: 1, Name: "a", Plays: plays, Order: order, Paths: paths}
				if plays == PlaysOnce {
					l.When = []Window{{Start: 12 * 60, End: 13 * 60}}
				}
				rot := Build(Request{Index: NewIndex(tracks), Config: cfg, Now: noon.Add(time.Second), Seed: 1, Lists: []List{l}})
				aired := map[string]bool{}
				for _, e := range rot.Entries {
					if e.List == 1 {
						aired[e.Track.Path] = true
					}
				}
				if !aired[paths[2998]] || !aired[paths[2999]] {
					t.Errorf("%s, missing %t, %s: aired %v", plays, missing, order, aired)
				}
			}
		}
	}
}

// Of a long random order some may not air for long: neither they nor what came before them is
// remembered without bound, and all the others are heard before any repeats.
func TestARandomOrderDoesNotWaitForWhatMayNotAir(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Rotation.MinRest = 0
	tracks, paths := withOwn(100, 400, &cfg)
	for i := range tracks {
		if i%5 == 0 {
			tracks[i].Own = &station.Own{Limits: station.Limits{Until: 20250101}}
		}
	}
	closed := map[string]bool{}
	for _, tr := range tracks {
		closed[tr.Path] = tr.Own != nil
	}
	may := len(slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return closed[path] }))
	if may == len(paths) {
		t.Fatal("all of it may air")
	}
	tx := newTransmitter(tracks, cfg, 4, List{ID: 7, Name: "a", Paths: paths, Plays: PlaysOnly, Order: OrderShuffle})
	tx.built = 5
	most := 0
	for range 60 {
		tx.air(tx.now.Add(time.Hour))
		most = max(most, len(tx.st.Lists[7].Ahead))
	}
	if limit := listRemembered + cfg.Rotation.BufferMax; most > limit {
		t.Errorf("%d are remembered, of %d", most, limit)
	}
	heard := map[int]map[string]bool{}
	for i, h := range tx.log {
		if h.List != 7 {
			continue
		}
		of := heard[h.Place.Cycle]
		if of == nil {
			of = map[string]bool{}
			heard[h.Place.Cycle] = of
		}
		if of[h.Track.Path] {
			t.Fatalf("entry %d: %s again in order %d", i, h.Track.Path, h.Place.Cycle)
		}
		of[h.Track.Path] = true
	}
	if len(heard) < 2 || len(heard[0]) != may {
		t.Errorf("%d random orders, %d heard of the first, want %d", len(heard), len(heard[0]), may)
	}
}

// What was heard whole from the start of a window within another is not heard again when the inner
// one closes; it is after a clock was set back by a day.
func TestOnceIsOnceInWindowsThatOverlap(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Rotation.MinRest = 0
	tracks, paths := withOwn(200, 4, &cfg)
	l := List{ID: 1, Name: "show", Paths: paths, Plays: PlaysOnce, When: []Window{{Start: 12 * 60, End: 15 * 60}, {Start: 13 * 60, End: 13*60 + 30}}}
	tx := newTransmitter(tracks, cfg, 1, l)
	tx.air(noon.Add(3 * time.Hour))
	of := func(log []heardEntry) (n int) {
		for _, h := range log {
			if h.List == 1 {
				n++
			}
		}
		return n
	}
	if n := of(tx.log); n != 2*len(paths) {
		t.Errorf("%d of it were heard, want it whole at 12 and at 13", n)
	}
	st := State{}.ofList(1, func(ListState) ListState {
		return ListState{Index: 3, Path: paths[3], From: noon.AddDate(0, 0, 1), At: noon.AddDate(0, 0, 1)}
	})
	if rot := Build(Request{Index: NewIndex(tracks), Config: cfg, State: st, Now: noon.Add(time.Minute), Lists: []List{l}}); rot.Entries[0].Track.Path != paths[0] {
		t.Errorf("after the clock was set back %s comes first", rot.Entries[0].Track.Path)
	}
}

// Windows of whole days are one stretch: songs are counted over midnight.
func TestSongsAreCountedOverMidnight(t *testing.T) {
	cfg := DefaultConfig()
	tracks, paths := withOwn(200, 4, &cfg)
	now := time.Date(2026, 5, 5, 0, 30, 0, 0, cairo)
	songs := ofCategory(tracks, station.English, 90)
	if len(songs) == 0 {
		t.Fatal("no songs")
	}
	st := State{}.ofList(1, func(ListState) ListState { return ListState{Path: paths[0], At: now.Add(-7 * time.Hour), Aired: 1} })
	for i := range 90 {
		st = st.Remember(songs[i%len(songs)], now.Add(-time.Duration(90-i)*4*time.Minute))
	}
	for name, tc := range map[string]struct {
		when  []Window
		first bool
	}{"whole days": {[]Window{{}}, true}, "before and after midnight": {[]Window{{Start: 0, End: 12 * 60}, {Start: 12 * 60, End: 24 * 60}}, true}, "since midnight": {[]Window{{Start: 0, End: 12 * 60}}, false}} {
		l := List{ID: 1, Name: "a", Paths: paths, Plays: PlaysSongs, Every: 90, Order: OrderSequence, When: tc.when}
		rot := Build(Request{Index: NewIndex(tracks), Config: cfg, State: st, Now: now, Seed: 1, Lists: []List{l}})
		if got := rot.Entries[0].List == 1; got != tc.first {
			t.Errorf("%s: first %t", name, got)
		}
	}
}
