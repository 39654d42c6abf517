package rotation

import (
	"slices"
	"time"
)

// fit is the time before a timed event that the next music entry should fill.
type fit struct {
	// room is the time left for music, this entry's included.
	room  time.Duration
	slack time.Duration // how far off the event may be
	// after are the airtimes that may follow the entry, ascending; nil when it
	// is the last before the event.
	after []time.Duration
	// least and most bound the airtime of several entries after it; 0 means none.
	least, most time.Duration
}

// takes reports whether an entry of that airtime ends in time, alone or with the
// entries that may follow.
func (f *fit) takes(airtime time.Duration) bool { return f.miss(airtime) <= f.slack }

// miss returns how far off the event would be at best.
func (f *fit) miss(airtime time.Duration) time.Duration {
	left := f.room - airtime
	if f.most > 0 {
		return max(f.least-left, left-f.most, 0)
	}
	if f.after == nil {
		return left.Abs()
	}
	i, _ := slices.BinarySearch(f.after, left)
	best := time.Duration(1<<63 - 1)
	for _, j := range []int{i - 1, i} {
		if j >= 0 && j < len(f.after) {
			best = min(best, (left - f.after[j]).Abs())
		}
	}
	return best
}

// airtime returns how long a card is on air before the next entry starts.
func (p *plan) airtime(c *candidate) time.Duration {
	t := &p.index.tracks[c.id]
	return airtime(*t, CrossFor(t))
}

// enough is how many airtimes suffice to find one that fits.
const enough = 12

// airtimes returns, ascending, the airtimes of the cards that are likely to air next:
// fresh ones with few turns. So a song whose length often fits does not air more often
// than others.
func (p *plan) airtimes(h *hand) []time.Duration {
	var due, fresh []time.Duration
	for _, c := range h.cards {
		if c.since(p.at) < p.fresh || c.path == p.last[0] || beyondOwn(p, c) {
			continue
		}
		fresh = append(fresh, p.airtime(c))
		if c.round <= h.low && !c.recent(p.at) {
			due = append(due, p.airtime(c))
		}
	}
	if len(due) >= enough {
		fresh = due
	}
	slices.Sort(fresh)
	return fresh
}

// meanAirtime returns the mean airtime of a hand's cards; 0 if it has none.
func (p *plan) meanAirtime(h *hand) time.Duration {
	if len(h.cards) == 0 {
		return 0
	}
	if h.mean == 0 {
		sum := time.Duration(0)
		for _, c := range h.cards {
			sum += p.airtime(c)
		}
		h.mean = max(sum/time.Duration(len(h.cards)), 1)
	}
	return h.mean
}
