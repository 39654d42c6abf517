package scheduler

import (
	"slices"
	"time"
)

const (
	// leapEvery is how often the wall clock is compared with the clock that only runs.
	leapEvery = time.Second
	// leastLeap is the least that the wall clock is seen to be set by.
	leastLeap = 2 * time.Second
)

// wallClock finds out when the wall clock is set, which moves the times of what
// is and was on the air.
type wallClock struct {
	now  func() time.Time
	wall time.Time // what it would show at the time that began notes, as it is set now
	// began is read by the clock that only runs.
	began time.Time
}

func newWallClock(now func() time.Time) *wallClock {
	return &wallClock{now: now, wall: now().Round(0), began: time.Now()}
}

// leap returns by how much the wall clock was set since it last said so; 0 for little. On a
// busy machine time passes between two readings: set is what shows none of that time.
func (c *wallClock) leap() (by time.Duration) {
	before := time.Since(c.began)
	moved := c.now().Round(0).Sub(c.wall)
	after := time.Since(c.began)
	switch {
	case moved < before:
		by = moved - before
	case moved > after:
		by = moved - after
	}
	if by.Abs() < leastLeap {
		return 0
	}
	c.wall = c.wall.Add(by)
	return by
}

// followClock moves what is compared with times to come by as much as the wall clock was
// set, and reports whether it was. Where that went back, what the rotation was planned for
// lies ahead: it is planned anew, as after a restart. (One that went forward is noticed by
// what it moves: the daypart, a timed event, a bulletin.)
func (s *Scheduler) followClock(again *time.Timer) bool {
	by := s.clock.leap()
	if by == 0 {
		return false
	}
	s.log.Warn("the clock of this machine was set", "by", by.Round(time.Second))
	s.air.StartedAt = moved(s.air.StartedAt, by)
	s.past = slices.Clone(s.past)
	for i := range s.past {
		s.past[i].StartedAt = moved(s.past[i].StartedAt, by)
	}
	if by < 0 && len(s.rot.Entries) > 0 {
		// Markers are compared with it: one that lies ahead would make strangers of them.
		s.rot.BuiltAt = moved(s.rot.BuiltAt, by)
		if by <= -clockSlack {
			s.restart = true
			again.Reset(0)
		}
	}
	s.publish()
	return true
}

// moved returns a time of the wall clock after that was set; zero stays zero.
func moved(at time.Time, by time.Duration) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Round(0).Add(by)
}
