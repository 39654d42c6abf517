package scheduler

import (
	"slices"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// heldOf returns how many of entries, from the first, are held.
func heldOf(entries []rotation.Entry) int {
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Held {
			return i + 1
		}
	}
	return 0
}

// behind is what follows the rotation once the node has the media.
func (s *Scheduler) behind() []rotation.Entry {
	if len(s.rest) > 0 {
		return s.rest
	}
	return s.rot.Behind
}

// held returns what a rotation built now goes on with: of what is held all that is not about to
// be heard, and was not heard ahead of its place.
func (s *Scheduler) held(r *rotation.Request) (out []rotation.Entry) {
	left := s.left()
	ahead := slices.Clone(s.ahead)
	for _, e := range slices.Concat(left[min(len(r.InFlight), len(left)):], s.rot.Behind) {
		if !e.Held {
			continue
		}
		if i := slices.Index(ahead, e.Track.Path); i >= 0 {
			ahead = slices.Delete(ahead, i, i+1)
			continue
		}
		out = append(out, e)
	}
	return out
}

// flown returns what of the held is taken for heard, as its time has come. An engine that starts
// anew has not had what no marker came for.
func (s *Scheduler) flown(r *rotation.Request) (out []rotation.Entry) {
	if s.state.Consumed == 0 { // nothing of this rotation was heard yet
		heard := map[string]int{}
		for _, e := range s.rot.Flown {
			path := e.Track.Path
			if heard[path]++; heard[path] > len(s.flownHeard(path)) {
				out = append(out, e)
			}
		}
	}
	left, ahead := s.left(), slices.Clone(s.ahead)
	for _, e := range left[:min(len(r.InFlight), len(left))] {
		i := slices.Index(ahead, e.Track.Path)
		switch {
		case !e.Held:
		case i >= 0:
			ahead = slices.Delete(ahead, i, i+1)
		default:
			out = append(out, e)
		}
	}
	return out[:min(len(out), rotation.MostHeld)]
}

// flownHeard returns when what was taken for heard when the rotation was built was heard indeed.
func (s *Scheduler) flownHeard(path string) []time.Time {
	return s.airedSince(path, s.rot.BuiltAt.Add(-clockSlack))
}

// flew reports that a path which has just been heard is one that was taken for heard already: the
// next of the same track is still to come.
func (s *Scheduler) flew(path string) bool {
	n := 0
	for _, e := range s.rot.Flown {
		if e.Track.Path == path {
			n++
		}
	}
	return n > len(s.flownHeard(path))
}

// handed fills in what a rotation built now has of what was done by hand.
func (s *Scheduler) handed(r *rotation.Request, c change) {
	r.Held, r.Removed, r.HeldBy, r.Flown = s.held(r), s.rot.Removed, s.rot.HeldBy, s.flown(r)
	if s.air.StartedAt.IsZero() { // the engine starts anew
		r.Held, r.Flown = slices.Concat(r.Flown, r.Held), nil
	}
	if c.hand != nil {
		r.Held, r.Removed, r.HeldBy = c.hand.entries, c.hand.removed, c.hand.by
	}
	for _, path := range []string{c.head, c.queued} {
		r.Removed = without(r.Removed, path)
	}
	if len(r.Held) > 0 && s.air.StartedAt.Before(s.rot.BuiltAt) { // no marker has come since
		r.Opened = s.rot.InFlight[max(len(s.rot.InFlight)-mostQueued, 0):]
	}
}

// versionOf names a rotation. What is heard of it does not change that.
func versionOf(rot rotation.Rotation) string {
	return strconv.FormatUint(uint64(rot.BuiltAt.UnixNano()), 36) + "-" + strconv.FormatUint(rot.Seed, 36) //nolint:gosec // a name
}

// takenOff reports that a rotation which was made by hand has a path in another place than the
// queue's, or took it out.
func takenOff(rot rotation.Rotation, path string) bool {
	held := func(e rotation.Entry) bool { return e.Held && e.Hand && e.Track.Path == path }
	return slices.ContainsFunc(rot.Entries, held) || slices.ContainsFunc(rot.Removed, func(r rotation.Removed) bool { return r.Path == path })
}

// holds reports that an entry of a path is held.
func (s *Scheduler) holds(path string) bool {
	return slices.ContainsFunc(slices.Concat(s.left(), s.rot.Behind), func(e rotation.Entry) bool { return e.Held && e.Track.Path == path })
}

// Version names the rotation, for an Edit. What is heard of it does not change that.
func (v *View) Version() string { return versionOf(v.Rotation) }

// Coming returns what is still to come, next first, with what the node still lacks the media of.
func (v *View) Coming() []rotation.Entry { return slices.Concat(v.Left(), v.rest) }

// Held returns how many entries of what is to come are held, from the first, and who last
// changed that.
func (v *View) Held() (n int, by string) {
	if n = heldOf(v.Coming()); n > 0 {
		by = v.Rotation.HeldBy
	}
	return n, by
}

// LastDeed returns the newest change by hand that can be taken back.
func (v *View) LastDeed() (Deed, bool) {
	if len(v.deeds) == 0 {
		return Deed{}, false
	}
	return v.deeds[len(v.deeds)-1].Deed, true
}

// Opened returns how many entries of what is to come the engine has opened: they can be changed
// no more.
func (v *View) Opened(now time.Time) int {
	return len(flying(v.OnAir, v.Left(), now))
}

// Queue returns what is still to come, with what the node still lacks the media of, next first.
func (v *View) Queue() []Item {
	left, next := v.Coming(), v.NextStart()
	expected := rotation.Expected(left, next)
	out := make([]Item, len(left))
	for i, e := range left {
		out[i] = Item{Entry: e, Index: min(v.Consumed, len(v.Rotation.Entries)) + i}
		if !next.IsZero() {
			out[i].ExpectedAt = expected[i]
		}
	}
	return out
}
