package intake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// List returns the arrivals, the oldest first, and whether some are being taken.
func (in *Intake) List(ctx context.Context) (all []Arrival, taking bool) {
	in.noteAirs(ctx)
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range in.entries {
		if e.Dropped || !e.Here {
			continue
		}
		all = append(all, e.shown())
		taking = taking || e.State == Taking
	}
	slices.SortFunc(all, func(a, b Arrival) int { return earlier(&a, &b) })
	return all, taking
}

// Stats are figures for metrics.
type Stats struct {
	States map[State]int // each state is in it
	Bytes  int64         // of those that are not in the media folder
	Held   int           // that were taken, and wait for what keeps them from being placed
}

// Stats counts.
func (in *Intake) Stats() Stats {
	s := Stats{States: map[State]int{Waiting: 0, Looking: 0, Asks: 0, Taking: 0, Taken: 0, Refused: 0, Undoing: 0, Undone: 0}}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range in.entries {
		if e.Dropped || !e.Here {
			continue
		}
		s.States[e.state()]++
		if !e.placed() {
			s.Bytes += e.Size
		}
		if e.State == Taking && e.Reason != nil {
			s.Held++
		}
	}
	return s
}

// shown is an arrival as people see it.
func (e *entry) shown() Arrival {
	a := e.Arrival
	a.State = e.state()
	if !e.placed() { // a path that is only announced
		a.Path = ""
	}
	return a
}

// noteAirs keeps when placed files can air.
func (in *Intake) noteAirs(ctx context.Context) {
	var ids []string
	in.mu.Lock()
	for id, e := range in.entries {
		if e.State == Taken && e.Told && e.AirsAt.IsZero() && !e.Dropped && in.opt.Library.Airs(e.Path) {
			ids = append(ids, id)
		}
	}
	in.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	_, err := in.change(ctx, ids, func(k *kept) (bool, error) { k.AirsAt = in.opt.Now(); return true, nil })
	if err != nil {
		in.log.Debug("cannot note that an upload airs", "err", err)
	}
}

// Find returns one arrival. The error is of station.ErrNotFound where there is none.
func (in *Intake) Find(id string) (Arrival, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	e := in.entries[id]
	if e == nil || e.Dropped || !e.Here {
		return Arrival{}, errNone
	}
	return e.shown(), nil
}

// File is where the file of an arrival lies now, to be listened to. It may be placed, and be
// elsewhere, the moment after.
func (in *Intake) File(id string) (abs string, err error) {
	k, ok := in.get(id)
	switch {
	case !ok || !k.Here:
		return "", errNone
	case k.State == Taken, k.State == Undoing && !k.Left:
		return in.abs(k.Path), nil
	}
	return in.file(&k), nil
}

// Change is what a person says of an arrival; nil leaves a field as it is.
type Change struct {
	Category      *station.Category
	Title, Artist *string // empty: as the file says
	Replace       *string // path of a track; empty: none
}

// Change changes an arrival that is not taken. One that was refused is looked at again.
// Errors: station.ErrNotFound; station.ErrConflict while it is taken; a *Refusal that says
// what it cannot be.
func (in *Intake) Change(ctx context.Context, id string, c Change) (Arrival, error) {
	replaced := station.Category("")
	if c.Replace != nil && *c.Replace != "" {
		t, err := in.replaced(*c.Replace)
		if err != nil {
			return Arrival{}, err
		}
		replaced = t.Category
	}
	if c.Category != nil && !choosable(*c.Category) {
		return Arrival{}, refuse(NoCategory)
	}
	named := c.Title != nil || c.Artist != nil
	k, err := in.changeOne(ctx, id, func(k *kept) error {
		if k.State == Taking || k.placed() || !k.Here {
			return errTakenAlready
		}
		return k.apply(c, replaced)
	})
	if err != nil {
		return Arrival{}, err
	}
	if named && k.State == Asks {
		if err := in.compareNames(ctx, k); err != nil {
			return Arrival{}, err
		}
	}
	return in.Find(id)
}

var errTakenAlready = fmt.Errorf("the upload is taken already: change the track instead: %w", station.ErrConflict)

// apply changes an arrival as a person says. replaced is the category of the track that it
// is to replace.
func (k *kept) apply(c Change, replaced station.Category) error {
	category := replaced
	if category == "" && c.Category != nil {
		category = *c.Category
	}
	if category != "" {
		k.Category, k.Guessed, k.Why = category, false, Words{}
	}
	if c.Replace != nil {
		k.Replace = *c.Replace
	}
	if c.Title != nil {
		k.Title = clip(strings.TrimSpace(*c.Title), mostText)
		k.TitleSaid = k.Title != ""
	}
	if c.Artist != nil {
		k.Artist = clip(strings.TrimSpace(*c.Artist), mostText)
		k.ArtistSaid = k.Artist != ""
	}
	blank := c.Title != nil && !k.TitleSaid || c.Artist != nil && !k.ArtistSaid
	switch {
	case k.State == Asks && category != "":
		if r := k.unfit(); r != nil {
			return r
		}
		k.Asks = k.questions()
	case k.State == Asks:
		k.Asks = k.questions()
	}
	if k.State == Refused || blank { // what the file says must be read again
		k.State, k.Reason, k.Asks = Waiting, nil, nil
	}
	return nil
}

// compareNames looks which tracks have the names that a person gave. What sounds the same
// does so still.
func (in *Intake) compareNames(ctx context.Context, k kept) error {
	named, err := in.alike(ctx, nil, k.Artist, k.Title)
	if err != nil {
		return err
	}
	_, err = in.changeOne(ctx, k.ID, func(k *kept) error {
		if k.State != Asks {
			return nil
		}
		alike := slices.DeleteFunc(slices.Clone(k.Alike), func(l Likeness) bool { return !l.Recording })
		for _, l := range named {
			if !slices.ContainsFunc(alike, func(have Likeness) bool { return have.Path == l.Path }) {
				alike = append(alike, l)
			}
		}
		k.Alike = alike
		k.Asks = k.questions()
		return nil
	})
	return err
}

// Take takes arrivals that ask as they are: in the category that was guessed, beside the
// tracks that they look like. ids of nil takes all. It returns how many; they are placed in
// the background. The error is a *Refusal while nothing can be placed.
func (in *Intake) Take(ctx context.Context, ids []string) (n int, err error) {
	if err := in.ready(0); err != nil {
		return 0, err
	}
	if ids == nil {
		in.mu.Lock()
		for id := range in.entries {
			ids = append(ids, id)
		}
		in.mu.Unlock()
	}
	slices.Sort(ids)
	changed, err := in.change(ctx, slices.Compact(ids), func(k *kept) (bool, error) {
		if k.State != Asks {
			return false, nil
		}
		// Where no duplicate was asked about, one that is placed meanwhile still is.
		k.Auto = !slices.Contains(k.Asks, AskDuplicate)
		k.State, k.Guessed, k.Asks, k.Reason = Taking, false, nil, nil
		return true, nil
	})
	return len(changed), err
}

// Again has a refused arrival looked at again.
func (in *Intake) Again(ctx context.Context, id string) (Arrival, error) {
	_, err := in.changeOne(ctx, id, func(k *kept) error {
		if k.State != Refused {
			return fmt.Errorf("the upload is not refused: %w", station.ErrConflict)
		}
		k.State, k.Reason = Waiting, nil
		return nil
	})
	if err != nil {
		return Arrival{}, err
	}
	return in.Find(id)
}

// Drop forgets an arrival and removes its file; of one that is taken only the line goes. The
// error is of station.ErrConflict while it is being placed.
func (in *Intake) Drop(ctx context.Context, id string) error {
	ok, heard := in.seize(id)
	if !ok {
		return fmt.Errorf("the upload is being placed: %w", station.ErrConflict)
	}
	k, _ := in.get(id)
	if err := in.spare(ctx, k); err != nil {
		in.release(id, nil)
		return err
	}
	_, err := in.changeOne(ctx, id, func(k *kept) error {
		switch {
		case !k.Here:
			return errNone
		case k.State == Undoing:
			return fmt.Errorf("the upload is being taken back: %w", station.ErrConflict)
		case k.State == Taken && !k.Told, k.Out && !k.placed():
			return fmt.Errorf("the upload is being placed: %w", station.ErrConflict)
		case k.State == Taking && k.Path != "": // an earlier attempt may have placed it
			if placed, err := in.isPlaced(k, in.file(k)); err != nil || placed {
				return errors.Join(err, fmt.Errorf("the upload is placed: %w", station.ErrConflict))
			}
		}
		k.Dropped = true
		return nil
	})
	if err == nil {
		err = in.remove(context.WithoutCancel(ctx), id)
	}
	if err != nil && !heard {
		in.release(id, nil)
	}
	return err
}

// seize keeps an arrival from being placed; false where that is under way. One that is
// listened to, heard, may be seized: what is heard of it then comes to nothing, and whoever
// listens releases it.
func (in *Intake) seize(id string) (ok, heard bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	e := in.entries[id]
	switch {
	case e == nil:
		return true, false // there is nothing to seize
	case e.busy && e.toPlace():
		return false, false
	}
	heard = e.busy
	e.busy = true
	return true, heard
}

// remove finishes the drop of an arrival: its file, then its row.
func (in *Intake) remove(ctx context.Context, id string) error {
	return in.removeWhere(ctx, id, func(*entry) bool { return true })
}

// removeWhere does so where that still holds.
func (in *Intake) removeWhere(ctx context.Context, id string, holds func(*entry) bool) error {
	in.desk.Lock()
	defer in.desk.Unlock()
	in.mu.Lock()
	e := in.entries[id]
	gone := e == nil || !holds(e)
	in.mu.Unlock()
	if gone {
		return nil
	}
	if !e.placed() {
		if err := in.disk.Remove(in.file(&e.kept)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an upload: %w", err)
		}
		if err := in.disk.SyncDir(filepath.Clean(in.opt.Dir)); err != nil {
			return fmt.Errorf("remove an upload: %w", err)
		}
	}
	if err := forget(ctx, in.db, id); err != nil {
		return err
	}
	in.mu.Lock()
	delete(in.entries, id)
	in.mu.Unlock()
	in.changed.Tell()
	return nil
}
