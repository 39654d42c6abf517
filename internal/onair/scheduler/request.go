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
func (s *Scheduler) request(c change, tracks []station.Track, index *rotation.Index) rotation.Request {
	r := rotation.Request{Index: index, Config: s.cfg, State: s.state, Now: s.now(), Seed: s.opt.Seed(), HeadOf: c.headOf}
	r.Lists = s.listsNow()
	s.lead(&r, c.cut)
	s.handed(&r, c)
	r.Listed = s.listedOf(r)
	r.Head = s.heads(c, later(r.Starts, r.Now), r.InFlight)
	r.Tells, r.Renewed = s.told(tracks), s.renewed.Load()
	if s.opt.Overlay != nil {
		r.Overlay = s.opt.Overlay()
	}
	return r
}

// lead fills in what airs before the first entry of a rotation built now, and when
// that entry should be heard: at once after a skip, or if the end of what is on
// air is unknown.
//
// The engine plays on while the control plane is away. Entries whose time has
// come since the last marker are on air or were heard, and their markers are on
// their way: they must not open the new rotation.
func (s *Scheduler) lead(r *rotation.Request, cut bool) {
	left := s.left()
	if s.air.StartedAt.IsZero() {
		if len(s.past) > 0 { // an engine that has waited long enough goes on with its old list
			r.Prepared = head(left)
		}
		return
	}
	if cut || s.air.Kind != Rotation {
		r.Prepared = head(left)
		return
	}
	aired := append([]OnAir{s.air}, flying(s.air, left, r.Now)...)
	last := aired[len(aired)-1]
	for _, a := range aired[1:] {
		r.InFlight = append(r.InFlight, a.Track)
	}
	left = left[len(r.InFlight):]
	r.Starts, r.Cross = last.ends(nil), last.Cross
	if !last.StartedAt.After(r.Now) { // it has opened the next one as well
		r.Prepared = head(left)
	}
}

// flying returns those of the entries left that the engine has taken: their time has come, or it
// is too late for the engine to drop them.
func flying(air OnAir, left []rotation.Entry, now time.Time) (out []OnAir) {
	if air.StartedAt.IsZero() || air.Kind != Rotation {
		return nil
	}
	for last := air; len(left) > 0 && last.ends(nil).Sub(now) <= reloadLead; left = left[1:] {
		last = OnAir{Track: left[0].Track, Cross: left[0].Cross, StartedAt: last.ends(left)}
		out = append(out, last)
	}
	return out
}

func head(entries []rotation.Entry) (first []station.Track) {
	if len(entries) > 0 {
		first = append(first, entries[0].Track)
	}
	return first
}

// offTime returns how far the next timed event of a clock is off its time; 0 while
// something other than the rotation is on air, when it is unknown.
func (s *Scheduler) offTime() time.Duration {
	if s.air.Kind != Rotation || s.air.Index < 0 {
		return 0
	}
	return rotation.OffTime(s.rot, s.state.Consumed, s.air.ends(s.left()))
}
