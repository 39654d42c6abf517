package rotation

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

// Whatever the playlists, the library and what happens to the rotation: nothing of a playlist
// airs right again, within its minimum rest or against its own limits.
func TestNoPlaylistBreaksTheRulesThatHoldForIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := DefaultConfig()
		cfg.Rotation.BufferMax = rapid.IntRange(10, 120).Draw(t, "buffer")
		tracks := library(typical(rapid.IntRange(60, 400).Draw(t, "songs")), 1)
		for i := range tracks {
			if i%7 == 3 {
				tracks[i].Own = &station.Own{Limits: limitsOf(t)}
			}
		}
		if rapid.Bool().Draw(t, "clock") {
			cfg.Clocks = clocksFor(t)
		}
		var lists []List
		for i := range rapid.IntRange(1, 5).Draw(t, "lists") {
			lists = append(lists, anyList(t, i, tracks))
		}
		tx := newTransmitter(tracks, cfg, rapid.Uint64().Draw(t, "seed"), lists...)
		tx.skips, tx.built = rapid.IntRange(0, 15).Draw(t, "skips"), rapid.IntRange(0, 30).Draw(t, "built")
		tx.air(noon.Add(10 * time.Hour))
		rest := newPlan(Request{Index: tx.x, Config: cfg, Now: noon}).rest
		aired := map[string][]time.Time{}
		for i, h := range tx.log {
			starts := aired[h.Track.Path]
			aired[h.Track.Path] = append(starts, h.at)
			if h.List == 0 {
				continue
			}
			if i > 0 && tx.log[i-1].Track.Path == h.Track.Path {
				t.Fatalf("entry %d at %s: %s right again, of playlist %d", i, h.at, h.Track.Path, h.List)
			}
			const crosses = 10 * time.Second // that a change of the rotation moves
			if n := len(starts); h.Annotation() == "" && n > 0 && h.at.Sub(starts[n-1]) < rest-crosses {
				t.Fatalf("entry %d at %s: %s again after %s, of playlist %d", i, h.at, h.Track.Path, h.at.Sub(starts[n-1]), h.List)
			}
			if own := h.Track.Own; own != nil {
				l := own.Limits
				if n := len(starts); l.Rest > 0 && n > 0 && h.at.Sub(starts[n-1]) < l.Rest-crosses || l.PerDay > 0 && n >= l.PerDay {
					t.Fatalf("entry %d at %s: %s against its own limits, of playlist %d", i, h.at, h.Track.Path, h.List)
				}
				if !l.Open(h.at) && !l.Open(h.at.Add(crosses)) && !l.Open(h.at.Add(-crosses)) {
					t.Fatalf("entry %d at %s: %s outside its own hours, of playlist %d", i, h.at, h.Track.Path, h.List)
				}
			}
		}
	})
}

func limitsOf(t *rapid.T) station.Limits {
	return rapid.SampledFrom([]station.Limits{{PerDay: 1}, {Rest: 2 * time.Hour}, {Hours: 1<<13 | 1<<20}, {Until: 20260101}}).Draw(t, "limits")
}

// anyList draws a playlist: any tracks, some of them twice, some that the library does not have.
func anyList(t *rapid.T, i int, tracks []station.Track) List {
	l := List{
		ID: int64(i + 1), Name: string(rune('a' + i)),
		Order: rapid.SampledFrom([]ListOrder{OrderSequence, OrderTurns, OrderShuffle}).Draw(t, "order"),
		Plays: rapid.SampledFrom([]ListPlays{PlaysClock, PlaysOnly, PlaysShare, PlaysSongs, PlaysHourly, PlaysOnce}).Draw(t, "plays"),
		Share: rapid.Float64Range(0.05, 1).Draw(t, "share"), Every: rapid.IntRange(1, 9).Draw(t, "every"), Minute: rapid.IntRange(0, 59).Draw(t, "minute"),
	}
	for range rapid.IntRange(0, 30).Draw(t, "tracks") {
		j := rapid.IntRange(0, len(tracks)).Draw(t, "track")
		if j == len(tracks) {
			l.Paths = append(l.Paths, "gone.mp3")
			continue
		}
		l.Paths = append(l.Paths, tracks[j].Path)
	}
	for range rapid.IntRange(0, 2).Draw(t, "windows") {
		l.When = append(l.When, windowOf(t))
	}
	return l
}

// evening is a window of two hours, each day.
func evening() []Window { return []Window{{Start: 20 * 60, End: 22 * 60}} }

// While a playlist has the music to itself all music is its, and it begins on time; outside its
// windows none is.
func TestInItsWindowAllMusicIsOfThePlaylist(t *testing.T) {
	for _, order := range []ListOrder{OrderSequence, OrderTurns, OrderShuffle} {
		for _, clock := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, clock %t", order, clock), func(t *testing.T) {
				cfg := DefaultConfig()
				if clock {
					cfg.Clocks = clocksOf(t, newsHour)
				}
				tracks := library(typical(400), 2)
				l := List{ID: 3, Name: "evening", Order: order, Plays: PlaysOnly, When: evening()}
				for _, tr := range tracks {
					if tr.Category == station.English && len(l.Paths) < 80 {
						l.Paths = append(l.Paths, tr.Path)
					}
				}
				tx := newTransmitter(tracks, cfg, 5, l)
				tx.skips, tx.built = 2, 10
				tx.air(noon.AddDate(0, 0, 3))
				late := listTolerance
				if clock {
					late += time.Minute // the news of the hour comes first
				}
				day, days, begins, breaks := 0, 0, 0, 0
				for i, h := range tx.log {
					inside := h.at.Hour() >= 20 && h.at.Hour() < 22
					off := h.at.Sub(time.Date(h.at.Year(), h.at.Month(), h.at.Day(), 20, 0, 0, 0, cairo))
					edge := off.Abs() <= listEarly || (off-2*time.Hour).Abs() <= listEarly
					if h.Annotation() == "" && !edge && inside != (h.List == 3) {
						t.Errorf("entry %d at %s: %s, playlist %d", i, h.at, h.Track.Path, h.List)
					}
					if inside && h.Annotation() != "" {
						breaks++
					}
					if today := h.at.YearDay(); h.List == 3 && today != day {
						if day, days = today, days+1; off >= -listTolerance && off <= late {
							begins++
						}
					}
				}
				if days != 3 || begins < days-1 {
					t.Errorf("%d of %d begin in time", begins, days)
				}
				if breaks < 3*8 {
					t.Errorf("%d elements in six hours", breaks)
				}
			})
		}
	}
}

// A playlist that plays once does so from the start of its window, from its beginning, whole and
// in order; then ordinary music plays on.
func TestAPlaylistThatPlaysOnceIsHeardWholeFromTheStart(t *testing.T) {
	late := 0
	for seed := range uint64(3) {
		cfg := DefaultConfig()
		cfg.Rotation.MinRest = 0
		tracks, paths := withOwn(300, 10, &cfg)
		tx := newTransmitter(tracks, cfg, seed, List{ID: 4, Name: "show", Paths: paths, Plays: PlaysOnce, Order: OrderShuffle, When: evening()})
		tx.built = int(seed) * 10
		tx.air(noon.AddDate(0, 0, 4))
		want, days := 0, 0
		for i, h := range tx.log {
			if h.List == 0 {
				if between := want%len(paths) > 0; between && h.Annotation() == "" {
					t.Errorf("seed %d, entry %d at %s: %s between two of the playlist", seed, i, h.at, h.Track.Path)
				}
				continue
			}
			if h.Track.Path != paths[want%len(paths)] {
				t.Fatalf("seed %d, entry %d at %s: %s, want %s", seed, i, h.at, h.Track.Path, paths[want%len(paths)])
			}
			if start := time.Date(h.at.Year(), h.at.Month(), h.at.Day(), 20, 0, 0, 0, cairo); want%len(paths) == 0 {
				if days++; h.at.Sub(start).Abs() > listTolerance {
					late++
					t.Logf("seed %d: begins at %s", seed, h.at)
				}
			}
			want++
		}
		if days != 4 {
			t.Errorf("seed %d: begun on %d days of 4", seed, days)
		}
	}
	if late > 2 { // the rotation is built anew up to the last minute
		t.Errorf("%d of 12 begin out of their tolerance", late)
	}
}

// One of a playlist comes after every so many songs, whatever happens to the rotation.
func TestAPlaylistComesAfterEverySoManySongs(t *testing.T) {
	for seed := range uint64(6) {
		cfg := DefaultConfig()
		tracks, paths := withOwn(300, 60, &cfg)
		every := 3 + int(seed)
		l := List{ID: 4, Name: "spots", Paths: paths, Plays: PlaysSongs, Every: every, Order: ListOrder([]string{"sequence", "turns", "shuffle"}[seed%3])}
		if seed >= 3 { // station identifications
			l.Paths = nil
			for _, tr := range tracks {
				if tr.Category == station.Jingles {
					l.Paths = append(l.Paths, tr.Path)
				}
			}
		}
		tx := newTransmitter(tracks, cfg, seed, l)
		tx.skips, tx.built = 8, 20
		tx.air(noon.AddDate(0, 0, 1))
		songs, first, came := 0, true, 0
		for i, h := range tx.log {
			switch {
			case h.List == 4:
				if songs != every && !first {
					t.Errorf("seed %d, entry %d at %s: after %d songs, want %d", seed, i, h.at, songs, every)
				}
				songs, first = 0, false
				came++
			case h.Annotation() == "":
				songs++
			}
		}
		if came < 24*10/every {
			t.Errorf("seed %d: came %d times in a day", seed, came)
		}
	}
}

// A share is a share: of ten thousand places for music, within three standard deviations.
func TestAPlaylistHasItsShareOfTheMusic(t *testing.T) {
	cfg := DefaultConfig()
	tracks, paths := withOwn(300, 150, &cfg)
	a := List{ID: 1, Name: "a", Paths: paths[:100], Plays: PlaysShare, Share: 0.25, Order: OrderTurns}
	b := List{ID: 2, Name: "b", Paths: paths[100:], Plays: PlaysShare, Share: 0.1, Order: OrderShuffle}
	tx := newTransmitter(tracks, cfg, 1, a, b)
	tx.built = 5
	tx.air(noon.AddDate(0, 0, 12))
	count, n := map[int64]int{}, 0
	mix := map[station.Category]int{}
	for _, h := range tx.log {
		if h.Annotation() == "" {
			count[h.List]++
			mix[h.Track.Category]++
			n++
		}
	}
	for id, share := range map[int64]float64{1: 0.25, 2: 0.1} {
		if dev := math.Sqrt(float64(n) * share * (1 - share)); math.Abs(float64(count[id])-float64(n)*share) > 3*dev+1 {
			t.Errorf("playlist %d: %d of %d songs, want %.0f", id, count[id], n, float64(n)*share)
		}
	}
	t.Logf("%d songs: %v, %v", n, count, mix)
}

// One of a playlist comes each hour, on time, and the news and breaks come beside it as ever.
func TestAPlaylistComesEachHourOnTime(t *testing.T) {
	for _, clock := range []bool{false, true} {
		cfg := DefaultConfig()
		if clock {
			cfg.Clocks = clocksOf(t, newsHour)
		}
		tracks := library(typical(300), 2)
		l := List{ID: 3, Name: "idents", Order: OrderSequence, Plays: PlaysHourly, Minute: 15}
		for _, tr := range tracks {
			if tr.Category == station.Jingles && len(l.Paths) < 5 {
				l.Paths = append(l.Paths, tr.Path)
			}
		}
		tx := newTransmitter(tracks, cfg, 5, l)
		tx.built = 5
		tx.air(noon.AddDate(0, 0, 4))
		hours, inTime, relaxed := map[time.Time]bool{}, 0, map[Rule]int{}
		var news []int
		for i, h := range tx.log {
			if h.Track.Category == station.News {
				news = append(news, i)
			}
			for _, r := range h.Relaxed {
				relaxed[r]++
			}
			if h.List == 0 {
				continue
			}
			due := hourOf(h.at.Add(-14 * time.Minute)).Add(15 * time.Minute)
			if hours[due] {
				t.Errorf("clock %t: twice at %s", clock, due)
			}
			if hours[due] = true; h.at.Sub(due).Abs() <= listTolerance {
				inTime++
			}
		}
		t.Logf("clock %t: %d of %d in time; relaxed %v of %d", clock, inTime, len(hours), relaxed, len(tx.log))
		if len(hours) < 4*24-1 || inTime*100 < len(hours)*95 {
			t.Errorf("clock %t: %d of %d hours in time", clock, inTime, len(hours))
		}
		for _, r := range Rules() {
			if !r.Breakable && relaxed[r.Rule] > 0 {
				t.Errorf("clock %t: %s broken %d times", clock, r.Rule, relaxed[r.Rule])
			}
		}
		if clock {
			continue
		}
		for i := 1; i < len(news); i++ {
			// Single elements that fill the time before an event may come before it.
			if d := news[i] - news[i-1]; d < newsMin || d > newsMax+6 {
				t.Errorf("news after %d entries", d)
			}
		}
	}
}

// A clock's position that names a playlist is that playlist's; where it has nothing, music plays,
// and the entry says why.
func TestAClocksPositionNamesAPlaylist(t *testing.T) {
	cfg := DefaultConfig()
	tracks, paths := withOwn(300, 12, &cfg)
	cfg.Clocks = clocksOf(t, `[{"name": "c", "hour": [{"category": "playlist", "list": "serial"}, {"category": "english"}, {"category": "playlist", "list": "none"}, {"category": "playlist", "list": "empty"}, {"category": "sweepers"}]}]`)
	rot := Build(Request{Index: NewIndex(tracks), Config: cfg, Now: noon, Seed: 1, Lists: []List{
		{ID: 1, Name: "serial", Paths: paths, Plays: PlaysClock, Order: OrderSequence},
		{ID: 2, Name: "empty", Paths: []string{"gone.mp3"}, Plays: PlaysClock, Order: OrderTurns},
	}})
	for i, e := range rot.Entries[:15] { // of the first hour
		n := i / 5
		switch i % 5 {
		case 0:
			if want := fmt.Sprintf(`playlist "serial", %d of 12`, n+1); e.List != 1 || e.Track.Path != paths[n] || e.Why.Reason != want || e.Clock != "c" {
				t.Errorf("entry %d: %s, %q, clock %q; want %s", i, e.Track.Path, e.Why.Reason, e.Clock, want)
			}
		case 1:
			if e.Track.Category != station.English || e.List != 0 {
				t.Errorf("entry %d: %s", i, e.Track.Path)
			}
		case 2, 3:
			want := map[int]string{2: `no playlist is called "none": `, 3: `playlist "empty" has nothing that may air now: `}[i%5]
			if !e.Track.Category.Music() || e.List != 0 || len(e.Why.Reason) <= len(want) || e.Why.Reason[:len(want)] != want {
				t.Errorf("entry %d: %s, %q; want %q…", i, e.Track.Path, e.Why.Reason, want)
			}
		case 4:
			if e.Track.Category != station.Sweepers {
				t.Errorf("entry %d: %s", i, e.Track.Path)
			}
		}
	}
}

// A change of a playlist between two builds goes on behind the same track; of one that is gone, at
// what stands in its place.
func TestAChangedPlaylistGoesOnWhereItWas(t *testing.T) {
	cfg := DefaultConfig()
	tracks, paths := withOwn(100, 8, &cfg)
	for name, tc := range map[string]struct {
		paths []string
		index int
		path  string
		want  string
	}{
		"the same":             {paths, 2, paths[2], paths[3]},
		"the last":             {paths, 7, paths[7], paths[0]},
		"some put before it":   {append([]string{paths[5], paths[6], paths[7]}, paths[:5]...), 2, paths[2], paths[3]},
		"it is gone":           {append(slices.Clone(paths[:2]), paths[3:]...), 2, paths[2], paths[3]},
		"twice, the nearer":    {[]string{paths[0], paths[1], paths[2], paths[0], paths[4]}, 3, paths[0], paths[4]},
		"the next has no file": {[]string{paths[0], "gone.mp3", paths[2]}, 0, paths[0], paths[2]},
		"all cut away":         {paths[:1], 7, paths[7], paths[0]},
	} {
		st := State{}.ofList(1, func(ListState) ListState {
			return ListState{Index: tc.index, Path: tc.path, At: noon.Add(-time.Hour), Aired: 1}
		})
		l := List{ID: 1, Name: "a", Paths: tc.paths, Plays: PlaysOnly, Order: OrderSequence}
		rot := Build(Request{Index: NewIndex(tracks), Config: cfg, Now: noon, Seed: 1, State: st, Lists: []List{l}})
		if got := rot.Entries[0].Track.Path; got != tc.want {
			t.Errorf("%s: %s comes next, want %s", name, got, tc.want)
		}
	}
}

// A playlist that does not play leaves the rotation as it is, entry by entry.
func TestPlaylistsThatDoNotPlayChangeNothing(t *testing.T) {
	tracks := library(typical(300), 1)
	r := Request{Index: NewIndex(tracks), Config: DefaultConfig(), Now: noon, Seed: 3}
	was := Build(r)
	r.Lists = []List{
		{ID: 1, Name: "a", Paths: []string{tracks[0].Path}, Plays: PlaysClock, Order: OrderTurns},
		{ID: 2, Name: "b", Paths: []string{tracks[0].Path}, Plays: PlaysOnly, Order: OrderTurns, When: []Window{{From: 20270101}}},
		{ID: 3, Name: "c", Plays: PlaysSongs, Every: 1, Order: OrderSequence},
		{ID: 4, Name: "d", Paths: []string{"gone.mp3"}, Plays: PlaysHourly, Order: OrderShuffle, When: []Window{{Until: 20250101}}},
	}
	is := Build(r)
	for i, e := range is.Entries {
		if w := was.Entries[i]; e.Track.Path != w.Track.Path || e.Why.Reason != w.Why.Reason || e.List != 0 {
			t.Fatalf("entry %d: %s, want %s", i, e.Track.Path, w.Track.Path)
		}
	}
}
