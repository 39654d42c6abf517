package rotation

import (
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// A bulletin tells the time. It is never heard more than ten minutes after that time.
// Plans allow half a minute less, for what may yet be late: a marker, a push, a cross.
const (
	NewsLate  = 10*time.Minute - 30*time.Second
	NewsEarly = 2 * time.Minute
	// NewsNotice is how far ahead the planner's place for news must lie if the
	// bulletin for it is still to be made.
	NewsNotice = 3 * time.Minute
)

// Timely reports whether a bulletin that tells a time may be planned for another. The
// zero time is that of a track that tells none.
func Timely(tells, at time.Time) bool {
	off := at.Sub(tells)
	return tells.IsZero() || -NewsEarly <= off && off <= NewsLate
}

// freePlace is a place for which a bulletin is still to be made.
type freePlace struct {
	open      bool
	due       time.Time // of the timed event that it is; zero if it is none
	tolerance time.Duration
}

// timely reports whether a track tells no time, or one that is right in the next place.
func (p *plan) timely(c *candidate) bool { return Timely(p.tells[c.path], p.time()) }

// news adds the newest bulletin. Where that would tell a wrong time, the place is left
// free for a new one. Between two places of the planner's own lie 20 entries, so there
// the cadence outranks the cooldown, which is that of imaging; a clock can ask for news
// twice in a row.
func (p *plan) news(slot int) {
	if p.full() {
		return
	}
	p.wanted = station.News
	h := p.hand(station.News, false)
	newest := p.newest(h)
	if newest == nil || justPlayed(p, newest) {
		return
	}
	again, ownPlace := onCooldown(p, newest), p.wheel == nil || p.wheel.open()
	switch {
	case again && !ownPlace:
	case p.tells[newest.path].IsZero(), !again && p.timely(newest):
		p.place(&choice{card: newest, seen: h.size}, slot)
		p.out[len(p.out)-1].Why.Reason = "the newest bulletin"
		p.pace.newsGap = newsGap(p)
	case p.renewed && p.at-p.now >= int64(NewsNotice):
		p.free.open = true
		p.pace.sinceNews, p.pace.newsGap = 0, newsGap(p)
	}
}

func (p *plan) newest(h *hand) *candidate {
	var newest *candidate
	for _, c := range h.cards {
		if newest == nil || p.newer(c, newest) {
			newest = c
		}
	}
	return newest
}

func (p *plan) newer(a, b *candidate) bool {
	x, y := p.index.tracks[a.id], p.index.tracks[b.id]
	if !x.ModTime.Equal(y.ModTime) {
		return x.ModTime.After(y.ModTime)
	}
	return x.Path > y.Path
}
