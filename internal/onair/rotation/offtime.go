package rotation

import (
	"slices"
	"time"
)

// OffTime returns how far the next timed event has moved from its time since the rotation
// was built, if the next entry starts at next: a takeover or a skip moves everything
// after it. It is zero while the event is within its tolerance, if the plan was no better
// either, and if too few entries are left before it to choose again. What is held
// comes as it is.
func OffTime(rot Rotation, consumed int, next time.Time) time.Duration {
	const choices = 2 // entries before the event that a rebuild can change
	left := rot.Entries[min(consumed, len(rot.Entries)):]
	i := slices.IndexFunc(left, func(e Entry) bool { return !e.Due.IsZero() && !e.Held })
	if i < choices {
		return 0
	}
	free := slices.DeleteFunc(slices.Clone(left[:i]), func(e Entry) bool { return e.Held })
	if len(free) < choices {
		return 0
	}
	due, tolerance := left[i].Due, left[i].Tolerance
	planned := Expected(rot.Entries, rot.Starts)[consumed+i]
	now := Expected(left, next)[i]
	off, drift := now.Sub(due), now.Sub(planned)
	if off.Abs() <= tolerance || drift.Abs() <= tolerance/2 {
		return 0
	}
	return off.Abs()
}
