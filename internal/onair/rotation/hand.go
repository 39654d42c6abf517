package rotation

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// A hand is what a build looks at of one deck: all of a small deck, of a large
// one the most rested part, so that a build costs the same whatever the deck.
type hand struct {
	category station.Category
	poor     bool // below the quality floor
	music    bool
	size     int // of the whole deck
	cards    []*candidate
	reserve  []*candidate // looked at only where the rest cannot keep the rules
	order    int          // of the next airing
	keep     int          // so many of the last aired are not drawn again if others can be
	top      int          // the highest round in the deck
}

// candidate is one track of a hand.
type candidate struct {
	names
	id    int32
	path  string
	hand  *hand
	music bool
	last  int64 // when it last starts, Unix ns; never when it did not
	round int   // turns it has had
	order int   // its place among the airings of the hand, a higher one is later
}

const never = math.MinInt64

// since is the time from the last airing to at.
func (c *candidate) since(at int64) time.Duration {
	if c.last == never {
		return math.MaxInt64
	}
	return time.Duration(at - c.last)
}

const (
	wholeDeck = 512 // a deck up to this size is looked at whole
	sampled   = 256 // tracks looked at of a large, mostly rested deck
	reserved  = 4 * sampled
	drawTries = 4
)

// deal makes the hand of a deck. Of a deck that is large against the history a
// random sample of what is not in the history will do: all of it is equally
// rested. Else the deck is put in order, the least played and most rested first.
func (p *plan) deal(c station.Category, poor bool) *hand {
	good, rest := p.index.deck(c, p.floor)
	deck := good
	if poor {
		deck = rest
	}
	h := &hand{category: c, poor: poor, music: c.Music(), size: len(deck)}
	heard, low := 0, math.MaxInt
	for _, id := range p.known[c] {
		if p.isPoor(id) == poor {
			heard++
			h.top, low = max(h.top, p.heard[id].Round), min(low, p.heard[id].Round)
		}
	}
	if heard == 0 {
		low = 1
	}
	if len(deck) > wholeDeck && heard*2 < len(deck) {
		h.sample(p, deck, low-1)
	} else {
		h.all(p, deck, low-1)
	}
	h.order = len(h.cards) + len(h.reserve)
	h.keep = h.order / 3
	if h.size <= smallDeck {
		h.keep = h.order * 2 / 3
	}
	return h
}

// smallDeck is what airs several times within one rotation: there, rest counts
// for more than chance.
const smallDeck = 40

func (h *hand) sample(p *plan, deck []int32, unheard int) {
	drawn := map[int32]bool{}
	for range reserved * drawTries {
		id := deck[p.rng.IntN(len(deck))]
		if _, heard := p.heard[id]; heard || drawn[id] {
			continue
		}
		drawn[id] = true
		c := p.card(h, id, unheard)
		c.order = len(drawn) - 1
		if len(drawn) <= sampled {
			h.cards = append(h.cards, c)
			continue
		}
		if h.reserve = append(h.reserve, c); len(drawn) == reserved {
			return
		}
	}
}

func (h *hand) all(p *plan, deck []int32, unheard int) {
	cards := make([]*candidate, len(deck))
	store := make([]candidate, len(deck))
	for i, id := range deck {
		store[i] = *p.card(h, id, unheard)
		cards[i] = &store[i]
	}
	slices.SortStableFunc(cards, func(a, b *candidate) int { return cmp.Compare(a.last, b.last) })
	for i, c := range cards {
		c.order = i
	}
	if len(cards) > wholeDeck {
		slices.SortStableFunc(cards, func(a, b *candidate) int { return cmp.Compare(a.round, b.round) })
		cards, h.reserve = cards[:wholeDeck], cards[wholeDeck:]
	}
	h.cards = cards
}

// card makes the candidate of one track.
func (p *plan) card(h *hand, id int32, unheard int) *candidate {
	c := &candidate{
		names: p.index.names[id], id: id, path: p.index.tracks[id].Path,
		hand: h, music: h.music, last: never, round: unheard,
	}
	if a, ok := p.heard[id]; ok {
		c.last, c.round = a.At.UnixNano(), a.Round
	}
	return c
}

// isPoor reports that a track does not meet the quality floor of its category.
func (p *plan) isPoor(id int32) bool {
	t := &p.index.tracks[id]
	switch {
	case t.Category.Music():
		return t.Duration < p.floor
	case t.Category == station.Shorts:
		return t.Duration >= shortsBelow
	}
	return false
}

// drawReserve looks at more of the deck from now on.
func (h *hand) drawReserve() bool {
	if len(h.reserve) == 0 {
		return false
	}
	h.cards, h.reserve = append(slices.Clip(h.cards), h.reserve...), nil
	return true
}

// recent reports that a card is among the last that aired of its deck.
func (c *candidate) recent() bool { return c.last != never && c.order >= c.hand.order-c.hand.keep }

// lag is how many rounds a track may lie behind its deck: what could not play
// for long, or is new, does not catch up with a burst of plays.
const lag = 2

// air records that a card is planned at a time.
func (c *candidate) air(at int64) {
	h := c.hand
	if c.last == never {
		c.round = max(h.top-1, c.round+1, 1)
	} else {
		c.round = max(c.round+1, h.top-lag)
	}
	h.top = max(h.top, c.round)
	c.last, c.order = at, h.order
	h.order++
}
