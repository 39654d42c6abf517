package scheduler

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Engine is the playout engine as Skip and Play need it.
type Engine interface {
	// Look says where the engine stands. Errors wrap station.ErrConflict while
	// something else than the rotation is on air, station.ErrUnavailable when
	// the engine is away.
	Look(ctx context.Context) (Sight, error)
	// Next waits until the engine has read the list that was pushed since a
	// Look, then ends what is on air: the head is heard next. Errors as Look.
	Next(ctx context.Context, c Cue) error
}

// Sight is where an engine stood.
type Sight struct {
	Engine  string // boot id
	Edition int    // counts its readings of the list
	Seq     uint64 // of its last track marker
}

// Cue says what an engine goes on with.
type Cue struct {
	Since Sight
	Head  string // absolute path of the first entry of the new list
	// Same: the list is as it was before, so no write makes the engine read it.
	Same bool
	// Must: nothing else than the head will do.
	Must bool
}

// Wish is a track that an operator wants to hear now.
type Wish struct {
	Category station.Category // may be empty with a Path
	Path     string           // relative to the media root; empty is the planner's best of the category
}

// nextPatience bounds how long an engine may take to go on.
const nextPatience = 5 * time.Second

// refusal is an order that cannot be followed: nothing is tried again.
type refusal struct{ err error }

func (e *refusal) Error() string { return e.err.Error() }
func (e *refusal) Unwrap() error { return e.err }

// Skip builds a new rotation, which never begins with the last aired track,
// and makes the engine go on with it at once. Errors wrap station.ErrConflict
// while live or emergency is on air, station.ErrUnavailable when the node is
// away: then nothing has changed, or the error says that the new rotation is
// on air already and only the engine did not skip.
func (s *Scheduler) Skip(ctx context.Context) error {
	return s.force(ctx, func() (change, error) { return change{reason: forced(), cut: true}, nil })
}

// Play builds a new rotation that begins with the wish, and makes the engine
// go on with it at once. It returns what will be heard. Errors as Skip, and
// station.ErrNotFound for an unknown path or a category without tracks.
func (s *Scheduler) Play(ctx context.Context, w Wish) (station.Track, error) {
	var chosen station.Track
	err := s.force(ctx, func() (c change, err error) {
		chosen, err = s.choose(w)
		return change{reason: "play", head: chosen.Path, cut: true}, err
	})
	return chosen, err
}

// force makes one change and lets the engine follow. The engine is waited for
// outside of Run's goroutine: what it goes on with comes back as a marker.
func (s *Scheduler) force(ctx context.Context, decide func() (change, error)) error {
	if s.opt.Engine == nil {
		return fmt.Errorf("no playout engine: %w", station.ErrUnavailable)
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
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
		cue.Head, cue.Same, cue.Must = now[0].Path, slices.Equal(before, now), c.head != ""
		return nil
	})
	if err != nil {
		return err
	}
	// Whoever asked may have left meanwhile: what is committed is carried out.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), nextPatience)
	defer cancel()
	if err := s.opt.Engine.Next(ctx, cue); err != nil {
		return fmt.Errorf("the new rotation is on air, but the engine did not skip: %w", err)
	}
	return nil
}

// permitted is the change that was decided, where one may be made.
func (s *Scheduler) permitted(decide func() (change, error)) (change, error) {
	if s.air.Kind == Live || s.air.Kind == Emergency {
		return change{}, &refusal{fmt.Errorf("%s is on air: %w", s.air.Kind, station.ErrConflict)}
	}
	if tracks, _ := s.opt.Library.Tracks(); len(tracks) == 0 {
		return change{}, &refusal{fmt.Errorf("nothing to play: %w", station.ErrConflict)}
	}
	c, err := decide()
	if err != nil {
		return c, &refusal{err}
	}
	return c, nil
}

// choose finds the track of a wish.
func (s *Scheduler) choose(w Wish) (station.Track, error) {
	if w.Path != "" {
		t, ok := s.opt.Library.Find(w.Path)
		if !ok || w.Category != "" && t.Category != w.Category {
			return t, fmt.Errorf("no track %s %s: %w", w.Category, w.Path, station.ErrNotFound)
		}
		return t, nil
	}
	tracks, _ := s.opt.Library.Tracks()
	if t, ok := s.best(tracks, w.Category); ok {
		return t, nil
	}
	return station.Track{}, fmt.Errorf("no track of category %q: %w", w.Category, station.ErrNotFound)
}

// best is what the planner would play of a category, now: it plans an hour of
// nothing else. Where its rules leave nothing of the category, the track that
// has rested longest.
func (s *Scheduler) best(tracks []station.Track, c station.Category) (station.Track, bool) {
	if !slices.ContainsFunc(tracks, func(t station.Track) bool { return t.Category == c }) {
		return station.Track{}, false
	}
	r := s.request(change{cut: true}, s.indexOf(tracks, nil))
	r.Config.Dayparts, r.Config.Rotation.BufferMax = []rotation.Daypart{}, 1
	r.Config.GenreSplit, r.Config.MashupChance = map[station.Category]float64{station.ArabicHits: 1}, 0
	switch {
	case c == station.Mashups:
		r.Config.MashupChance = 1
	case c.Music():
		r.Config.GenreSplit = map[station.Category]float64{c: 1}
	}
	r.Config.Clocks = []rotation.HourClock{{Name: "play", Hour: []rotation.Position{{Category: string(c)}, {Category: string(station.ArabicHits)}}}}
	// On a clock on which the hour begins now.
	_, offset := r.Now.Zone()
	r.Now = r.Now.Truncate(time.Second)
	past := r.Now.Minute()*60 + r.Now.Second()
	r.Now = r.Now.In(time.FixedZone("", offset-past))
	if rot := rotation.Build(r); len(rot.Entries) > 0 && rot.Entries[0].Track.Category == c {
		return rot.Entries[0].Track, true
	}
	return s.rested(tracks, c), true
}

// rested is the track of a category that was heard longest ago; of bulletins
// the newest, because an older one tells the wrong time.
func (s *Scheduler) rested(tracks []station.Track, c station.Category) station.Track {
	own := slices.DeleteFunc(slices.Clone(tracks), func(t station.Track) bool { return t.Category != c })
	return slices.MinFunc(own, func(a, b station.Track) int {
		if c == station.News {
			return b.ModTime.Compare(a.ModTime)
		}
		atA, _ := s.state.History.Last(a.Path)
		atB, _ := s.state.History.Last(b.Path)
		return atA.Compare(atB)
	})
}
