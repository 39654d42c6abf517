package scheduler

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostQueued bounds the queue; the oldest is dropped.
	mostQueued = 16
	// mostEarly is how early a bulletin may be heard where it need not be: it may wait
	// for another entry, by the end of which its time is nearer.
	mostEarly = time.Minute
	// withdrawLead is how long before its start an outdated bulletin leaves the
	// rotation: until then whoever makes bulletins may replace it.
	withdrawLead = 15 * time.Second
	// withdrawPause is the least time between two tries to withdraw one.
	withdrawPause = time.Second
)

// Queue has a track heard after what is on air: it opens every rotation until it
// was heard or another bulletin takes its place. A bulletin that would be heard too
// early waits for its time; one that would be heard too late is refused with
// station.ErrConflict (see rotation.Timely). Other errors wrap station.ErrNotFound
// for an unknown path.
func (s *Scheduler) Queue(ctx context.Context, path string) error {
	return s.askCalm(ctx, func(ctx context.Context) error {
		if err := s.known(Wish{Path: path}); err != nil {
			return &refusal{err}
		}
		at, _ := s.opening()
		tells := s.tells(path)
		if at.Sub(tells) > rotation.NewsLate && !tells.IsZero() {
			return &refusal{fmt.Errorf("queue %s: it tells %s and would be heard at %s: make a new one: %w",
				path, tells.In(s.opt.Zone).Format("15:04"), at.In(s.opt.Zone).Format("15:04"), station.ErrConflict)}
		}
		before := s.queued
		s.queued = s.enqueued(path)
		var err error
		if rotation.Timely(tells, at) && !s.waits(path, at) {
			err = s.rebuild(ctx, change{reason: forced(), queued: path})
		} else {
			err = s.saveQueue(ctx)
			s.publish()
			s.log.Info("bulletin waits for the time that it tells", "file", path, "tells", tells, "next", at)
		}
		if err != nil {
			s.queued = before
		}
		return err
	})
}

// RenewNews says whether a bulletin is made for each place that the planner has for
// news and leaves free, because the one there is would be outdated.
func (s *Scheduler) RenewNews(on bool) { s.renewed.Store(on) }

// tells returns the time that a bulletin tells; zero for any other track.
func (s *Scheduler) tells(path string) time.Time {
	if s.opt.Tells == nil {
		return time.Time{}
	}
	return s.opt.Tells(path)
}

// told collects the times that the bulletins of the library tell.
func (s *Scheduler) told(tracks []station.Track) map[string]time.Time {
	out := map[string]time.Time{}
	for _, t := range tracks {
		if t.Category != station.News {
			continue
		}
		if at := s.tells(t.Path); !at.IsZero() {
			out[t.Path] = at
		}
	}
	return out
}

// enqueued returns the queue with a path at its head. Only the newest bulletin stays
// in it.
func (s *Scheduler) enqueued(path string) []string {
	tells := !s.tells(path).IsZero()
	rest := slices.DeleteFunc(slices.Clone(s.queued), func(q string) bool {
		return q == path || tells && !s.tells(q).IsZero()
	})
	out := append([]string{path}, rest...)
	return out[:min(len(out), mostQueued)]
}

// opening returns when the first entry of a rotation built now would be heard, and
// what airs before it.
func (s *Scheduler) opening() (time.Time, []station.Track) {
	r := rotation.Request{Now: s.now()}
	s.lead(&r, false)
	return later(r.Starts, r.Now), r.InFlight
}

// heads returns what opens a rotation whose first entry is heard at a time: the
// operator's choice, and of the queue all that is not in flight and, if it tells the
// time, tells it rightly there.
func (s *Scheduler) heads(c change, at time.Time, inFlight []station.Track) []string {
	if c.headOf != "" {
		return nil // it comes first; the queue opens the next rotation
	}
	var paths []string
	var entries []rotation.Entry
	add := func(path string, tells time.Time) {
		t, ok := s.opt.Library.Find(path)
		if !ok || slices.Contains(paths, path) || slices.ContainsFunc(inFlight, func(f station.Track) bool { return f.Path == path }) {
			return
		}
		more := append(slices.Clip(entries), rotation.Entry{Track: t, Cross: rotation.CrossFor(&t)})
		if starts := rotation.Expected(more, at); !rotation.Timely(tells, starts[len(starts)-1]) {
			return
		}
		paths, entries = append(paths, path), more
	}
	if c.head != "" {
		paths = append(paths, c.head) // chosen, whatever airs now
		if t, ok := s.opt.Library.Find(c.head); ok {
			entries = append(entries, rotation.Entry{Track: t, Cross: rotation.CrossFor(&t)})
		}
	}
	for _, path := range s.queued {
		add(path, s.tells(path))
	}
	return paths
}

// queueDue reports that a rotation built now would be opened by something queued
// that does not open the one on air.
func (s *Scheduler) queueDue() bool {
	if len(s.queued) == 0 || s.air.Kind != Rotation {
		return false
	}
	at, inFlight := s.opening()
	heads, left := s.heads(change{}, at, inFlight), s.left()
	left = left[:min(len(heads)+len(inFlight), len(left))]
	return slices.ContainsFunc(heads, func(path string) bool {
		return !s.waits(path, at) && !slices.ContainsFunc(left, func(e rotation.Entry) bool { return e.Track.Path == path })
	})
}

// waits reports that a bulletin would be early at a time, and less so, or as little
// late, after the next entry.
func (s *Scheduler) waits(path string, at time.Time) bool {
	tells, left := s.tells(path), s.left()
	early := tells.Sub(at)
	if tells.IsZero() || early <= mostEarly || len(left) == 0 {
		return false
	}
	after := rotation.Expected([]rotation.Entry{left[0], {Cross: rotation.CrossOf(station.News)}}, at)[1]
	return after.Sub(tells).Abs() < early
}

// expire takes bulletins off the queue that are too old to be heard.
func (s *Scheduler) expire() {
	s.queued = slices.DeleteFunc(slices.Clone(s.queued), func(path string) bool {
		tells := s.tells(path)
		old := !tells.IsZero() && s.opt.Now().Sub(tells) > rotation.NewsLate
		if old {
			s.log.Warn("bulletin withdrawn, it was not heard in time", "file", path, "tells", tells)
		}
		return old
	})
}

// withdrawal returns when a bulletin that is to come must have left the rotation,
// because it would tell a wrong time; zero if there is none.
func (s *Scheduler) withdrawal() (due time.Time) {
	if s.opt.Tells == nil {
		return due
	}
	left := s.left()
	left = left[:min(heldOn, len(left))]
	// During a takeover the first entry may be heard at any time.
	next := later(s.view.Load().NextStart(), s.opt.Now())
	for i, at := range rotation.Expected(left, next) {
		tells := s.tells(left[i].Track.Path)
		if tells.IsZero() {
			continue
		}
		by := at.Add(-withdrawLead)
		if rotation.Timely(tells, at) {
			by = tells.Add(rotation.NewsLate + time.Millisecond)
		}
		if due.IsZero() || by.Before(due) {
			due = by
		}
	}
	return due
}

// guard sets the timer for the next withdrawal. None is due beside a rebuild that failed:
// that one is tried again, ever more rarely, and plans no bulletin for a wrong time either.
func (s *Scheduler) guard(timer *time.Timer) {
	due := s.withdrawal()
	if due.IsZero() || s.problem != "" {
		timer.Stop()
		return
	}
	timer.Reset(max(due.Sub(s.opt.Now()), withdrawPause))
}

// withdraw rebuilds the rotation without a bulletin that would tell a wrong time.
func (s *Scheduler) withdraw(ctx context.Context) error {
	if due := s.withdrawal(); due.IsZero() || due.After(s.opt.Now()) || s.restart {
		return nil
	}
	if wait := s.passing(); wait > 0 {
		return &notYet{wait}
	}
	s.expire()
	return s.rebuild(ctx, change{reason: "outdated bulletin withdrawn"})
}

func (s *Scheduler) saveQueue(ctx context.Context) error {
	return s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		return saveState(ctx, tx, s.storing())
	})
}

// storing is the state as it is on disk.
func (s *Scheduler) storing() stored {
	return stored{State: s.state, OnAir: s.air, Past: s.past, Reason: s.reason, Queued: s.queued, Failed: s.failed, Ahead: s.ahead}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
