// Package wallclock notices when the wall clock is set, by comparing it with the monotonic
// one, which only runs.
package wallclock

import "time"

// Watch compares the clocks. A clock that is slewed is not set: each look begins anew. One
// goroutine may use it.
type Watch struct {
	now  func() time.Time
	wall time.Time // what it would show at the time that began notes, as it is set now
	// began is read by the clock that only runs.
	began time.Time
}

// New begins to compare what now tells, the wall clock.
func New(now func() time.Time) *Watch {
	return &Watch{now: now, wall: now().Round(0), began: time.Now()} // Round(0) leaves the wall clock alone
}

// Set returns by how much the wall clock was set since the last look, less than nothing
// when back. On a busy machine time passes between two readings: set is what shows none of
// that time.
func (w *Watch) Set() (by time.Duration) {
	before := time.Since(w.began)
	moved := w.now().Round(0).Sub(w.wall)
	after := time.Since(w.began)
	switch {
	case moved < before:
		by = moved - before
	case moved > after:
		by = moved - after
	}
	w.wall = w.wall.Add(by)
	return by
}
