// Package policy owns the station configuration: one document, changed by
// typed merge patches, in force at once, and kept in one file: with Keep at every
// change, else by Save. The newest changes can be taken back.
//
// It refuses unknown and wrong fields and names every one; a change that is
// refused, or that the scheduler cannot apply, changes nothing. It does not know
// what the settings mean on air (rotation does) and applies them through a given
// function.
package policy

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/turns"
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
	now   atomic.Pointer[inForce]
	kept  atomic.Pointer[settings] // what a restart would read
	keep  *Keeping                 // nil: only Save keeps what is in force
	disk  turns.Turns[struct{}]    // of writing the files; taken inside turn, never around it
	books books                    // disk's
	// unsaved is why what is in force could not be kept; nil as a rule.
	unsaved atomic.Pointer[error]
	behind  chan struct{} // of capacity 1: holds one where Run is to write again
}

// inForce are the settings in force, with the changes that led to them.
type inForce struct {
	settings
	past *past
}

// Change is what a change did.
type Change struct {
	Document Document
	ID       int64 // by which it is undone; 0: no setting was changed
	Rebuilt  bool  // the rotation on air was rebuilt because of it
	// Lost is what dayparts did that no longer holds: a list replaces the one before it.
	Lost []rotation.Lost
}

// Open reads the file at path; none means the defaults. A file that is wrong
// gives an error that names it and every wrong field. apply is not called.
func Open(path string, apply Apply) (*Owner, error) {
	s := defaults()
	text, err := read(path, mostBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("read station configuration: %w", err)
	default:
		if s, err = open(text); err != nil {
			return nil, fmt.Errorf("read station configuration %s:\n%w", path, err)
		}
	}
	o := owner(path, apply, &inForce{s, &past{Next: 1}}, &s)
	o.books.text = sha256.Sum256(text)
	return o, nil
}

func owner(path string, apply Apply, now *inForce, kept *settings) *Owner {
	o := &Owner{path: path, apply: apply, turn: make(chan struct{}, 1), behind: make(chan struct{}, 1), books: books{whole: now, past: now.past}}
	o.now.Store(now)
	o.kept.Store(kept)
	return o
}

// Check returns what Open would say of a file with this text.
func Check(text []byte) error {
	_, err := open(text)
	return err
}

// With returns an owner of the same configuration that applies changes by apply,
// for an applier that needs the opened configuration.
func (o *Owner) With(apply Apply) *Owner {
	out := owner(o.path, apply, o.now.Load(), o.kept.Load())
	out.books.text = o.books.text
	return out
}

// Current returns a copy of the document in force.
func (o *Owner) Current() Document { return o.now.Load().clone().Document }

// Saved reports whether the document in force is saved.
func (o *Owner) Saved() bool { return reflect.DeepEqual(o.now.Load().settings, *o.kept.Load()) }

// Patch merges a JSON object into the document (RFC 7396): objects deeply,
// lists whole; null brings a setting's default back and takes a member out of
// a map. MOOD in it is applied first. who is kept with the change. Errors:
// *InvalidError with every wrong field; what Apply returns; ctx's.
func (o *Owner) Patch(ctx context.Context, who string, patch json.RawMessage) (Change, error) {
	p, err := parse(patch)
	if err != nil {
		return Change{}, err
	}
	return o.changed(ctx, record{By: who}, func(s settings) (settings, error) { return s.asked(p) })
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
func (o *Owner) Mood(ctx context.Context, who, name string) (Change, error) {
	return o.changed(ctx, record{By: who}, func(s settings) (settings, error) { return s.inMood(name) })
}

// Singers edits the singer catalog of a category.
func (o *Owner) Singers(ctx context.Context, who string, e Edit) (Change, error) {
	return o.changed(ctx, record{By: who}, func(s settings) (_ settings, err error) {
		s.Document.Singers, err = e.edited("singers", s.Document.Singers)
		return s, err
	})
}

// SetQueries edits the trend queries of a category.
func (o *Owner) SetQueries(ctx context.Context, who string, e Edit) (Change, error) {
	return o.changed(ctx, record{By: who}, func(s settings) (_ settings, err error) {
		s.Queries, err = e.edited("queries", s.Queries)
		return s, err
	})
}

// Undo takes a change back, or with 0 the newest that is not: what it replaced is put back,
// but for what was changed again since, which is left and named. That is a change too, and
// can be taken back. Errors: station.ErrNotFound; station.ErrConflict where it is taken back
// already, or nothing of it can be put back; what Patch returns.
func (o *Owner) Undo(ctx context.Context, who string, id int64) (out Change, left []string, err error) {
	err = o.inTurn(ctx, func() error {
		now := o.now.Load()
		r, err := now.past.find(id)
		if err != nil {
			return err
		}
		was, err := now.layers()
		if err != nil {
			return err
		}
		next, kept := r.back(was)
		if left = kept; equal(next, was) {
			return fmt.Errorf("all that change %d set was changed again since: %w", r.ID, station.ErrConflict)
		}
		out, err = o.change(ctx, record{By: who, Undoes: r.ID}, func(s settings) (settings, error) { return next.settings(s.Live) })
		var unfit *InvalidError
		if errors.As(err, &unfit) {
			return fmt.Errorf("what change %d replaced does not fit what is set now: %s: %w", r.ID, unfit.Fields[0], station.ErrConflict)
		}
		return err
	})
	if err == nil {
		o.keepUp()
	}
	return out, left, err
}

// Save writes the document in force to the file.
func (o *Owner) Save(ctx context.Context) error {
	return o.inTurn(ctx, func() error { return o.disk.Alone(o.write) })
}

// Reset deletes the file and restores the defaults. Live streams are not a setting: where
// there are any they stay in force and are all that a new file holds.
func (o *Owner) Reset(ctx context.Context, who string) (out Change, err error) {
	err = o.inTurn(ctx, func() error {
		out, err = o.change(ctx, record{By: who}, func(s settings) (settings, error) {
			next := defaults()
			next.Live = s.Live
			return next, nil
		})
		if err != nil {
			return err
		}
		return o.disk.Alone(o.remove)
	})
	return out, err
}

// changed makes one change in its turn, and returns when it is kept, where it is to be.
func (o *Owner) changed(ctx context.Context, r record, to func(settings) (settings, error)) (out Change, err error) {
	err = o.inTurn(ctx, func() error {
		out, err = o.change(ctx, r, to)
		return err
	})
	if err == nil {
		o.keepUp()
	}
	return out, err
}

// change puts a change in force and publishes it, or does neither. r says who makes it.
func (o *Owner) change(ctx context.Context, r record, to func(settings) (settings, error)) (out Change, err error) {
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
	out.Document = next.clone().Document
	if reflect.DeepEqual(was.settings, next) {
		return out, nil
	}
	is := &inForce{next, was.past}
	if is.past, err = was.past.after(was.settings, next, r, o.time()); err != nil {
		return Change{}, err
	}
	out.Lost = rotation.LostBetween(was.Config, next.Config)
	if !reflect.DeepEqual(was.Config, next.Config) {
		if out.Rebuilt, err = o.apply(ctx, next.clone().Config); err != nil {
			return Change{}, fmt.Errorf("apply station configuration: %w", err)
		}
	}
	o.now.Store(is)
	if is.past != was.past {
		out.ID = is.past.Next - 1
	}
	return out, nil
}

func (o *Owner) time() time.Time {
	if o.keep != nil && o.keep.Now != nil {
		return o.keep.Now()
	}
	return time.Now()
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
