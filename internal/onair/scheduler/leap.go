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

// followClock moves what is compared with times to come by as much as the wall clock was
// set, and reports whether it was. Where that went back, what the rotation was planned for
// lies ahead: it is planned anew, as after a restart. (One that went forward is noticed by
// what it moves: the daypart, a timed event, a bulletin.)
func (s *Scheduler) followClock(again *time.Timer) bool {
	by := s.clock.Set()
	if by.Abs() < leastLeap {
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
		s.rot.Removed = slices.Clone(s.rot.Removed)
		for i := range s.rot.Removed {
			s.rot.Removed[i].At = moved(s.rot.Removed[i].At, by)
		}
		s.deeds = nil // what was heard since is no longer told from what was heard before
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
