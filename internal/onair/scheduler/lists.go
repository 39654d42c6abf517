package scheduler

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// ListsChanged says that Options.Lists returns something else. Where that changes what is
// planned, the rotation is soon rebuilt; otherwise the next rebuild uses it. It does not wait.
func (s *Scheduler) ListsChanged() {
	select {
	case s.listed <- struct{}{}:
	default: // it is to be looked at anyway
	}
}

// listsNow returns the operator's playlists.
func (s *Scheduler) listsNow() []rotation.List {
	if s.opt.Lists == nil {
		return nil
	}
	return s.opt.Lists()
}

// listedOf returns the places in playlists of what a rotation built now finds in flight: of the
// entries to come, and of those that were in flight when this one was built, while no marker
// has come since.
func (s *Scheduler) listedOf(r rotation.Request) map[string]rotation.ListPlace {
	out := map[string]rotation.ListPlace{}
	if s.air.StartedAt.Before(s.rot.BuiltAt) {
		maps.Copy(out, s.rot.Listed)
	}
	left := s.left()
	for _, e := range left[:min(len(r.InFlight)+len(r.Prepared), len(left))] {
		if e.List != 0 {
			out[e.Track.Path] = e.Place
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// replanned reports that the playlists have changed since the rotation was built, and that one of
// those that did has, had or would have a part in it. Where it would only in the rest, that is
// dropped: it goes by playlists of before.
func (s *Scheduler) replanned() bool {
	if !s.relisted {
		return false
	}
	changed, back := s.listChanges()
	matters := func(planned []rotation.Entry) bool {
		from, to := s.now(), s.ends(planned)
		return slices.ContainsFunc(changed, func(l rotation.List) bool { return s.plays(l, planned, from, to) })
	}
	switch all := slices.Concat(s.left(), s.rest); {
	case matters(s.left()):
		return true
	case len(s.rest) > 0 && matters(all):
		s.rest = nil
		s.publish()
	}
	s.relisted = len(back) > 0
	return false
}

// drifted follows a playlist that is there again, unchanged by hand: of a search that found nothing
// for a while. It does so after a pause, and the next rotation has it anyway.
func (s *Scheduler) drifted(ctx context.Context) error {
	if !s.relisted {
		return nil
	}
	_, back := s.listChanges()
	from, to := s.now(), s.ends(s.left())
	if !slices.ContainsFunc(back, func(l rotation.List) bool { return s.plays(l, s.left(), from, to) }) {
		s.relisted = false
		return nil
	}
	if wait := driftPause - s.opt.Now().Sub(s.builtAt); wait > 0 {
		return &notYet{wait}
	}
	return s.rebuild(ctx, change{reason: "playlists"})
}

// listChanges returns the playlists that the rotation was not built with, as they are now and as
// they were; apart from them those that are back.
func (s *Scheduler) listChanges() (changed, back []rotation.List) {
	is, was := byID(s.listsNow()), byID(s.lists)
	for id, now := range is {
		before, there := was[id]
		switch away, known := s.away[id]; {
		case there && !sameList(now, before):
			changed = append(changed, now, before)
		case there:
		case known && sameList(now, away):
			back = append(back, now)
		default:
			changed = append(changed, now)
		}
	}
	for id, before := range was {
		if _, there := is[id]; !there {
			changed = append(changed, before)
		}
	}
	return changed, back
}

// listedWith notes the playlists that the rotation on air was planned with.
func (s *Scheduler) listedWith(lists []rotation.List) {
	is := byID(lists)
	if s.away == nil || len(s.away) > 2*rotation.MostLists {
		s.away = map[int64]rotation.List{}
	}
	for _, l := range s.lists {
		l.Paths = nil
		s.away[l.ID] = l
	}
	maps.DeleteFunc(s.away, func(id int64, _ rotation.List) bool { _, there := is[id]; return there })
	s.lists, s.relisted = lists, false
}

func byID(lists []rotation.List) map[int64]rotation.List {
	out := make(map[int64]rotation.List, len(lists))
	for _, l := range lists {
		out[l.ID] = l
	}
	return out
}

// plays reports that a playlist may have a part in what is planned between two times.
func (s *Scheduler) plays(l rotation.List, planned []rotation.Entry, from, to time.Time) bool {
	if slices.ContainsFunc(planned, func(e rotation.Entry) bool { return e.List == l.ID }) {
		return true
	}
	if l.Plays == rotation.PlaysClock && !slices.ContainsFunc(s.cfg.Clocks, func(c rotation.HourClock) bool {
		return slices.ContainsFunc(c.Hour, func(pos rotation.Position) bool { return pos.List != "" && l.IsNamed(pos.List) })
	}) {
		return false
	}
	next := l.Next(s.cfg, from)
	return !next.IsZero() && !next.After(to)
}

// ends returns when what is planned should be used up.
func (s *Scheduler) ends(planned []rotation.Entry) time.Time {
	left := append(slices.Clip(planned), rotation.Entry{Track: station.Track{}})
	starts := rotation.Expected(left, later(s.view.Load().NextStart(), s.opt.Now()).In(s.opt.Zone))
	return starts[len(starts)-1]
}

// sameList reports that two are one playlist, unchanged but for what searches find.
func sameList(a, b rotation.List) bool {
	return a.Edition == b.Edition && a.Name == b.Name && a.Order == b.Order && a.Plays == b.Plays && a.Share == b.Share && a.Every == b.Every && a.Minute == b.Minute &&
		slices.EqualFunc(a.When, b.When, sameWindow)
}

func sameWindow(a, b rotation.Window) bool {
	return slices.Equal(a.Days, b.Days) && a.Daypart == b.Daypart && a.Start == b.Start && a.End == b.End && a.From == b.From && a.Until == b.Until
}
