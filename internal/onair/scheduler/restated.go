package scheduler

import (
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// An operator who limits a track, moves it to another deck or says what of it airs means the
// next hours too, which are planned already. So such an entry still to come has the rotation
// built anew, once: the new plan goes by what is said now, also where nothing else could air.

// restated reports that an operator has said something else of an entry since it was planned
// that its place goes by.
func (s *Scheduler) restated(e rotation.Entry) bool {
	now, there := s.opt.Library.Find(e.Track.Path)
	if !there {
		return false
	}
	is, was := ownOf(now), ownOf(e.Track)
	return now.Category != e.Track.Category || is.Cut.Cross != was.Cut.Cross ||
		is.Limits != was.Limits && is.Limits != station.Limits{}
}

// recut reports that of an entry another file airs than the one that was delivered, because
// of what an operator has said of where it begins and ends.
func (s *Scheduler) recut(e rotation.Entry, delivered string) bool {
	now, there := s.opt.Library.Find(e.Track.Path)
	if !there || ownOf(now).Cut == (station.Cut{}) && ownOf(e.Track).Cut == (station.Cut{}) {
		return false
	}
	path, _ := s.opt.Airs(e.Track.Path)
	return path != delivered
}

// outdated reports that an entry still to come is not what an operator says now.
func (s *Scheduler) outdated() bool {
	first := len(s.rot.Entries) - len(s.left())
	for i, e := range s.left() {
		if s.restated(e) || first+i < len(s.delivered) && s.recut(e, s.delivered[first+i].Path) {
			return true
		}
	}
	return false
}

// ownOf is what an operator says of a track; the zero value says nothing.
func ownOf(t station.Track) station.Own {
	if t.Own == nil {
		return station.Own{}
	}
	return *t.Own
}
