package rotation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

// transmitter is an engine and a scheduler, in small: the engine plays the rotation from its
// head, and opens one entry ahead, which it drops when the rotation is replaced, unless too
// little time is left.
type transmitter struct {
	x     *Index
	cfg   Config
	lists []List
	rng   *rand.Rand
	skips int // of 100 entries are skipped, fail, or have the rotation built anew
	fails int
	built int

	now   time.Time
	rot   Rotation
	st    State
	pos   int
	seq   uint64
	stray *Entry
	log   []heardEntry
}

type heardEntry struct {
	Entry
	at     time.Time
	failed bool
	stray  bool
}

// build makes a rotation while e, which began at began, is on air; nil: nothing is.
func (tx *transmitter) build(e *Entry, began time.Time, cut bool) {
	r := Request{Index: tx.x, Config: tx.cfg, State: tx.st, Now: tx.now, Seed: tx.rng.Uint64(), Lists: tx.lists, Listed: map[string]ListPlace{}}
	var next *Entry
	if tx.stray != nil {
		next = tx.stray
	} else if tx.pos < len(tx.rot.Entries) {
		next = &tx.rot.Entries[tx.pos]
	}
	tx.stray = nil
	if next != nil && next.List != 0 {
		r.Listed[next.Track.Path] = next.Place
	}
	if e != nil && !cut {
		r.Starts, r.Cross = began.Add(airtime(e.Track, e.Cross)), e.Cross
	}
	switch left := r.Starts.Sub(tx.now); {
	case next == nil:
	case e != nil && !cut && left <= 500*time.Millisecond:
		tx.stray = next
		r.InFlight = []station.Track{next.Track}
		r.Starts, r.Cross = r.starts().Add(airtime(next.Track, next.Cross)), next.Cross
	default:
		r.Prepared = []station.Track{next.Track}
	}
	tx.rot, tx.st, tx.pos = Build(r), tx.st.Fresh(), 0
}

// air plays until a time.
func (tx *transmitter) air(until time.Time) {
	if len(tx.rot.Entries) == 0 {
		tx.build(nil, tx.now, true)
	}
	for tx.now.Before(until) {
		stray := tx.stray != nil
		var e Entry
		if stray {
			e, tx.stray = *tx.stray, nil
		} else {
			e = tx.rot.Entries[tx.pos]
			tx.pos++
			if tx.rng.IntN(100) < tx.fails && tx.pos < len(tx.rot.Entries)-1 {
				tx.log = append(tx.log, heardEntry{e, tx.now, true, false})
				continue
			}
		}
		tx.seq++
		var out Outcome
		tx.st, out = Advance(tx.rot, tx.st, Marker{Engine: "e", Seq: tx.seq, Path: e.Track.Path, Artist: e.Track.Artist, Category: e.Track.Category, At: tx.now})
		early := out.Kind == Unknown && slices.ContainsFunc(tx.rot.Entries[tx.st.Consumed:], func(o Entry) bool { return o.List != 0 && o.Track.Path == e.Track.Path })
		// Where the first entry fails, the next may pass for what was in flight.
		taken := out.Kind == Unknown && tx.st.Consumed == 0 && slices.Contains(tx.rot.InFlight, e.Track.Path)
		if !stray && !early && !taken && (out.Kind != Advanced || out.Index != tx.pos-1) {
			panic(fmt.Sprintf("the cursor left the engine: %v at %d, entry %d", out, len(tx.log), tx.pos-1))
		}
		tx.log = append(tx.log, heardEntry{e, tx.now, false, stray})
		began, lasts := tx.now, max(airtime(e.Track, e.Cross), 10*time.Millisecond)
		d := Decide(Situation{
			Cause: Write, Length: len(tx.rot.Entries), Consumed: tx.st.Consumed, RefreshFraction: tx.cfg.Rotation.RefreshFraction,
			StampedDaypart: tx.rot.Daypart, LiveDaypart: DaypartKey(tx.cfg, tx.now),
			StampedLists: tx.rot.ListKey, LiveLists: ListKey(tx.cfg, tx.lists, tx.now),
			OffTime: OffTime(tx.rot, tx.st.Consumed, began.Add(lasts)),
		})
		if d.Rebuild || early {
			tx.build(&e, began, false)
		}
		for range tx.rng.IntN(3) {
			if tx.rng.IntN(100) >= tx.built {
				continue
			}
			tx.now = began.Add(time.Duration(tx.rng.Int64N(int64(lasts))))
			if tx.rng.IntN(3) == 0 {
				tx.now = began.Add(max(lasts-time.Duration(tx.rng.IntN(700))*time.Millisecond, 0))
			}
			tx.build(&e, began, false)
		}
		if tx.rng.IntN(100) < tx.skips {
			tx.now = began.Add(time.Duration(tx.rng.Int64N(int64(lasts))))
			tx.stray = nil
			tx.build(&e, began, true)
			continue
		}
		end := began.Add(lasts)
		if tx.stray == nil && tx.pos < len(tx.rot.Entries) {
			end = began.Add(max(e.Track.Duration-min(e.Cross, tx.rot.Entries[tx.pos].Cross), 10*time.Millisecond))
		}
		tx.now = end
	}
}

// withOwn is a library with tracks that no deck airs: their category has no weight.
func withOwn(songs, own int, cfg *Config) ([]station.Track, []string) {
	cfg.GenreSplit = map[station.Category]float64{station.ArabicHits: 0.6, station.English: 0.4}
	cfg.Dayparts = []Daypart{}
	s := typical(songs)
	s[station.Social] = own
	tracks := library(s, 1)
	var paths []string
	for _, t := range tracks {
		if t.Category == station.Social {
			paths = append(paths, t.Path)
		}
	}
	return tracks, paths
}

func newTransmitter(tracks []station.Track, cfg Config, seed uint64, lists ...List) *transmitter {
	return &transmitter{x: NewIndex(tracks), cfg: cfg, lists: lists, rng: rand.New(rand.NewPCG(seed, 3)), now: noon}
}

// A playlist in sequence loses no place and repeats none, whenever the rotation is built anew,
// what is skipped and what cannot be aired.
func TestAPlaylistInOrderLosesAndRepeatsNoPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := DefaultConfig()
		cfg.Rotation.MinRest = 0
		cfg.Rotation.BufferMax = rapid.IntRange(6, 120).Draw(t, "buffer")
		tracks, paths := withOwn(300, 40, &cfg)
		if rapid.Bool().Draw(t, "clock") {
			cfg.Clocks = clocksFor(t)
		}
		l := List{ID: 7, Name: "a", Paths: paths, Order: rapid.SampledFrom([]ListOrder{OrderSequence, OrderShuffle}).Draw(t, "order")}
		l.Plays = rapid.SampledFrom([]ListPlays{PlaysClock, PlaysOnly, PlaysShare, PlaysSongs, PlaysHourly}).Draw(t, "plays")
		l.Share, l.Every, l.Minute = 0.3, rapid.IntRange(1, 6).Draw(t, "every"), rapid.IntRange(0, 59).Draw(t, "minute")
		if rapid.Bool().Draw(t, "window") {
			l.When = []Window{{Start: 13 * 60, End: 20 * 60}}
		}
		tx := newTransmitter(tracks, cfg, rapid.Uint64().Draw(t, "seed"), l)
		tx.skips, tx.fails, tx.built = rapid.IntRange(0, 20).Draw(t, "skips"), rapid.IntRange(0, 5).Draw(t, "fails"), rapid.IntRange(0, 40).Draw(t, "built")
		tx.air(noon.Add(12 * time.Hour))
		if l.Order == OrderSequence {
			inSequence(t, tx, l)
		} else {
			inCycles(t, tx, l)
		}
	})
}

func clocksFor(t *rapid.T) []HourClock {
	at := Offset(rapid.IntRange(0, 3599).Draw(t, "at"))
	hour := []Position{{Category: "playlist", List: "a"}, {Category: "music", Count: 2}, {Category: "break"}, {Category: "english"}}
	if rapid.Bool().Draw(t, "timed") {
		hour = append(hour, Position{Category: "playlist", List: "a", At: &at})
	}
	return []HourClock{{Name: "c", Start: 14 * 60, End: 23 * 60, Hour: hour}}
}

// inSequence holds what aired of a playlist against its order. What could not be aired has had its
// place, if an entry of the list was heard after it before the rotation was built anew; otherwise it
// is tried again.
func inSequence(t *rapid.T, tx *transmitter, l List) {
	want, tried := 0, -1
	for i, h := range tx.log {
		if h.List != l.ID {
			continue
		}
		switch {
		case h.Place.Index == want && h.failed:
			want, tried = (want+1)%len(l.Paths), want
		case h.Place.Index == want:
			want, tried = (want+1)%len(l.Paths), -1
		case h.Place.Index == tried:
			want = (tried + 1) % len(l.Paths)
		default:
			t.Fatalf("entry %d at %s (stray %t, failed %t): place %d of the playlist, want %d", i, h.at, h.stray, h.failed, h.Place.Index, want)
		}
		if h.Track.Path != l.Paths[h.Place.Index] {
			t.Fatalf("entry %d: %s is not place %d", i, h.Track.Path, h.Place.Index)
		}
	}
}

// inCycles holds what aired of a shuffled playlist against its promise: all before any repeats.
func inCycles(t *rapid.T, tx *transmitter, l List) {
	aired, had, cycle := map[string]bool{}, map[string]bool{}, 0
	for i, h := range tx.log {
		if h.List != l.ID {
			continue
		}
		if h.Place.Cycle != cycle {
			if len(had) != len(l.Paths) || h.Place.Cycle != cycle+1 {
				t.Fatalf("entry %d at %s: cycle %d after %d of %d of cycle %d", i, h.at, h.Place.Cycle, len(had), len(l.Paths), cycle)
			}
			cycle = h.Place.Cycle
			clear(aired)
			clear(had)
		}
		if had[h.Track.Path] = true; h.failed {
			continue
		}
		if aired[h.Track.Path] {
			t.Fatalf("entry %d at %s: %s again after %d of %d", i, h.at, h.Track.Path, len(aired), len(l.Paths))
		}
		aired[h.Track.Path] = true
	}
}
