package rotation

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// choice is the best of the cards considered, and why.
type choice struct {
	card   *candidate
	breach breach
	seen   int
	ties   int
	passed [32]passed // by the weightiest rule broken
	guest  Guest      // what a listener brings; empty for the station's own
	of     int        // posts that it is the best of
	list   *listing   // the playlist that it is of; nil: none
	place  ListPlace  // in that
	reason string     // in place of the others
}

type passed struct {
	count   int
	example *candidate
}

// look judges cards by the rules in want and keeps the best: the least breach, then not
// among the last that aired, then the fewest turns, then chance. It excludes breaches of
// limit and above.
func (p *plan) look(ch *choice, cards []*candidate, want, limit breach) {
	for _, c := range cards {
		if (c.hand.apart || c.hand.category == station.News) && !p.timely(c) {
			continue // in place of nothing else, either
		}
		ch.seen++
		b := p.judge(c, want, ch)
		if b >= limit {
			ch.pass(c, b)
			continue
		}
		switch {
		case ch.card == nil || b < ch.breach:
			if ch.card != nil && ch.breach != 0 {
				ch.pass(ch.card, ch.breach)
			}
			ch.card, ch.breach, ch.ties = c, b, 1
		case b > ch.breach:
			ch.pass(c, b)
		default:
			p.tie(ch, c)
		}
	}
}

// tie decides between cards that break the same rules.
func (p *plan) tie(ch *choice, c *candidate) {
	if c.hand != ch.card.hand {
		return // the first hand is preferred
	}
	a, b := ch.card.recent(p.at), c.recent(p.at)
	switch {
	case ch.breach&p.bits.timed != 0 && p.fit.miss(p.airtime(c)) != p.fit.miss(p.airtime(ch.card)):
		if p.fit.miss(p.airtime(c)) < p.fit.miss(p.airtime(ch.card)) {
			ch.card, ch.ties = c, 1
		}
	case a != b:
		if a {
			ch.card, ch.ties = c, 1
		}
	case c.round > ch.card.round:
		ch.pass(c, p.bits.turnover)
	case c.round < ch.card.round:
		ch.pass(ch.card, p.bits.turnover)
		ch.card, ch.ties = c, 1
	case a && c.order != ch.card.order: // both are recent: the one that aired earlier
		if c.order < ch.card.order {
			ch.card, ch.ties = c, 1
		}
	default:
		if ch.ties++; p.rng.IntN(ch.ties) == 0 {
			ch.card = c
		}
	}
}

// judge returns the rules a card breaks. It checks the weightiest first and stops once
// the card cannot be the best any more.
func (p *plan) judge(c *candidate, want breach, ch *choice) (b breach) {
	for i := len(p.rules) - 1; i >= 0; i-- {
		one := breach(1) << i
		if want&one != 0 && p.rules[i].wrong(p, c) {
			if b |= one; ch.card != nil && b > ch.breach {
				return b
			}
		}
	}
	return b
}

func (ch *choice) pass(c *candidate, b breach) {
	p := &ch.passed[bits.Len32(uint32(b))-1]
	if p.count++; p.example == nil {
		p.example = c
	}
}

// pickMusic chooses the next music entry: of the wanted category, otherwise what keeps
// the weightier rules, in the end anything at all. Nil when the library is empty.
func (p *plan) pickMusic() *choice {
	ch := &choice{}
	all := breach(1)<<len(p.rules) - 1
	look := func(h *hand) {
		p.look(ch, h.cards, all, all+1)
		if ch.card != nil && ch.breach >= p.bits.fresh {
			p.look(ch, h.drawMore(p), all, all+1)
		}
	}
	look(p.hand(p.wanted, false))
	short := func(limit breach) bool { return ch.card == nil || ch.breach >= limit }
	if short(p.bits.split) {
		p.each(true, false, look)
	}
	if short(p.bits.floor) {
		p.each(true, true, look)
	}
	if short(p.bits.musicOnly) {
		p.each(false, false, look)
		p.each(false, true, look)
	}
	if ch.card == nil {
		return nil
	}
	return ch
}

// each visits the hands of the other music categories, or of all imaging.
func (p *plan) each(music, poor bool, look func(*hand)) {
	for _, c := range station.Categories() {
		if c.Music() == music && (poor || c != p.wanted) {
			look(p.hand(c, poor))
		}
	}
}

// pickElement chooses an imaging element: it keeps its cooldown or is left out. One that
// the engine had prepared airs only where no other may.
func (p *plan) pickElement(c station.Category) *choice {
	p.wanted = c
	cards, held := p.hand(c, false).cards, []*candidate(nil)
	if len(p.prepared) > 0 {
		held = slices.DeleteFunc(slices.Clone(cards), func(c *candidate) bool { return !p.held(c) })
		cards = slices.DeleteFunc(slices.Clone(cards), p.held)
	}
	ch := &choice{}
	for _, some := range [][]*candidate{cards, held} {
		if ch.card == nil {
			p.look(ch, some, p.bits.cooldown|p.bits.justPlayed|p.bits.limits, 1)
		}
	}
	if ch.card == nil {
		return nil
	}
	return ch
}

// held reports whether an element that the engine had prepared would be on cooldown now if
// it aired before the first entry.
func (p *plan) held(c *candidate) bool {
	return slices.Contains(p.prepared, c.id) && time.Duration(p.at-p.began) < p.elementCooldown
}

// why describes a choice.
func (p *plan) why(ch *choice) Why {
	w := Why{Wanted: p.wanted, Considered: ch.seen}
	h := ch.card.hand
	switch {
	case ch.reason != "":
		w.Reason = ch.reason
	case ch.guest == GuestRequest:
		w.Reason = "asked for by a listener"
	case ch.guest == GuestPost:
		w.Reason = fmt.Sprintf("from a listener, the best of %d", ch.of)
	case h.music && p.scarcity == empty && h.category != p.hard:
		w.Reason = fmt.Sprintf("%s alone should air now, but has no song: the mix goes on", p.hard)
	case h.category != p.wanted && h.category == station.ArabicHits:
		w.Reason = fmt.Sprintf("supplement from arabic_hits: %s is short of tracks", p.wanted)
	case h.category != p.wanted:
		w.Reason = fmt.Sprintf("%s in place of %s, which is short of tracks", h.category, p.wanted)
	case ch.card.last == never:
		w.Reason = fmt.Sprintf("not aired of late; one of %d in %s", h.size, h.category)
	default:
		w.Reason = fmt.Sprintf("turn %d; one of %d in %s", ch.card.round+1, h.size, h.category)
	}
	for i := len(p.rules) - 1; i >= 0; i-- {
		if n := ch.passed[i]; n.count > 0 {
			w.PassedOver = append(w.PassedOver, Passed{p.rules[i].Rule, n.count, n.example.path})
		}
	}
	return w
}
