package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// draft is an edit worked out.
type draft struct {
	hand
	queued []string
	before []rotation.Entry // what can be changed, next first
	first  int              // position of the first of them
	order  rotation.Order
	title  string
}

// draft works an edit out for the rotation that is on air.
func (s *Scheduler) draft(e Edit) (draft, error) {
	if len(s.rot.Entries) == 0 {
		return draft{}, unplanned()
	}
	if e.Version != versionOf(s.rot) {
		return draft{}, changed()
	}
	_, flying := s.opening()
	heard := min(s.state.Consumed, len(s.rot.Entries))
	d := draft{first: heard + len(flying), queued: s.queued, hand: hand{removed: s.rot.Removed, by: e.By}}
	d.before = slices.Concat(s.rot.Entries[d.first:], s.behind())
	d.order.Removed = None
	place := func(pos int, last int) (int, error) {
		switch {
		case pos < heard:
			return 0, heardAlready(pos)
		case pos < d.first:
			return 0, openedAlready(pos)
		case pos-d.first > last:
			return 0, noPosition(pos)
		}
		return pos - d.first, nil
	}
	at, to := 0, 0
	var err error
	if e.Op != Insert && (e.Op != Release || e.Position != None) {
		if at, err = place(e.Position, len(d.before)-1); err != nil {
			return d, err
		}
	}
	if (e.Op == Move || e.Op == Insert) && e.To != None {
		if to, err = place(e.To, len(d.before)); err != nil {
			return d, err
		}
	}
	err = s.work(&d, e, at, to)
	return d, err
}

// work carries an edit out on the entries of a draft.
func (s *Scheduler) work(d *draft, e Edit, at, to int) error {
	held := heldOf(d.before)
	entries := slices.Clone(d.before)
	from := make([]int, len(entries))
	for i := range from {
		from[i] = i
	}
	switch e.Op {
	case Lock:
		held = max(held, at+1)
	case Release:
		if held <= at {
			return notHeld()
		}
		held = at
	case Remove:
		d.title = titleOf(entries[at].Track)
		d.order.Removed, d.order.Touched = at, at+1
		d.removed = append(without(d.removed, entries[at].Track.Path), rotation.Removed{Path: entries[at].Track.Path, At: s.opt.Now()})
		d.unqueue(entries[at].Track.Path)
		entries, from = taken(entries, from, at)
		if at < held {
			held--
		}
		held = max(held, at)
	case Move:
		moved := entries[at].Moved()
		moved.AfterNews = false
		if entries[at].AfterNews {
			moved.Due, moved.Tolerance = time.Time{}, 0
		}
		d.title = titleOf(moved.Track)
		d.order.Touched = max(at+1, to)
		d.unqueue(moved.Track.Path)
		entries, from = taken(entries, from, at)
		if to > at {
			to--
		}
		entries, from = slices.Insert(entries, to, moved), slices.Insert(from, to, at)
		held = max(held, at+1, to+1, s.overtake(d, entries, to))
	case Insert:
		t, there := s.opt.Library.Find(e.Path)
		if !there {
			return noTrack(e.Path)
		}
		d.title, d.must = titleOf(t), t.Path
		d.removed = without(d.removed, t.Path)
		d.unqueue(t.Path)
		entries, from = slices.Insert(entries, to, rotation.Placed(t)), slices.Insert(from, to, None)
		if to < held {
			held++
		}
		held = max(held, to+1, s.overtake(d, entries, to))
	default:
		return fmt.Errorf("op %q: must be move, remove, insert, lock or release: %w", e.Op, station.ErrInvalid)
	}
	if held > rotation.MostHeld {
		return tooManyHeld(held)
	}
	d.entries = entries[:held:held]
	for i := range d.entries {
		d.entries[i].Held = true
	}
	d.order.Entries, d.order.From = d.entries, from[:held:held]
	for _, i := range d.order.From {
		d.order.Touched = max(d.order.Touched, i+1)
	}
	d.order.Touched = max(d.order.Touched, heldOf(d.before))
	return nil
}

// unqueue takes a path off the queue: a bulletin in its place by hand is the operator's.
func (d *draft) unqueue(path string) {
	d.queued = slices.DeleteFunc(slices.Clone(d.queued), func(q string) bool { return q == path })
}

// overtake takes off the queue what an entry was put before: it would open the next rotation all
// the same. It returns how many entries are to be held for that. A bulletin keeps its place.
func (s *Scheduler) overtake(d *draft, entries []rotation.Entry, to int) (held int) {
	for _, path := range s.queued {
		if !s.tells(path).IsZero() || !slices.Contains(d.queued, path) {
			continue
		}
		i := slices.IndexFunc(entries, func(e rotation.Entry) bool { return e.Track.Path == path })
		if i > to {
			d.unqueue(path)
			held = max(held, i+1)
		}
	}
	return held
}

// taken returns the entries without one. The place for news before it stays where it was.
func taken(entries []rotation.Entry, from []int, at int) ([]rotation.Entry, []int) {
	if out := entries[at]; out.AfterNews && at+1 < len(entries) {
		next := &entries[at+1]
		next.AfterNews = true
		if next.Due.IsZero() {
			next.Due, next.Tolerance = out.Due, out.Tolerance
		}
	}
	return slices.Delete(entries, at, at+1), slices.Delete(from, at, at+1)
}

func without(all []rotation.Removed, path string) []rotation.Removed {
	return slices.DeleteFunc(slices.Clone(all), func(r rotation.Removed) bool { return r.Path == path })
}

func titleOf(t station.Track) string { return cmp.Or(t.Title, t.Path) }
