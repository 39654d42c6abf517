package rotation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// scale is an order of thirty songs of three minutes, no two of which have anything in common,
// and thirty more in the library.
type scale struct {
	r      Request
	tracks []station.Track
	order  []Entry
	plays  []Play
}

func newScale() *scale {
	s := &scale{r: Request{Config: DefaultConfig(), Now: noon}}
	s.r.Config.Dayparts = []Daypart{}
	for i := range 60 {
		t := station.Track{
			Path: fmt.Sprintf("%02d", i), Category: station.ArabicHits, Duration: 3 * time.Minute,
			Title: fmt.Sprintf("title%d", i), Artist: fmt.Sprintf("artist%d", i), Album: fmt.Sprintf("album%d", i),
		}
		s.tracks = append(s.tracks, t)
		s.plays = append(s.plays, Play{Path: t.Path, At: noon.Add(-100 * time.Hour), Round: 1})
	}
	return s
}

// at is when an entry starts.
func (s *scale) at(i int) time.Time {
	return noon.Add(time.Duration(i) * (3*time.Minute - 2*time.Second))
}

// done prepares the request and the order.
func (s *scale) done(entries func(*scale)) {
	s.r.Index = NewIndex(s.tracks)
	s.r.State = s.r.State.RememberTurns(s.plays)
	for _, t := range s.tracks[:30] {
		e := Placed(t)
		e.Hand = false
		s.order = append(s.order, e)
	}
	if entries != nil {
		entries(s)
	}
}

func count(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func (s *scale) move(at, to int) Order {
	entries, from := slices.Clone(s.order), count(len(s.order))
	e := entries[at].Moved()
	entries, from = slices.Delete(entries, at, at+1), slices.Delete(from, at, at+1)
	if to > at {
		to--
	}
	return Order{Entries: slices.Insert(entries, to, e), From: slices.Insert(from, to, at), Touched: len(s.order), Removed: -1}
}

func (s *scale) insert(t station.Track, to int) Order {
	return Order{
		Entries: slices.Insert(slices.Clone(s.order), to, Placed(t)), From: slices.Insert(count(len(s.order)), to, -1),
		Touched: len(s.order), Removed: -1,
	}
}

func (s *scale) remove(at int) Order {
	return Order{
		Entries: slices.Delete(slices.Clone(s.order), at, at+1), From: slices.Delete(count(len(s.order)), at, at+1),
		Touched: len(s.order), Removed: at,
	}
}

func said(all []Break) []string {
	out := []string{}
	for _, b := range all {
		text := fmt.Sprintf("%d %s", b.Entry, b.Rule)
		if !b.Due.IsZero() {
			text += " " + b.Late.Round(time.Second).String()
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

// Each rule, in an order that breaks it and no other, and back.
func TestWeighAsksEachRule(t *testing.T) {
	aired := func(i int, ago time.Duration) func(*scale) {
		return func(s *scale) {
			s.r.State = s.r.State.Remember(s.tracks[i].Path, noon.Add(-ago))
		}
	}
	listed := func(s *scale) {
		s.r.Lists = []List{{ID: 7, Name: "in order", Paths: []string{"03", "06", "09"}, Order: OrderSequence, Plays: PlaysClock}}
	}
	for name, c := range map[string]struct {
		tracks  func(*scale)
		entries func(*scale)
		order   func(*scale) Order
		breaks  []string
		lifts   []string
	}{
		"nothing": {order: func(s *scale) Order { return s.move(12, 3) }},
		"artist-gap": {
			tracks: func(s *scale) { s.tracks[12].Artist = s.tracks[0].Artist },
			order:  func(s *scale) Order { return s.move(12, 3) }, breaks: []string{"12 artist-gap"},
		},
		"artist-gap mended": {
			tracks: func(s *scale) { s.tracks[3].Artist = s.tracks[0].Artist },
			order:  func(s *scale) Order { return s.move(3, 13) }, lifts: []string{"3 artist-gap"},
		},
		"artist-gap mended by taking it out": {
			tracks: func(s *scale) { s.tracks[3].Artist = s.tracks[0].Artist },
			order:  func(s *scale) Order { return s.remove(3) }, lifts: []string{"3 artist-gap"},
		},
		"artist-back-to-back": {
			tracks: func(s *scale) { s.tracks[12].Artist = s.tracks[0].Artist },
			order:  func(s *scale) Order { return s.move(12, 1) }, breaks: []string{"12 artist-back-to-back", "12 artist-gap"},
		},
		"what comes after an inserted one": {
			tracks: func(s *scale) { s.tracks[40].Artist = s.tracks[2].Artist },
			order:  func(s *scale) Order { return s.insert(s.tracks[40], 1) }, breaks: []string{"2 artist-gap"},
		},
		"title-gap": {
			tracks: func(s *scale) { s.tracks[25].Title = s.tracks[0].Title },
			order:  func(s *scale) Order { return s.move(25, 18) }, breaks: []string{"25 title-gap"},
		},
		"album-gap": {
			tracks: func(s *scale) { s.tracks[8].Album = s.tracks[0].Album },
			order:  func(s *scale) Order { return s.move(8, 4) }, breaks: []string{"8 album-gap"},
		},
		"fresh-window": {
			tracks: aired(12, 170*time.Minute),
			order:  func(s *scale) Order { return s.move(12, 1) }, breaks: []string{"12 fresh-window"},
		},
		"cooldown": {
			tracks: aired(12, 80*time.Minute),
			order:  func(s *scale) Order { return s.move(12, 1) }, breaks: []string{"12 cooldown"},
		},
		"minimum-rest": {
			tracks: aired(12, 20*time.Minute),
			order:  func(s *scale) Order { return s.move(12, 1) }, breaks: []string{"12 minimum-rest"},
		},
		"plays-per-day": {
			tracks: func(s *scale) {
				s.r.Config.Rotation.MaxPlaysDay = 1
				aired(12, 24*time.Hour-20*time.Minute)(s)
				s.r.Config.Rotation.SameHour = false
			},
			order: func(s *scale) Order { return s.move(12, 1) }, breaks: []string{"12 plays-per-day"},
		},
		"same-hour": {
			tracks: aired(25, 24*time.Hour-10*time.Minute),
			order:  func(s *scale) Order { return s.move(25, 1) }, breaks: []string{"25 same-hour"},
		},
		"turnover": {
			tracks: func(s *scale) { s.plays[40].Round = 4 },
			order:  func(s *scale) Order { return s.insert(s.tracks[40], 1) }, breaks: []string{"-2 turnover"},
		},
		"quality-floor": {
			tracks: func(s *scale) { s.tracks[40].Duration = 30 * time.Second },
			order:  func(s *scale) Order { return s.insert(s.tracks[40], 1) }, breaks: []string{"-2 quality-floor"},
		},
		"hard-gate": {
			tracks: func(s *scale) {
				s.r.Config.Dayparts = []Daypart{{Name: "one", Start: 13 * 60, End: 14 * 60, Weights: map[station.Category]float64{station.English: 0}}}
				s.tracks[3].Category = station.English
			},
			order: func(s *scale) Order { return s.move(3, 26) }, breaks: []string{"3 hard-gate"},
		},
		"track-limits": {
			tracks: func(s *scale) { s.tracks[3].Own = &station.Own{Limits: station.Limits{Hours: 1 << 12}} },
			order:  func(s *scale) Order { return s.move(3, 26) }, breaks: []string{"3 track-limits"},
		},
		"just-played": {
			tracks: func(s *scale) { s.r.State.LastTrackPlayed = "05" },
			order:  func(s *scale) Order { return s.move(5, 0) }, breaks: []string{"5 just-played"},
		},
		"cooldown of imaging": {
			tracks: func(s *scale) { s.tracks[40].Category, s.tracks[40].Duration = station.Sweepers, 8*time.Second },
			entries: func(s *scale) {
				s.order[1], s.order[9] = Placed(s.tracks[40]), Placed(s.tracks[40])
			},
			order: func(s *scale) Order { return s.move(9, 3) }, breaks: []string{"9 cooldown"},
		},
		"timed-event": {
			entries: func(s *scale) { s.order[5].Due, s.order[5].Tolerance = s.at(5), 30*time.Second },
			order:   func(s *scale) Order { return s.insert(s.tracks[40], 2) }, breaks: []string{"5 timed-event 2m58s"},
		},
		"timed-event moved": {
			entries: func(s *scale) { s.order[5].Due, s.order[5].Tolerance = s.at(5), 30*time.Second },
			order:   func(s *scale) Order { return s.move(5, 4) }, breaks: []string{"5 timed-event -2m58s"},
		},
		"timed-event mended": {
			entries: func(s *scale) { s.order[5].Due, s.order[5].Tolerance = s.at(4), 30*time.Second },
			order:   func(s *scale) Order { return s.remove(2) }, lifts: []string{"5 timed-event 2m58s"},
		},
		"timed-event later still": {
			entries: func(s *scale) { s.order[5].Due, s.order[5].Tolerance = s.at(4), 30*time.Second },
			order:   func(s *scale) Order { return s.insert(s.tracks[40], 2) }, breaks: []string{"5 timed-event 5m56s"},
		},
		"playlist-order": {
			tracks: listed,
			entries: func(s *scale) {
				for i, at := range []int{3, 6, 9} {
					s.order[at].List, s.order[at].Place = 7, ListPlace{List: 7, Index: i}
				}
			},
			order: func(s *scale) Order { return s.move(6, 2) }, breaks: []string{"3 playlist-order", "6 playlist-order"},
		},
		"bulletin-time": {
			tracks: func(s *scale) {
				s.tracks[2].Category, s.tracks[2].Duration = station.News, 3*time.Minute
				s.r.Tells = map[string]time.Time{"02": s.at(2)}
			},
			order: func(s *scale) Order { return s.move(2, 9) }, breaks: []string{"2 bulletin-time 17m50s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScale()
			if c.tracks != nil {
				c.tracks(s)
			}
			s.done(c.entries)
			if name == "fresh-window" || name == "cooldown" || name == "minimum-rest" {
				// Each window holds beside the longer ones: those are switched off.
				k := &s.r.Config.Rotation
				k.SameHour = false
				switch name {
				case "cooldown":
					k.MusicFresh = 0
				case "minimum-rest":
					k.MusicFresh, k.CooldownPeriod, k.ArtistGap = 0, 30*minute, 0
				}
			}
			breaks, lifts := Weigh(s.r, s.r, s.order, c.order(s))
			want := slices.Clone(c.breaks)
			if name == "minimum-rest" {
				want = []string{"12 cooldown", "12 minimum-rest"} // the rest is bounded by the cooldown
			}
			if got := said(breaks); !slices.Equal(got, append([]string{}, want...)) {
				t.Errorf("breaks %v, want %v", got, want)
			}
			if got := said(lifts); !slices.Equal(got, append([]string{}, c.lifts...)) {
				t.Errorf("mends %v, want %v", got, c.lifts)
			}
			for _, b := range breaks {
				if b.Detail == "" {
					t.Errorf("%s: no words", b.Rule)
				}
			}
		})
	}
}

// A gap is told with the airing to which it is too near, a rest with the time alone.
func TestWeighTellsWhatIsTooNear(t *testing.T) {
	s := newScale()
	s.tracks[12].Artist, s.tracks[24].Title = s.tracks[0].Artist, s.tracks[1].Title
	s.tracks[14].Album = s.tracks[45].Album
	s.r.State = s.r.State.Remember(s.tracks[45].Path, noon.Add(-10*time.Minute)).Remember(s.tracks[16].Path, noon.Add(-20*time.Minute))
	s.done(nil)
	step := s.at(1).Sub(noon)
	for _, c := range []struct {
		at    int
		rule  Rule
		after time.Duration
		other string
	}{{12, ArtistGap, 3 * step, "00"}, {24, TitleGap, 2 * step, "01"}, {14, AlbumGap, 10*time.Minute + 3*step, "45"}, {16, MinimumRest, 20*time.Minute + 3*step, ""}} {
		breaks, _ := Weigh(s.r, s.r, s.order, s.move(c.at, 3))
		i := slices.IndexFunc(breaks, func(b Break) bool { return b.Rule == c.rule && b.Entry == c.at })
		if i < 0 {
			t.Errorf("%s is not told: %v", c.rule, said(breaks))
		} else if b := breaks[i]; b.After != c.after || b.Other.Path != c.other {
			t.Errorf("%s: %s after %q, want %s after %q", c.rule, b.After, b.Other.Path, c.after, c.other)
		}
	}
}

// A timed event of the planner's own, behind what is held: in time where something short is held
// before it, late or left out where that lasts too long.
func TestWeighFindsTimedEventsBehindWhatIsHeld(t *testing.T) {
	tracks := library(typical(300), 1)
	long := station.Track{Path: "long.mp3", Category: station.English, Title: "long", Artist: "nobody", Duration: 36 * time.Minute}
	longer := long
	longer.Path, longer.Duration = "longer.mp3", 50*time.Minute
	short := long
	short.Path, short.Duration = "short.mp3", 4*time.Minute
	tracks = append(tracks, long, longer, short)
	half := Offset(30 * 60)
	cfg := DefaultConfig()
	cfg.Clocks = []HourClock{{Name: "half", Hour: []Position{{Category: anyMusic, Count: 8}, {Category: string(station.Ads), At: &half}, {Category: anyMusic, Count: 8}}}}
	r := Request{Index: NewIndex(tracks), Config: cfg, Now: noon, Seed: 3}
	before := Build(r).Entries
	event := slices.IndexFunc(before, func(e Entry) bool { return e.Due.Equal(noon.Add(30 * time.Minute)) })
	if event < 0 {
		t.Fatal("no event is planned")
	}
	for _, c := range []struct {
		track station.Track
		late  time.Duration // of the event; 0: in time
	}{{short, 0}, {long, 6 * time.Minute}, {longer, 20 * time.Minute}} {
		e := Placed(c.track)
		e.Held = true
		breaks, _ := Weigh(r, r, before, Order{Entries: []Entry{e}, From: []int{-1}, Removed: -1})
		i := slices.IndexFunc(breaks, func(b Break) bool { return b.Entry == event })
		switch {
		case c.late == 0 && i >= 0:
			t.Errorf("%s: %+v", c.track.Title, breaks[i])
		case c.late > 0 && (i < 0 || (breaks[i].Late-c.late).Abs() > 30*time.Second || !breaks[i].Due.Equal(before[event].Due)):
			t.Errorf("%s: %+v, want the event %s late", c.track.Path, breaks, c.late)
		}
	}
}
