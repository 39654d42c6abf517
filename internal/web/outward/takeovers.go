package outward

import (
	"time"

	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// takeover is one time that somebody is, or was, live.
type takeover struct {
	key   string // the same after a restart
	name  string
	began time.Time
	ended time.Time // zero while it goes on
	whole bool      // its begin is in sight
}

// takeovers follow who is live, as the air shows it: from the first thing that
// a live source is heard with to the first that is heard after it. New titles
// meanwhile are the same takeover, and so is an engine that starts again.
//
//	nobody ──live is heard──► on ──something else is heard──► nobody
type takeovers struct {
	on     *takeover
	over   string // key of the last one that has ended
	looked bool
}

// step takes a look at the air, and returns what has happened since the look
// before: one that has begun without its end, one that has ended with it. The
// first look tells of an end that nobody may have seen, not of a begin that has
// passed.
func (b *takeovers) step(v *scheduler.View) (told []takeover) {
	first := !b.looked
	b.looked = true
	now, found := newestLive(v)
	if !found {
		return nil
	}
	if b.on != nil && now.whole && now.key != b.on.key { // another one followed
		told = append(told, b.end(now.began))
	}
	if b.on == nil && now.key != b.over {
		began := now
		began.ended = time.Time{}
		b.on = &began
		if !first || now.ended.IsZero() {
			told = append(told, began)
		}
	}
	if b.on != nil && !now.ended.IsZero() {
		told = append(told, b.end(now.ended))
	}
	return told
}

func (b *takeovers) end(at time.Time) takeover {
	out := *b.on
	out.ended, b.over, b.on = at, out.key, nil
	return out
}

// newestLive is the newest live takeover in sight.
func newestLive(v *scheduler.View) (b takeover, found bool) {
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
