package scheduler

import (
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// reloadLead is how long before the end of what is on air a new list must reach
// the engine: later, it has taken the next entry of the old one.
const reloadLead = 500 * time.Millisecond

// request collects all that a build depends on.
func (s *Scheduler) request(c change, index *rotation.Index) rotation.Request {
	r := rotation.Request{Index: index, Config: s.cfg, State: s.state, Now: s.now(), Seed: s.opt.Seed(), HeadOf: c.headOf}
	s.lead(&r, c.cut)
	if c.head != "" {
		r.Head = []string{c.head}
	}
	if s.opt.Overlay != nil {
		r.Overlay = s.opt.Overlay()
	}
	return r
}

// lead fills in what airs before the first entry of a rotation built now, and when
// that entry should be heard: at once after a skip, or if the end of what is on
// air is unknown.
func (s *Scheduler) lead(r *rotation.Request, cut bool) {
	if s.air.StartedAt.IsZero() {
		return
	}
	left := s.left()
	if len(left) > 0 {
		r.Prepared = []station.Track{left[0].Track}
	}
	if cut || s.air.Kind != Rotation {
		return
	}
	r.Starts, r.Cross = s.air.ends(nil), s.air.Cross
	if len(left) > 0 && r.Starts.Sub(r.Now) <= reloadLead {
		// Too late for the engine to drop it.
		r.InFlight, r.Prepared = r.Prepared, nil
		r.Starts, r.Cross = s.air.ends(left).Add(max(left[0].Track.Duration-left[0].Cross, 0)), left[0].Cross
	}
}

// offTime returns how far the next timed event of a clock is off its time; 0 while
// something other than the rotation is on air, when it is unknown.
func (s *Scheduler) offTime() time.Duration {
	if s.air.Kind != Rotation || s.air.Index < 0 {
		return 0
	}
	return rotation.OffTime(s.rot, s.state.Consumed, s.air.ends(s.left()))
}
