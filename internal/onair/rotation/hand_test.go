package rotation

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

// A hand knows at all times the fewest and the most turns of its cards, and no
// airing takes a card backwards or far behind.
func TestAHandCountsTheTurnsOfItsCards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &hand{}
		for range rapid.IntRange(1, 12).Draw(t, "cards") {
			c := &candidate{hand: h, last: never}
			if rapid.Bool().Draw(t, "aired") {
				c.last, c.round = int64(rapid.IntRange(0, 1000).Draw(t, "at")), rapid.IntRange(1, 9).Draw(t, "round")
			}
			h.cards = append(h.cards, c)
		}
		h.settle()
		for i := range 60 {
			low, top := h.cards[0].round, 0
			for _, c := range h.cards {
				low, top = min(low, c.round), max(top, c.round)
			}
			if h.low != low || h.top != max(top, h.top) {
				t.Fatalf("after %d airings: low %d, want %d; top %d, want %d at least", i, h.low, low, h.top, top)
			}
			c := rapid.SampledFrom(h.cards).Draw(t, "airs")
			was, fresh, top := c.round, c.last == never, h.top
			c.air(int64(2000 + i))
			switch {
			case c.round <= was, c.round < 1:
				t.Fatalf("turn %d after %d", c.round, was)
			case fresh && c.round < top-1, !fresh && c.round < top-lag:
				t.Fatalf("turn %d in a deck that has come to %d", c.round, top)
			case c.round > max(was+1, top):
				t.Fatalf("turn %d after %d in a deck that has come to %d", c.round, was, top)
			case c.starts[len(c.starts)-1] != c.last || c.order != h.order-1:
				t.Fatal("an airing is not the last one")
			}
		}
	})
}

// Of news the newest is aired, however many bulletins lie about.
func TestTheNewestOfAThousandBulletinsIsAired(t *testing.T) {
	s := typical(60)
	s[station.News] = 2000
	for seed := range uint64(5) {
		rot := Build(Request{Index: NewIndex(library(s, 1)), Config: DefaultConfig(), Now: noon, Seed: seed})
		news := 0
		for _, e := range rot.Entries {
			if e.Track.Category == station.News {
				news++
				if e.Track.Path != "music/news/0000.mp3" {
					t.Errorf("seed %d: %s is not the newest", seed, e.Track.Path)
				}
			}
		}
		if news < 5 {
			t.Errorf("seed %d: %d bulletins of 120 entries", seed, news)
		}
	}
}

// Mission: Limits. Music of 45 s and shorts under 60 s air; what lies beyond
// does only where nothing else can.
func TestTheQualityFloorIsExact(t *testing.T) {
	track := func(c station.Category, d time.Duration) station.Track {
		return station.Track{Path: fmt.Sprint(c, d), Category: c, Duration: d}
	}
	x := NewIndex([]station.Track{
		track(station.English, 45*time.Second), track(station.English, 45*time.Second-1),
		track(station.Shorts, time.Minute-1), track(station.Shorts, time.Minute), track(station.News, time.Second),
	})
	p := newPlan(Request{Index: x, Config: DefaultConfig(), Now: noon})
	for path, poor := range map[string]bool{"english45s": false, "english44.999999999s": true, "shorts59.999999999s": false, "shorts1m0s": true, "news1s": false} {
		id, ok := x.byPath[path]
		if !ok {
			t.Fatalf("no track %s", path)
		}
		if p.isPoor(id) != poor {
			t.Errorf("%s is poor: %v", path, p.isPoor(id))
		}
		for _, in := range []bool{false, true} {
			found := false
			for _, c := range p.hand(x.tracks[id].Category, in).cards {
				found = found || c.id == id
			}
			if found != (in == poor) {
				t.Errorf("%s is in the hand of the poor=%v: %v", path, in, found)
			}
		}
	}
}

// Where all that may air has aired of late, what did so the longest ago is next:
// in whichever order the cards are looked at.
func TestOfWhatAiredOfLateTheOldestIsNext(t *testing.T) {
	p := newPlan(Request{Index: NewIndex([]station.Track{{Path: "a"}}), Config: DefaultConfig(), Now: noon})
	h := &hand{order: 10, keep: 10}
	card := func(order int) *candidate {
		return &candidate{hand: h, last: p.at - int64(time.Hour), round: 4, order: order}
	}
	oldest, middle, newest := card(3), card(5), card(8)
	for _, seen := range [][]*candidate{{oldest, middle, newest}, {newest, middle, oldest}, {middle, newest, oldest}} {
		ch := &choice{}
		p.look(ch, seen, 0, 1)
		if ch.card != oldest {
			t.Errorf("number %d of %d, %d, %d is next", ch.card.order, seen[0].order, seen[1].order, seen[2].order)
		}
	}
}
