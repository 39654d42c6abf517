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
	overlay  bool // one track from outside the deck
	size     int  // of the whole deck
	deck     []int32
	unheard  int // the round of what is not in the history
	cards    []*candidate
	reserve  []*candidate   // looked at only where the rest cannot keep the rules
	drawn    map[int32]bool // of a sample
	order    int            // of the next airing
	keep     int            // so many of the last aired are not drawn again if others can be
	top      int            // the highest round in the deck
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
	h.deck, h.unheard = deck, low-1
	if len(deck) > wholeDeck && heard*2 < len(deck) {
		h.drawn = make(map[int32]bool, sampled)
		h.sample(p, sampled)
	} else {
		h.all(p)
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

// sample adds n tracks, at random, that are not in the history.
func (h *hand) sample(p *plan, n int) {
	for range n * drawTries {
		id := h.deck[p.rng.IntN(len(h.deck))]
		if _, heard := p.heard[id]; heard || h.drawn[id] {
			continue
		}
		h.drawn[id] = true
		c := p.card(h, id)
		c.order = -1
		h.cards = append(h.cards, &c)
		if n--; n == 0 {
			return
		}
	}
}

// all puts the whole deck in order.
func (h *hand) all(p *plan) {
	cards := make([]*candidate, len(h.deck))
	store := make([]candidate, len(h.deck))
	for i, id := range h.deck {
		store[i] = p.card(h, id)
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
func (p *plan) card(h *hand, id int32) candidate {
	c := candidate{
		names: p.index.names[id], id: id, path: p.index.tracks[id].Path,
		hand: h, music: h.music, last: never, round: h.unheard,
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

// drawReserve looks at more of the deck from now on; false when it cannot.
func (h *hand) drawReserve(p *plan) bool {
	before := len(h.cards)
	if h.drawn != nil && len(h.drawn) < reserved {
		h.sample(p, reserved-len(h.drawn))
	}
	h.cards, h.reserve = append(slices.Clip(h.cards), h.reserve...), nil
	return len(h.cards) > before
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
