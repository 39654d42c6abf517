package scheduler

import (
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// reloadLead is how long before the end of what is on air a new list still
// reaches the engine in time: after that it has taken the next entry of the old.
const reloadLead = 500 * time.Millisecond

// request is all that a build depends on, now.
func (s *Scheduler) request(c change, index *rotation.Index) rotation.Request {
	r := rotation.Request{
		Index: index, Config: s.cfg, State: s.state, Now: s.now(), Seed: s.opt.Seed(), InFlight: s.inFlight(),
	}
	if !c.cut {
		r.Starts, r.Cross = s.starts()
	}
	if c.head != "" {
		r.Head = []string{c.head}
	}
	if s.opt.Overlay != nil {
		r.Overlay = s.opt.Overlay()
	}
	return r
}

// inFlight is what the engine may have taken from the old list already, and
// may still air after the reload.
func (s *Scheduler) inFlight() []station.Track {
	if i := s.state.Consumed; i < len(s.rot.Entries) && !s.air.StartedAt.IsZero() {
		return []station.Track{s.rot.Entries[i].Track}
	}
	return nil
}

// starts is when the first entry of a rotation that is built now should be
// heard, were it a song, and the cross into it; zero, which means now, where
// nobody can say.
func (s *Scheduler) starts() (time.Time, time.Duration) {
	if s.air.Kind != Rotation || s.air.StartedAt.IsZero() {
		return time.Time{}, 0
	}
	left := s.rot.Entries[min(s.state.Consumed, len(s.rot.Entries)):]
	end := s.air.ends(nil)
	if end.Sub(s.opt.Now()) > reloadLead || len(left) == 0 {
		return end, s.air.Cross
	}
	// The entry in flight airs before the first of the new rotation.
	return s.air.ends(left).Add(max(left[0].Track.Duration-left[0].Cross, 0)), left[0].Cross
}

// offTime is how far off the next timed event of a clock has come. While
// something else than the rotation is on air nobody can say.
func (s *Scheduler) offTime() time.Duration {
	if s.air.Kind != Rotation || s.air.Index < 0 {
		return 0
	}
	return rotation.OffTime(s.rot, s.state.Consumed, s.air.ends(s.rot.Entries[min(s.state.Consumed, len(s.rot.Entries)):]))
}
