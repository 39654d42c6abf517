package requests

import (
	"sync"
	"time"
)

// listing is the order in which everything is listed. It is made once for all listeners, and
// again only where what it was made of has changed: pages fit together until then.
type listing struct {
	mu     sync.Mutex // held while it is made
	of     state
	places []int // of the shelf's tracks; never changed
}

// state is what a listing depends on, to the minute.
type state struct {
	shelf               *shelf
	kept                *kept
	built               time.Time
	heard               string
	rest, gap, shortest time.Duration
	airs                uint64 // which of the categories do
	minute              int64
}

// listed returns the places of all tracks that may be asked for: first those that no rule
// stands against, whoever asks, then the others, each in the order of the shelf.
func (r *Requests) listed(s *shelf, m *moment) []int {
	now := state{
		shelf: s, kept: m.kept, built: m.air.Built, rest: m.air.Rest, gap: m.air.ArtistGap, shortest: m.air.Shortest, minute: m.base.now.Unix() / 60,
	}
	if len(m.air.Heard) > 0 {
		now.heard = m.air.Heard[0].ID
	}
	for i, c := range r.opt.Limits.Categories {
		if m.airs(c) {
			now.airs |= 1 << i
		}
	}
	r.whole.mu.Lock()
	defer r.whole.mu.Unlock()
	if r.whole.of == now && r.whole.places != nil {
		return r.whole.places
	}
	f := m.base
	free, rest := make([]int, 0, len(s.tracks)), []int(nil)
	for i, t := range s.tracks {
		if t.Duration < m.air.Shortest {
			continue
		}
		m.add(&f, t, s.keys[i])
		if _, _, granted := f.ofTrack(); granted {
			free = append(free, i)
		} else {
			rest = append(rest, i)
		}
	}
	r.whole.of, r.whole.places = now, append(free, rest...)
	return r.whole.places
}
