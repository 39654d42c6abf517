// Package policy owns the station configuration: one document, changed by
// typed merge patches, in force at once, and saved to one file by Save.
//
// It refuses unknown and wrong fields and names every one; a change that is
// refused, or that the scheduler cannot apply, changes nothing. It does not know
// what the settings mean on air (rotation does) and applies them through a given
// function.
package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"sync/atomic"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Apply puts a scheduler configuration in force, or fails and leaves the previous
// one in force. It reports whether the rotation on air was rebuilt.
type Apply func(ctx context.Context, cfg rotation.Config) (rebuilt bool, err error)

// Owner is the sole owner of the document. Changes take effect one after
// another; Current never waits for one.
type Owner struct {
	path  string
	apply Apply
	turn  chan struct{} // of capacity 1: holds one while a change is under way
	now   atomic.Pointer[settings]
	kept  atomic.Pointer[settings] // what a restart would read
}

// Change is what a change did.
type Change struct {
	Document Document
	Rebuilt  bool // the rotation on air was rebuilt because of it
	// Lost is what dayparts did that no longer holds: a list replaces the one before it.
	Lost []rotation.Lost
}

// Open reads the file at path; none means the defaults. A file that is wrong
// gives an error that names it and every wrong field. apply is not called.
func Open(path string, apply Apply) (*Owner, error) {
	s := defaults()
	text, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("read station configuration: %w", err)
	default:
		if s, err = open(text); err != nil {
			return nil, fmt.Errorf("read station configuration %s:\n%w", path, err)
		}
	}
	o := &Owner{path: path, apply: apply, turn: make(chan struct{}, 1)}
	o.now.Store(&s)
	o.kept.Store(&s)
	return o, nil
}

// Check returns what Open would say of a file with this text.
func Check(text []byte) error {
	_, err := open(text)
	return err
}

// With returns an owner of the same configuration that applies changes by apply,
// for an applier that needs the opened configuration.
func (o *Owner) With(apply Apply) *Owner {
	next := &Owner{path: o.path, apply: apply, turn: make(chan struct{}, 1)}
	next.now.Store(o.now.Load())
	next.kept.Store(o.kept.Load())
	return next
}

// Current returns a copy of the document in force.
func (o *Owner) Current() Document { return o.now.Load().clone().Document }

// Saved reports whether the document in force is saved.
func (o *Owner) Saved() bool { return reflect.DeepEqual(o.now.Load(), o.kept.Load()) }

// Patch merges a JSON object into the document (RFC 7396): objects deeply,
// lists whole; null brings a setting's default back and takes a member out of
// a map. MOOD in it is applied first. Errors: *InvalidError with every wrong
// field; what Apply returns; ctx's.
func (o *Owner) Patch(ctx context.Context, patch json.RawMessage) (Change, error) {
	p, err := parse(patch)
	if err != nil {
		return Change{}, err
	}
	return o.changed(ctx, func(s settings) (settings, error) { return s.asked(p) })
}

// asked is s changed by an operator's patch.
func (s settings) asked(patch object) (settings, error) {
	var bad wrong
	rest := maps.Clone(patch)
	delete(rest, "MOOD")
	next := s
	if mood, named := patch["MOOD"]; named {
		name, isText := mood.(string)
		if !isText && mood != nil {
			bad.add("MOOD", "must be text")
		} else if name != s.Mood {
			in, err := s.inMood(name)
			if bad.take(err); err == nil {
				next = in
			}
		}
	}
	next, err := next.patched(rest)
	bad.take(err)
	return next, bad.err()
}

// Mood applies a preset over the operator's own settings; an empty name ends
// the mood and restores those settings, except any changed since.
func (o *Owner) Mood(ctx context.Context, name string) (Change, error) {
	return o.changed(ctx, func(s settings) (settings, error) { return s.inMood(name) })
}

// Singers edits the singer catalog of a category.
func (o *Owner) Singers(ctx context.Context, e Edit) (Change, error) {
	return o.changed(ctx, func(s settings) (_ settings, err error) {
		s.Document.Singers, err = e.edited("singers", s.Document.Singers)
		return s, err
	})
}

// SetQueries edits the trend queries of a category.
func (o *Owner) SetQueries(ctx context.Context, e Edit) (Change, error) {
	return o.changed(ctx, func(s settings) (_ settings, err error) {
		s.Queries, err = e.edited("queries", s.Queries)
		return s, err
	})
}

// Save writes the document in force to the file.
func (o *Owner) Save(ctx context.Context) error {
	return o.inTurn(ctx, func() error {
		s := o.now.Load()
		b, err := render(s)
		if err == nil {
			err = file.WriteAtomic(o.path, b, 0o600)
		}
		if err != nil {
			return fmt.Errorf("save station configuration: %w: %w", station.ErrUnavailable, err)
		}
		o.kept.Store(s)
		return nil
	})
}

// Reset deletes the file and restores the defaults. Live streams are not a setting: where
// there are any they stay in force and are all that a new file holds.
func (o *Owner) Reset(ctx context.Context) (out Change, err error) {
	err = o.inTurn(ctx, func() error {
		out, err = o.change(ctx, func(s settings) (settings, error) {
			next := defaults()
			next.Live = s.Live
			return next, nil
		})
		if err != nil {
			return err
		}
		s := defaults()
		s.Live = o.now.Load().Live
		if err := o.removeButLive(s.Live); err != nil {
			return fmt.Errorf("the defaults are in force, but the configuration file could not be deleted: %w: %w", station.ErrUnavailable, err)
		}
		o.kept.Store(&s)
		return nil
	})
	return out, err
}

// changed makes one change in its turn.
func (o *Owner) changed(ctx context.Context, to func(settings) (settings, error)) (out Change, err error) {
	err = o.inTurn(ctx, func() error {
		out, err = o.change(ctx, to)
		return err
	})
	return out, err
}

// change puts a change in force and publishes it, or does neither.
func (o *Owner) change(ctx context.Context, to func(settings) (settings, error)) (out Change, err error) {
	was := o.now.Load()
	next, err := to(was.clone())
	if err == nil {
		next, err = next.settled() // also refuses what the file could not hold
	}
	if err == nil && !reflect.DeepEqual(was.Dayparts, next.Dayparts) {
		var bad wrong
		bad.take(next.Overlapping())
		err = bad.err()
	}
	if err != nil {
		return out, err
	}
	out.Lost = rotation.LostBetween(was.Config, next.Config)
	if !reflect.DeepEqual(was.Config, next.Config) {
		if out.Rebuilt, err = o.apply(ctx, next.clone().Config); err != nil {
			return Change{}, fmt.Errorf("apply station configuration: %w", err)
		}
	}
	o.now.Store(&next)
	out.Document = next.clone().Document
	return out, nil
}

func (o *Owner) inTurn(ctx context.Context, do func() error) error {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
		return do()
	case <-ctx.Done():
		return ctx.Err()
	}
}
