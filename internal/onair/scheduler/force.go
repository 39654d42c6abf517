package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Engine is the playout engine as Skip and Play need it.
type Engine interface {
	// Look returns where the engine stands. Errors wrap station.ErrConflict while
	// something other than the rotation is on air, station.ErrUnavailable when
	// the engine does not answer.
	Look(ctx context.Context) (Sight, error)
	// Next waits until the engine has read the list pushed since a Look, then
	// skips to its head. Errors as Look.
	Next(ctx context.Context, c Cue) error
}

// Sight is where an engine stood.
type Sight struct {
	Engine  string // boot id
	Edition int    // counts its readings of the list
	Seq     uint64 // of its last track marker
	Entered int    // counts the entries that have begun, or that a cross has read into
}

// Cue says what an engine plays next.
type Cue struct {
	Since Sight
	Head  string // absolute path of the first entry of the new list
	// Same: the list did not change, so no write makes the engine read it.
	Same bool
	// Must: only the head will do.
	Must bool
}

// Wish is a track that an operator wants to hear now.
type Wish struct {
	Category station.Category // may be empty with a Path
	Path     string           // relative to the media root; empty is the planner's best of the category
}

// nextPatience bounds how long an engine may take to go on.
const nextPatience = 5 * time.Second

// refusal is an order that cannot be carried out and is not retried.
type refusal struct{ err error }

func (e *refusal) Error() string { return e.err.Error() }
func (e *refusal) Unwrap() error { return e.err }

// Skip builds a new rotation, which never begins with the last aired track,
// and makes the engine go on with it at once. What ends by itself just then is not skipped: that
// would take the next entry, too. Errors wrap station.ErrConflict
// while live or emergency is on air, station.ErrUnavailable when the node does
// not answer: then nothing has changed, unless the error says that the new
// rotation is on air and only the skip failed.
func (s *Scheduler) Skip(ctx context.Context) error {
	if s.opt.Engine != nil && s.endsAlone(ctx) {
		return nil
	}
	return s.force(ctx, func() (change, error) { return change{reason: forced(), cut: true}, nil }, func() {})
}

// Play builds a new rotation that begins with the wish, and makes the engine
// go on with it at once. It returns what will be heard. Errors as Skip, and
// station.ErrNotFound for an unknown path or a category without tracks.
func (s *Scheduler) Play(ctx context.Context, w Wish) (station.Track, error) {
	var chosen station.Track
	err := s.force(ctx, func() (change, error) {
		c := change{reason: "play", cut: true, head: w.Path}
		if w.Path == "" {
			c.headOf = w.Category
		}
		return c, cmp.Or(s.known(w), s.timely(w))
	}, func() { chosen = s.rot.Entries[0].Track })
	return chosen, err
}

// force makes one change and has the engine skip to it. It waits for the engine
// outside Run's goroutine, which must take the marker that follows.
func (s *Scheduler) force(ctx context.Context, decide func() (change, error), committed func()) error {
	if s.opt.Engine == nil {
		return fmt.Errorf("there is no playout engine: %w", station.ErrUnavailable)
	}
	free, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer free()
	sight, err := s.opt.Engine.Look(ctx)
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	cue := Cue{Since: sight}
	err = s.ask(ctx, func(ctx context.Context) error {
		c, err := s.permitted(decide)
		if err != nil {
			return err
		}
		before := s.items(s.rot)
		if err := s.rebuild(ctx, c); err != nil {
			return err
		}
		now := s.items(s.rot)
		if len(now) == 0 {
			return &refusal{fmt.Errorf("nothing to play, the library is empty: %w", station.ErrConflict)}
		}
		cue.Head, cue.Same, cue.Must = now[0].Path, slices.Equal(before, now), c.head != "" || c.headOf != ""
		committed()
		return nil
	})
	if err != nil {
		return err
	}
	// The caller may have gone meanwhile; what is committed is carried out.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), nextPatience)
	defer cancel()
	if err := s.opt.Engine.Next(ctx, cue); err != nil {
		return fmt.Errorf("the new rotation is on air, but the engine did not skip: %w", err)
	}
	return nil
}

// take waits until no Skip, Play or change by hand is under way: the engine may still be going
// to the head of the list that one of them made.
func (s *Scheduler) take(ctx context.Context) (free func(), err error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if ctx.Err() != nil {
		<-s.turn
		return nil, ctx.Err()
	}
	return func() { <-s.turn }, nil
}

// permitted returns the decided change, or why none may be made now.
func (s *Scheduler) permitted(decide func() (change, error)) (change, error) {
	if s.air.Kind == Live || s.air.Kind == Emergency {
		return change{}, &refusal{fmt.Errorf("%s is on air: %w", s.air.Kind, station.ErrConflict)}
	}
	if tracks, _ := s.opt.Library.Tracks(); len(tracks) == 0 {
		return change{}, &refusal{fmt.Errorf("nothing to play, the library is empty: %w", station.ErrConflict)}
	}
	c, err := decide()
	if err != nil {
		return c, &refusal{err}
	}
	return c, nil
}

// timely returns an error for a bulletin that tells a wrong time.
func (s *Scheduler) timely(w Wish) error {
	path := w.Path
	if path == "" && w.Category == station.News {
		var newest station.Track
		tracks, _ := s.opt.Library.Tracks()
		for _, t := range tracks {
			if t.Category == station.News && !t.ModTime.Before(newest.ModTime) {
				newest = t
			}
		}
		path = newest.Path
	}
	if tells := s.tells(path); !rotation.Timely(tells, s.opt.Now()) {
		return fmt.Errorf("the bulletin tells %s, it is %s: make a new one: %w",
			tells.In(s.opt.Zone).Format("15:04"), s.now().Format("15:04"), station.ErrConflict)
	}
	return nil
}

// known returns an error for a wish that the library cannot fulfil.
func (s *Scheduler) known(w Wish) error {
	if w.Path != "" {
		if t, ok := s.opt.Library.Find(w.Path); !ok || w.Category != "" && t.Category != w.Category {
			return fmt.Errorf("no track %q in %s: %w", w.Path, cmp.Or(string(w.Category), "the library"), station.ErrNotFound)
		}
		return nil
	}
	tracks, _ := s.opt.Library.Tracks()
	if !slices.ContainsFunc(tracks, func(t station.Track) bool { return t.Category == w.Category }) {
		return fmt.Errorf("no track of category %q: %w", w.Category, station.ErrNotFound)
	}
	return nil
}
