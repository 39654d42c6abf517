package wallclock

import "time"

// Steady tells for how long a clock has gone on without being set. What is removed for its age
// waits for that: a clock that is a year ahead makes everything old. The zero value is ready;
// one goroutine may use it.
type Steady struct {
	last time.Time
	gone time.Duration
}

// mostBetween is how much more than was meant may pass between two looks of a clock that was
// not set: a machine may be busy, or held up for a moment.
const mostBetween = time.Hour

// Look is called every so often with what the clock shows, and returns for how long it has not
// been set: nothing at the first look, and after each that comes too late or too early.
func (s *Steady) Look(now time.Time, every time.Duration) time.Duration {
	now = now.Round(0) // the wall clock alone
	passed := now.Sub(s.last)
	if s.last.IsZero() || passed < 0 || passed > every+mostBetween {
		s.gone = 0
	} else {
		s.gone += every
	}
	s.last = now
	return s.gone
}
