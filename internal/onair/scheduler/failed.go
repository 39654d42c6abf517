package scheduler

import (
	"maps"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// Why an entry of the rotation was passed over, for people.
const (
	whyUnplayable = "the playout engine could not open it, or found no sound in it"
	whyGone       = "its file has left the library"
)

// passedOver returns the entries of the rotation that could not be aired, by index,
// once a marker has come. The engine plays the list in order and numbers its markers:
// what lies between two that follow each other it tried and could not play. Where a
// marker is missing, what it was for may have been heard. A marker clears its entry.
func (s *Scheduler) passedOver(m Marker, rel string, out rotation.Outcome) map[int]string {
	failed := maps.Clone(s.failed)
	for i := range failed {
		if s.rot.Entries[i].Track.Path == rel {
			delete(failed, i)
		}
	}
	if m.Engine != s.air.Engine || m.Seq != s.air.Seq+1 {
		return failed
	}
	next := s.state.Consumed
	switch out.Kind {
	case rotation.Advanced:
		next = out.Index
	case rotation.Wrapped:
		if heldOf(s.left()) > 0 {
			return failed // they are still to come
		}
		next = len(s.rot.Entries)
	}
	for i := s.state.Consumed; i < next; i++ {
		why, path := whyUnplayable, s.rot.Entries[i].Track.Path
		if _, there := s.opt.Library.Find(path); !there {
			why = whyGone
		}
		s.log.Warn("track not aired", "file", path, "entry", i, "why", why)
		if failed == nil {
			failed = map[int]string{}
		}
		failed[i] = why
	}
	return failed
}
