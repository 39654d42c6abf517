package rotation

import (
	"math"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// A hard window means what it says (mission: *Rotation rebuild*, "so the rotation may then
// be short"):
//
//	its deck is empty                  the mix without multipliers, each entry says so
//	its deck is shorter than COOLDOWN  a break after every song, and a list that ends
//	                                   where the next song would repeat
//	otherwise                          as in any window
//
// scarcity is which of the three holds.
type scarcity int

const (
	plenty scarcity = iota
	short           // the deck of the hard window lasts less than the cooldown
	empty           // the deck of the hard window holds nothing
)

// scarce returns how much a hard window finds in its deck; plenty without a gate.
func (x *Index) scarce(hard station.Category, cooldown time.Duration) scarcity {
	deck := x.music[hard]
	switch {
	case hard == "":
		return plenty
	case deck.songs == 0:
		return empty
	case deck.airtime < cooldown:
		return short
	}
	return plenty
}

// shortest is the length, in entries, at which a rotation of a short deck may end: at 0.85
// consumed the engine has three entries left.
const shortest = 20

// enough reports whether the rotation ends before a choice, because a short deck has
// nothing left that is off its cooldown. A later rebuild knows what has arrived since.
func (p *plan) enough(ch *choice) bool {
	return p.scarcity == short && len(p.out) >= shortest && ch.breach&p.bits.cooldown != 0
}

// apart places an imaging element if only a song of the hard window's deck that just
// played is left: then it may air again. False if no element may air.
func (p *plan) apart(ch *choice) bool {
	if p.scarcity != short || !outsideGate(p, ch.card) {
		return false
	}
	wanted := p.wanted
	defer func() { p.wanted = wanted }()
	slot, opened := p.openSlot()
	for _, c := range []station.Category{station.Sweepers, station.SFX, station.Jingles} {
		if p.element(c, slot) {
			return true
		}
	}
	if opened {
		p.pace.slot--
		p.pace.sinceJingle--
	}
	return false
}

// widened returns the size of a break that brings the songs of a short deck back as late
// as the cooldown asks, or as late as a break of ordinary size can.
func (p *plan) widened() int {
	deck := p.index.music[p.hard]
	wait := (p.cooldown - deck.airtime) / time.Duration(deck.songs)
	each := max(p.meanAirtime(p.hand(station.Sweepers, false)), time.Second)
	return min(max(int(wait/each), 1), mostElements)
}

// settleOwed forgets the elements beyond the ordinary share: breaks would be missing when
// the window is over.
func (p *plan) settleOwed() {
	owed := int(math.Round(annotatedPerMusic * float64(p.pace.music)))
	p.pace.annotated = min(p.pace.annotated, owed)
}
