package scheduler

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Op is a change of what comes, by hand.
type Op string

// The changes.
const (
	Move    Op = "move"
	Remove  Op = "remove"
	Insert  Op = "insert"
	Lock    Op = "lock"    // holds what comes up to and with a position
	Release Op = "release" // gives what is held back to the planner, from a position on
)

// None is the position of an Edit that names none.
const None = -1

// Edit is one change by hand. Positions count in the rotation that Version names, and what
// follows it once the node has the media.
type Edit struct {
	Version  string
	Op       Op
	Position int    // of all but Insert; None: all, of Release
	To       int    // of Move and Insert: before which it goes; None: right after what is on air
	Path     string // of Insert, relative to the media root
	By       string // who, for people
}

// Broken is a rule that a change by hand breaks, or mends.
type Broken struct {
	rotation.Break
	Position int // of the entry where it stands now; of an inserted one, where it would
	Track    station.Track
	added    bool // it is inserted
}

// Weighing is what a change by hand does to the rules.
type Weighing struct{ Breaks, Lifts []Broken }

// Deed is a change by hand that can be taken back.
type Deed struct {
	ID    string
	Op    Op
	Title string // of the track; empty for Lock and Release
	At    time.Time
	By    string
}

// done is a deed, and what was before it.
type done struct {
	Deed
	entries []rotation.Entry // in their order, as far as it was touched
	removed []rotation.Removed
	queued  []string
	by      string
}

// deedsKept is how many can be taken back.
const deedsKept = 20

// hand is what a rebuild is to hold instead of what is held.
type hand struct {
	entries []rotation.Entry
	removed []rotation.Removed
	by      string
	must    string // path that has to be among them
}

// Weigh says which rules an edit would break and which it would mend. It changes nothing.
// Errors as of Edit.
func (s *Scheduler) Weigh(ctx context.Context, e Edit) (Weighing, error) {
	var d draft
	var was, is rotation.Request
	var tracks []station.Track
	err := s.askCalm(ctx, func(context.Context) (err error) {
		if d, err = s.draft(e); err != nil {
			return &refusal{err}
		}
		tracks, _ = s.opt.Library.Tracks()
		was = s.request(change{}, tracks, nil)
		if s.index != nil && sameTracks(tracks, s.tracks) {
			was.Index = s.index
		}
		return nil
	})
	if err != nil {
		return Weighing{}, err
	}
	// A build takes long in a large library, and what is on the air waits for Run's goroutine.
	if was.Index = s.aside.of(tracks, was.Index); ctx.Err() != nil {
		return Weighing{}, ctx.Err()
	}
	is = was
	is.Removed = d.removed
	is.Head = slices.DeleteFunc(slices.Clone(was.Head), func(path string) bool {
		return slices.Contains(s.View().Queued, path) && !slices.Contains(d.queued, path)
	})
	breaks, lifts := rotation.Weigh(was, is, d.before, d.order)
	return Weighing{d.named(breaks), d.named(lifts)}, nil
}

// named adds of which entries the rules are.
func (d *draft) named(all []rotation.Break) (out []Broken) {
	for _, b := range all {
		i, of := b.Entry, d.before
		if i < 0 { // a new one
			i, of = -1-i, d.entries
		}
		out = append(out, Broken{Break: b, Position: d.first + i, Track: of[i].Track, added: b.Entry < 0})
	}
	return out
}

// Edit changes by hand what comes: it is held as it then stands, up to and with the last entry
// that was touched, and the planner goes on behind it. Errors wrap station.ErrConflict for another
// version and for what can be changed no more, station.ErrNotFound for a position that was heard
// and a path that the library does not have, and what of a rebuild fails.
func (s *Scheduler) Edit(ctx context.Context, e Edit) (Deed, Weighing, error) {
	free, err := s.take(ctx)
	if err != nil {
		return Deed{}, Weighing{}, err
	}
	defer free()
	w, err := s.Weigh(ctx, e)
	if err != nil {
		return Deed{}, w, err
	}
	for _, b := range w.Breaks {
		if b.Rule == rotation.BulletinTime && (b.added || e.Op == Move && b.Position == e.Position) {
			return Deed{}, w, wrongTime(e.Op, b.Track.Path, b.Detail)
		}
	}
	var deed Deed
	err = s.askCalm(ctx, func(ctx context.Context) error {
		d, err := s.draft(e)
		if err != nil {
			return &refusal{err}
		}
		now := s.opt.Now()
		was := done{
			Deed:    Deed{ID: strconv.FormatUint(s.opt.Seed(), 36), Op: e.Op, Title: d.title, At: now, By: e.By},
			entries: d.before[:max(d.order.Touched, heldOf(d.before))], removed: s.rot.Removed, queued: s.queued, by: s.rot.HeldBy,
		}
		if err := s.put(ctx, d.hand, d.queued); err != nil {
			return err
		}
		deed = was.Deed
		s.deeds = append(slices.Clip(s.deeds[max(len(s.deeds)-deedsKept+1, 0):]), was)
		s.publish()
		s.log.Info("queue changed by hand", "op", e.Op, "title", d.title, "by", e.By, "held", heldOf(s.left()))
		return nil
	})
	return deed, w, err
}

// Undo takes a deed back, and those after it: what comes is as it was before, but for what was
// heard since. The error wraps station.ErrNotFound for one that cannot be taken back any more.
func (s *Scheduler) Undo(ctx context.Context, id, by string) error {
	free, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer free()
	return s.askCalm(ctx, func(ctx context.Context) error {
		i := slices.IndexFunc(s.deeds, func(d done) bool { return d.ID == id })
		if i < 0 {
			return &refusal{forgotten(id)}
		}
		was := s.deeds[i]
		if err := s.put(ctx, hand{entries: s.unheard(was.entries, was.At), removed: was.removed, by: was.by}, s.requeued(was.queued, was.At)); err != nil {
			return err
		}
		s.deeds = s.deeds[:i:i]
		s.publish()
		s.log.Info("change of the queue taken back", "op", was.Op, "title", was.Title, "by", by)
		return nil
	})
}

// unheard returns the entries that were not heard since a time, nor are about to be.
func (s *Scheduler) unheard(entries []rotation.Entry, since time.Time) []rotation.Entry {
	heard := map[string]int{}
	for _, e := range entries {
		heard[e.Track.Path] = len(s.airedSince(e.Track.Path, since))
	}
	_, flying := s.opening()
	for _, t := range flying {
		heard[t.Path]++
	}
	out := []rotation.Entry{}
	for _, e := range entries {
		if heard[e.Track.Path] > 0 {
			heard[e.Track.Path]-- // the next of the same track is another airing
			continue
		}
		out = append(out, e)
	}
	return out
}

// airedSince returns when a path began since a time.
func (s *Scheduler) airedSince(path string, since time.Time) []time.Time {
	starts := s.state.History.Starts(path)
	i := slices.IndexFunc(starts, func(at time.Time) bool { return !at.Before(since) })
	if i < 0 {
		return nil
	}
	return starts[i:]
}

// requeued returns the queue with what was taken off it since a time and was not heard.
func (s *Scheduler) requeued(was []string, since time.Time) []string {
	out := slices.Clone(s.queued)
	for _, path := range was {
		if !slices.Contains(out, path) && len(s.airedSince(path, since)) == 0 {
			out = append(out, path)
		}
	}
	return out[:min(len(out), mostQueued)]
}

// put has something else held and queued from now on; on an error nothing has changed.
func (s *Scheduler) put(ctx context.Context, h hand, queued []string) error {
	if tracks, _ := s.opt.Library.Tracks(); len(tracks) == 0 || len(s.rot.Entries) == 0 {
		return &refusal{fmt.Errorf("there is no rotation to change, the library is empty: %w", station.ErrConflict)}
	}
	before := s.queued
	s.queued = queued
	err := s.rebuild(ctx, change{reason: "queue by hand", hand: &h})
	if err != nil {
		s.queued = before
	}
	return err
}
