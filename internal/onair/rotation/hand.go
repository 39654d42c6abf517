package rotation

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// hand is the part of one deck that a build considers: all of a small deck, a sample of
// a large one, so that the cost of a build does not grow with the deck.
type hand struct {
	category station.Category
	poor     bool // below the quality floor
	music    bool
	apart    bool // one track that was not dealt
	size     int  // tracks in the whole deck
	deck     []int32
	cards    []*candidate
	drawn    map[int32]bool // tracks of the sample; nil if the whole deck is considered
	order    int            // order of the next airing
	keep     int            // so many of the last aired wait if others can air
	low, top int            // the fewest and the most turns of the cards
	atLow    int            // cards with the fewest turns
	mean     time.Duration  // mean airtime; 0 until it is computed
}

// candidate is one track of a hand.
type candidate struct {
	names
	id     int32
	path   string
	hand   *hand
	music  bool
	starts []int64         // within the history, and planned; Unix ns, oldest first
	last   int64           // the last of all starts, Unix ns; never if there is none
	round  int             // turns it has had
	limits *station.Limits // of its own; nil: none
	order  int             // its place among the airings of the hand, ascending with time
}

const never = math.MinInt64

// since returns the time from the last airing to at.
func (c *candidate) since(at int64) time.Duration {
	if c.last == never {
		return math.MaxInt64
	}
	return time.Duration(at - c.last)
}

const (
	wholeDeck = 768 // a deck up to this size is considered whole
	sampled   = 256 // tracks considered of a larger one
	reserved  = 4 * sampled
	drawTries = 4
)

// deal makes the hand of a deck: all of a deck of moderate size, a random sample of a
// larger one. Each build takes the tracks of the sample with the fewest turns. So over
// many builds the turns of the whole deck stay close together, at a cost that does not
// grow with the deck.
func (p *plan) deal(c station.Category, poor bool) *hand {
	good, rest := p.index.deck(c, p.floor)
	deck := good
	if poor {
		deck = rest
	}
	h := &hand{category: c, poor: poor, music: c.Music(), size: len(deck), deck: deck}
	if len(deck) > wholeDeck && c != station.News { // news needs the newest of all
		h.drawn = make(map[int32]bool, sampled)
		h.sample(p, sampled)
	} else {
		h.all(p)
	}
	h.settle()
	h.keep = h.order / 3
	if h.size <= smallDeck {
		h.keep = h.order * 2 / 3
	}
	return h
}

// smallDeck is the size up to which tracks air several times within one rotation: there,
// rest counts more than chance.
const smallDeck = 40

// sample adds n random tracks.
func (h *hand) sample(p *plan, n int) {
	store := make([]candidate, 0, n)
	for range n * drawTries {
		if len(store) == n {
			break
		}
		id := h.deck[p.rng.IntN(len(h.deck))]
		if h.drawn[id] {
			continue
		}
		h.drawn[id] = true
		store = append(store, p.card(h, id))
	}
	for i := range store {
		h.cards = append(h.cards, &store[i])
	}
}

// all takes the whole deck.
func (h *hand) all(p *plan) {
	store := make([]candidate, len(h.deck))
	h.cards = make([]*candidate, len(h.deck))
	for i, id := range h.deck {
		store[i] = p.card(h, id)
		h.cards[i] = &store[i]
	}
}

// settle sorts the cards by their last airing and counts turns. A track that never had
// a turn gets one fewer than the fewest.
func (h *hand) settle() {
	slices.SortStableFunc(h.cards, func(a, b *candidate) int { return cmp.Compare(a.last, b.last) })
	fewest := math.MaxInt
	h.top = 0
	for i, c := range h.cards {
		c.order = i
		h.top = max(h.top, c.round)
		if c.last != never && c.limits == nil {
			fewest = min(fewest, c.round)
		}
	}
	h.order = len(h.cards)
	if fewest == math.MaxInt {
		fewest = 1
	}
	for _, c := range h.cards {
		if c.last == never {
			c.round = fewest - 1
		}
	}
	h.count()
}

// count computes the fewest turns again. A track with limits of its own falls behind, and
// does not hold the others back, unless there are no others.
func (h *hand) count() {
	h.low, h.atLow = math.MaxInt, 0
	free := slices.ContainsFunc(h.cards, func(c *candidate) bool { return c.limits == nil })
	for _, c := range h.cards {
		switch {
		case free && c.limits != nil:
		case c.round < h.low:
			h.low, h.atLow = c.round, 1
		case c.round == h.low:
			h.atLow++
		}
	}
}

// card makes the candidate of one track.
func (p *plan) card(h *hand, id int32) candidate {
	turn := p.turns.Of(p.index.tracks[id].Path)
	c := candidate{
		names: p.index.names[id], id: id, path: p.index.tracks[id].Path,
		hand: h, music: h.music, last: never, round: turn.Round, starts: p.plays[id],
	}
	if own := p.index.tracks[id].Own; own != nil && own.Limits != (station.Limits{}) {
		c.limits = &own.Limits
	}
	if n, ok := p.taken[id]; ok {
		c.round = n
	}
	if n := len(c.starts); n > 0 {
		c.last = c.starts[n-1]
	} else if turn.Round > 0 {
		c.last = turn.At.UnixNano()
	}
	p.restSince(&c)
	return c
}

// isPoor reports whether a track is below the quality floor of its category.
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

// drawMore enlarges the sample of a deck and returns the new cards.
func (h *hand) drawMore(p *plan) []*candidate {
	before := len(h.cards)
	if h.drawn == nil || len(h.drawn) >= reserved {
		return nil
	}
	h.sample(p, reserved-len(h.drawn))
	more := slices.Clone(h.cards[before:])
	h.settle()
	return more
}

// recently bounds what counts as recent in a large deck: with a longer rest, the order
// of one day would follow that of the day before.
const recently = 9 * time.Hour

// recent reports whether a card is among the last that aired of its deck.
func (c *candidate) recent(at int64) bool {
	return c.last != never && c.order >= c.hand.order-c.hand.keep && c.since(at) < recently
}

// lag is how many rounds a track may be behind its deck, so that a new track, or one
// that could not air for long, does not catch up in a burst of plays.
const lag = 2

// air records that a card is planned at a time.
func (c *candidate) air(at int64) {
	h, was := c.hand, c.round
	if c.last == never {
		c.round = max(h.top-1, c.round+1, 1)
	} else {
		c.round = max(c.round+1, h.top-lag)
	}
	h.top = max(h.top, c.round)
	c.last, c.order = at, h.order
	c.starts = append(slices.Clip(c.starts), at)
	h.order++
	if was != h.low {
		return
	}
	if h.atLow--; h.atLow <= 0 || c.limits != nil {
		h.count()
	}
}
