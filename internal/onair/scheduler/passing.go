package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// In the moments around the end of what is on the air nobody outside the engine knows whether it
// has taken the next entry: it may still drop that when it reads a new list, and may not. The
// entry would be lost, or heard twice: no list but that of a Play is pushed until its marker has
// come, or a second has passed.

// passedAfter is how long after its time a marker may come.
const passedAfter = time.Second

// passing returns how long it stays unknown whether the engine has taken the next entry; 0 when
// it is known, and for entries so short that it never would be, unless they are held.
func passing(air OnAir, left []rotation.Entry, now time.Time) time.Duration {
	if len(left) == 0 || air.Kind != Rotation || air.StartedAt.IsZero() || air.ends(nil).Sub(now) > reloadLead {
		return 0
	}
	if air.Track.Duration < 4*reloadLead && !left[0].Held {
		return 0
	}
	return max(air.ends(left).Add(passedAfter).Sub(now), 0)
}

func (s *Scheduler) passing() time.Duration { return passing(s.air, s.left(), s.opt.Now()) }

// errPassing says that an order waits for the next entry to begin.
var errPassing = errors.New("the engine is taking the next entry")

// askCalm is ask for an order that pushes a list: it waits while the next entry is being taken.
func (s *Scheduler) askCalm(ctx context.Context, do func(context.Context) error) error {
	changed, cancel := s.Subscribe()
	defer cancel()
	for {
		v := s.View()
		wait := passing(v.OnAir, v.Left(), s.opt.Now())
		if wait == 0 || s.stopped() {
			err := s.ask(ctx, func(ctx context.Context) error {
				if s.passing() > 0 {
					return &refusal{errPassing}
				}
				return do(ctx)
			})
			if !errors.Is(err, errPassing) {
				return err
			}
			continue
		}
		if err := s.pause(ctx, changed, wait); err != nil {
			return err
		}
	}
}

// pause waits until something has changed, a time has passed or Run has returned.
func (s *Scheduler) pause(ctx context.Context, changed <-chan struct{}, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-s.done: // ask says so
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// endsAlone waits while the next entry is being taken, and reports that it has begun.
func (s *Scheduler) endsAlone(ctx context.Context) bool {
	changed, cancel := s.Subscribe()
	defer cancel()
	for was := s.View().OnAir; ; {
		v := s.View()
		if v.OnAir.ID() != was.ID() {
			return v.OnAir.Kind == Rotation
		}
		wait := passing(v.OnAir, v.Left(), s.opt.Now())
		if wait == 0 || s.stopped() || s.pause(ctx, changed, wait) != nil {
			return false
		}
	}
}

// stopped reports that Run has returned.
func (s *Scheduler) stopped() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}
