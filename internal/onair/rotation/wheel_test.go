package rotation

import (
	"fmt"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// events are the timed events that a rotation holds, and when they start.
func events(rot Rotation) (out []aired) {
	for i, at := range Expected(rot.Entries, rot.Starts) {
		if e := rot.Entries[i]; !e.Due.IsZero() {
			out = append(out, aired{Entry: e, at: at})
		}
	}
	return out
}

// What is due in the last second of an hour airs, though the song before it
// may end in the next; and what is due then airs after it.
func TestAnEventAtTheEndOfAnHourIsNotLost(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Clocks = clocksOf(t, `[{"name": "a", "hour": [{"category": "jingles", "at": "00:00"}, {"category": "music"}, {"category": "ads", "at": "59:59"}]}]`)
	x := NewIndex(library(typical(300), 1))
	for seed := range uint64(10) {
		rot := Build(Request{Index: x, Config: cfg, Now: noon.Add(time.Minute), Seed: seed})
		last := map[int]string{}
		for _, e := range events(rot) {
			last[e.Due.Hour()] += e.Type + " "
		}
		for _, hour := range []int{13, 14, 15} {
			if last[hour] != "jingles ads " {
				t.Errorf("seed %d, %02d:00: %q", seed, hour, last[hour])
			}
		}
	}
	// A skip at 11:59:58 builds a rotation whose first entry starts at noon.
	rot := Build(Request{Index: x, Config: cfg, Now: noon.Add(2 * time.Second), Seed: 1})
	if got := rot.Entries[0]; got.Type != "ads" || !got.Due.Equal(noon.Add(-time.Second)) || rot.Entries[1].Type != "jingles" {
		t.Errorf("at 12:00:02: %s due %s, then %s", got.Type, got.Due, rot.Entries[1].Type)
	}
}

// An hour that has no clock ends in time for the first event of the next.
func TestTheFirstEventOfAClockIsInTimeAfterAnHourWithoutOne(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Clocks = clocksOf(t, `[{"name": "a", "start": "14:00", "end": "16:00", "hour": [{"category": "news", "at": "00:00"}, {"category": "music"}]}]`)
	x := NewIndex(library(typical(300), 1))
	late := 0
	for seed := range uint64(20) {
		rot := Build(Request{Index: x, Config: cfg, Now: noon, Seed: seed})
		e := events(rot)[0]
		if off := e.at.Sub(e.Due).Abs(); off > 30*time.Second {
			late++
			t.Logf("seed %d: %s off", seed, off)
		}
		for i, at := range Expected(rot.Entries, rot.Starts) {
			if e := rot.Entries[i]; at.Before(noon.Add(119*time.Minute)) && e.Clock != "" {
				t.Errorf("seed %d: clock %q at %s", seed, e.Clock, at)
			}
		}
	}
	if late > 1 {
		t.Errorf("%d of 20 late", late)
	}
}

// A rebuild keeps an event although something like it aired a few minutes
// before, and knows one that aired though it was late.
func TestARebuildKnowsTheEventsThatAired(t *testing.T) {
	x := NewIndex(library(typical(300), 1))
	for category, path := range map[string]string{
		"ads": "music/ads/0000.mp3", "arabic_hits": "music/arabic_hits/0000.mp3", "music": "music/english/0000.mp3",
	} {
		cfg := DefaultConfig()
		cfg.Clocks = clocksOf(t, fmt.Sprintf(`[{"name": "a", "hour": [{"category": "music"}, {"category": %q, "at": "30:00"}]}]`, category))
		half := noon.Add(30 * time.Minute)
		track, _ := find(x, path)
		hear := func(at time.Time, due time.Time) State {
			rot := Rotation{Entries: []Entry{{Track: track, Due: due}}}
			st, _ := Advance(rot, State{}, Marker{Engine: "e", Seq: 1, Path: path, Category: track.Category, At: at})
			return st
		}
		asks := func(now time.Time, st State) bool {
			rot := Build(Request{Index: x, Config: cfg, State: st, Now: now, Seed: 2})
			for _, e := range events(rot) {
				if e.Due.Equal(half) {
					return true
				}
			}
			return false
		}
		if !asks(half.Add(-4*time.Minute), hear(half.Add(-8*time.Minute), time.Time{})) {
			t.Errorf("%s: the event of 12:30 is lost because one aired at 12:22", category)
		}
		if asks(half.Add(8*time.Minute), hear(half.Add(4*time.Minute), half)) {
			t.Errorf("%s: the event of 12:30 aired at 12:34, and again", category)
		}
		if asks(half.Add(20*time.Second), hear(half.Add(10*time.Second), time.Time{})) {
			t.Errorf("%s: the event of 12:30 aired while the rotation was built, and again", category)
		}
	}
}

func find(x *Index, path string) (station.Track, bool) {
	id, ok := x.byPath[path]
	return x.tracks[id], ok
}

// Songs of another category stand in for one that has none: their length counts.
func TestAnEventIsInTimeAfterACategoryThatHasNothing(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Clocks = clocksOf(t, `[{"name": "a", "hour": [{"category": "news", "at": "00:00"}, {"category": "social"}]}]`)
	x := NewIndex(library(typical(300), 1))
	for seed := range uint64(5) {
		for _, e := range events(Build(Request{Index: x, Config: cfg, Now: noon, Seed: seed})) {
			if off := e.at.Sub(e.Due).Abs(); off > 30*time.Second {
				t.Errorf("seed %d: the news of %s is %s off", seed, e.Due.Format("15:04"), off)
			}
		}
	}
}

// What a late event breaks is told in the order of its weight.
func TestALateEventTellsWhatItBreaksInOrder(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Clocks = clocksOf(t, `[{"name": "a", "hour": [{"category": "music", "at": "10:00", "tolerance": 1}, {"category": "music", "at": "20:00", "tolerance": 1}]}]`)
	rank := map[Rule]int{}
	for _, r := range Rules() {
		rank[r.Rule] = r.Rank
	}
	several := 0
	for _, e := range events(Build(Request{Index: NewIndex(library(shelf{station.ArabicHits: 12}, 1)), Config: cfg, Now: noon, Seed: 1})) {
		for i, r := range e.Relaxed[min(1, len(e.Relaxed)):] {
			several++
			if rank[r] >= rank[e.Relaxed[i]] {
				t.Errorf("%s: %v", e.Due.Format("15:04"), e.Relaxed)
			}
		}
	}
	if several == 0 {
		t.Error("no event breaks two rules")
	}
}
