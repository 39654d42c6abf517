package outward

import (
	"time"

	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// broadcast is one live broadcast.
type broadcast struct {
	key   string // the same after a restart
	name  string
	began time.Time
	ended time.Time // zero while it goes on
	whole bool      // the view reaches back to its begin
	found bool      // it was on the air at the first look
}

// takeovers follows live broadcasts on the air. One lasts from the first airing of a
// live source to the first airing of anything else. New titles meanwhile belong to the
// same takeover, even after a restart of the engine.
//
//	none ──live airs──► on ──something else airs──► none
type takeovers struct {
	on     *broadcast
	over   string // key of the last one that has ended
	looked bool
}

// step compares the air with the previous call and returns what happened since: a
// takeover that began, without its end, and one that ended, with it. The first call
// returns an end, which may not have been announced yet, but no begin that has passed.
func (b *takeovers) step(v *scheduler.View) (happened []broadcast) {
	first := !b.looked
	b.looked = true
	now, found := newestLive(v)
	if !found {
		return nil
	}
	if b.on != nil && now.whole && now.key != b.on.key { // another one followed
		happened = append(happened, b.end(now.began))
	}
	if b.on == nil && now.key != b.over {
		began := now
		began.ended, began.found = time.Time{}, first
		b.on = &began
		if !first || now.ended.IsZero() {
			happened = append(happened, began)
		}
	}
	if b.on != nil && !now.ended.IsZero() {
		happened = append(happened, b.end(now.ended))
	}
	return happened
}

func (b *takeovers) end(at time.Time) broadcast {
	out := *b.on
	out.ended, b.over, b.on = at, out.key, nil
	return out
}

// newestLive returns the newest live takeover of a view.
func newestLive(v *scheduler.View) (b broadcast, found bool) {
	for _, a := range append([]scheduler.OnAir{v.OnAir}, v.Past...) {
		switch {
		case a.Kind == scheduler.Live:
			b.key, b.name, b.began, found = a.ID(), a.Track.Title, a.StartedAt, true
		case found:
			b.whole = true
			return b, true
		default:
			b.ended = a.StartedAt // zero while the engine starts
		}
	}
	return b, found
}
