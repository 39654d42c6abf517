package intake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/library/media"
)

const (
	tidyEvery = time.Minute
	// longestMissing is how long the row of an upload whose file has not come is kept: longer
	// than uploads wait to be taken.
	longestMissing = 3 * 24 * time.Hour
	// sure is for how long the clock has to go on before a file is dropped for its age: one
	// that was set ahead makes all of them old.
	sure = 6 * time.Hour
)

// tidyUp drops what has outlived its time.
func (in *Intake) tidyUp(ctx context.Context) error {
	ticks := time.NewTicker(tidyEvery)
	defer ticks.Stop()
	for {
		in.tidy(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

func (in *Intake) tidy(ctx context.Context) {
	now := in.opt.Now()
	steady := in.clock.Look(now, tidyEvery) >= sure
	var lines, placed, old []kept
	in.mu.Lock()
	for _, e := range in.entries {
		switch {
		case e.busy:
		case e.Dropped, !e.Here && now.Sub(e.At) > longestMissing, e.settled() && now.Sub(e.DoneAt) > in.limits.KeepTaken:
			lines = append(lines, e.kept)
		case e.settled():
			placed = append(placed, e.kept)
		case (e.State == Asks || e.State == Refused || e.State == Waiting) && steady && now.Sub(e.At) > in.limits.Age:
			old = append(old, e.kept)
		}
	}
	in.mu.Unlock()
	// The list is asked for as a whole: of a whole collection only the last are kept in it.
	slices.SortFunc(placed, func(a, b kept) int { return a.DoneAt.Compare(b.DoneAt) })
	lines = append(lines, placed[:max(0, len(placed)-in.limits.Placed)]...)
	for _, k := range lines {
		in.note(ctx, k, in.removeWhere(ctx, k.ID, (*entry).over))
	}
	for _, k := range old {
		in.log.Warn("an upload was not answered for too long and is dropped", "name", k.Name, "by", k.By, "since", k.At.Format(time.DateOnly), "state", k.State)
		in.note(ctx, k, in.Drop(ctx, k.ID))
	}
}

// over reports that an entry may go, now that nobody else can change it: it may have been ordered
// back since it was found too old.
func (e *entry) over() bool { return !e.busy && (e.Dropped || !e.placed() || e.settled()) }

func (in *Intake) note(ctx context.Context, k kept, err error) {
	if err != nil && ctx.Err() == nil {
		in.log.Warn("cannot remove an upload: it is tried again", "name", k.Name, "err", err)
	}
}

// ours are the names in the folder of arrivals: whole files, and unfinished copies.
func ours() *regexp.Regexp {
	return regexp.MustCompile(`^(?:([a-z2-7]{26})(\.[a-z0-9]{1,5})|\.athir-intake-[a-z2-7]{26}\.part)$`)
}

// recover brings rows and files together as an earlier process left them. Files without a
// row, as after a database was restored, become arrivals that ask.
func (in *Intake) recover(ctx context.Context) error {
	if err := os.MkdirAll(in.opt.Dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of arrivals: %w", err)
	}
	all, err := load(ctx, in.db)
	if err != nil {
		return err
	}
	for _, k := range all {
		in.entries[k.ID] = &entry{kept: k, stale: true}
	}
	found, err := os.ReadDir(in.opt.Dir)
	if err != nil {
		return fmt.Errorf("read the folder of arrivals: %w", err)
	}
	pattern := ours()
	for _, f := range found {
		name := pattern.FindStringSubmatch(f.Name())
		if name == nil {
			continue // no file of ours
		}
		if name[1] == "" {
			if err := os.Remove(filepath.Join(in.opt.Dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove an unfinished copy: %w", err)
			}
			continue
		}
		if err := in.adopt(ctx, name[1], f); err != nil {
			return err
		}
	}
	return nil
}

// adopt brings a file of the folder together with its row.
func (in *Intake) adopt(ctx context.Context, id string, f fs.DirEntry) error {
	e := in.entries[id]
	if e != nil {
		if left, err := there(in.disk, e.Upload); err != nil {
			return err
		} else if !left && !e.Here && !e.Dropped { // else the upload is handed on once more
			_, err := in.changeOne(ctx, id, func(k *kept) error { k.Here = true; return nil })
			return err
		}
		return nil
	}
	info, err := f.Info()
	if err != nil || !info.Mode().IsRegular() || !media.Playable(f.Name()) {
		return nil //nolint:nilerr // it went this moment, or is none of ours
	}
	in.log.Warn("a file among the arrivals is not known and is taken up again: was the database restored?", "file", f.Name())
	return in.enter(ctx, kept{Here: true, Ext: strings.ToLower(path.Ext(f.Name())), Arrival: Arrival{
		ID: id, Name: f.Name(), Size: info.Size(), At: info.ModTime(), State: Waiting,
	}})
}
