package scheduler

import (
	"slices"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// A node on a slow line gets as much of a rotation as it has the media of, and pulls on. The
// rest is kept here, and goes on where that part is used up: another plan would ask for
// other files, and what was pulled meanwhile would be of no use to it.

// goesOn reports that a rotation which is used up goes on with the rest, as nothing asks
// for another plan.
func (s *Scheduler) goesOn(now rotation.Situation) bool {
	return len(s.rest) > 0 && len(s.queued) == 0 && s.early == "" && now.Cause == rotation.Write && now.Length > 0 &&
		now.StampedDaypart == now.LiveDaypart && now.StampedLists == now.LiveLists && now.OffTime <= 0
}

// plan makes the next rotation: anew, or of what was planned already.
func (s *Scheduler) plan(c change, tracks []station.Track, lists []rotation.List, gone map[string]bool) rotation.Rotation {
	r := s.request(c, tracks, s.indexOf(tracks, gone))
	r.Lists = lists
	if c.onward && !s.relisted { // or it would go by playlists of before
		rest := slices.DeleteFunc(slices.Clone(s.rest), s.restated)
		if rot := rotation.Continue(r, s.rot, slices.Concat(s.left(), rest)); len(rot.Entries) > 0 {
			return rot
		}
	}
	return rotation.Build(r)
}
