package overlay

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// settles is how long a change of the registry is left alone: files that are moved go before
// they come.
const settles = 2 * time.Second

// Run keeps notes with their files until ctx ends: what is said of a file that was moved or
// renamed goes with it.
func (o *Overlay) Run(ctx context.Context) error {
	changed, cancel := o.opt.Registry.Subscribe()
	defer cancel()
	for {
		if o.opt.Whole() {
			if err := o.Follow(ctx); err != nil && ctx.Err() == nil {
				o.opt.Log.Warn("cannot keep what is said of tracks with their files", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(settles):
		}
	}
}

// stat tells a file from others: a move keeps both.
type stat struct{ size, mtime int64 }

// overlap is for how long a moved file may be listed at both its places.
const overlap = time.Minute

// Follow looks once. A file that is gone and has one of the same size and time in its place,
// elsewhere and without a note, was moved: unless that one was there before, as a copy is.
func (o *Overlay) Follow(ctx context.Context) error {
	o.turn.Lock()
	defer o.turn.Unlock()
	n, files := o.notes.Load(), o.opt.Registry.Tracks()
	moved, seen := map[string]string{}, map[string]kept{} // to a path, from one; as the file is now
	var missing []string
	now, before := o.opt.Now(), o.there
	o.there = make(map[string]time.Time, len(n.sorted))
	for _, path := range n.sorted {
		k := n.byPath[path]
		i, there := find(files, path)
		switch {
		case !there:
			missing = append(missing, path)
			if at, known := before[path]; known {
				o.there[path] = at
			}
			continue
		case statOf(files[i]) != (stat{k.size, k.mtime}):
			seen[path] = kept{k.Note, files[i].Size, files[i].ModTime.UnixNano()}
		}
		o.there[path] = now
	}
	if len(missing) > 0 {
		moved = n.movedTo(missing, files, o.there, o.began)
	}
	if len(moved)+len(seen) == 0 {
		return nil
	}
	return o.moveNotes(ctx, moved, seen)
}

// Move has what is said of a track go to another path, where the caller has put its file.
func (o *Overlay) Move(ctx context.Context, from, to string) error {
	o.turn.Lock()
	defer o.turn.Unlock()
	if _, said := o.notes.Load().byPath[from]; !said || from == to {
		return nil
	}
	return o.moveNotes(ctx, map[string]string{to: from}, nil)
}

// moveNotes gives notes other paths, from new ones to those before, and notes what files are now.
// The caller holds turn.
func (o *Overlay) moveNotes(ctx context.Context, moved map[string]string, seen map[string]kept) error {
	err := o.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		for to, from := range moved {
			for _, table := range []string{"overlay_note", "overlay_change"} {
				if _, err := tx.ExecContext(ctx, "UPDATE OR REPLACE "+table+" SET path = ? WHERE path = ?", []byte(to), []byte(from)); err != nil {
					return err
				}
			}
		}
		for path, k := range seen {
			if _, err := tx.ExecContext(ctx, "UPDATE overlay_note SET size = ?, mtime_ns = ? WHERE path = ?", k.size, k.mtime, []byte(path)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write what is said of moved files: %w", err)
	}
	all := maps.Clone(o.notes.Load().byPath)
	maps.Copy(all, seen)
	for to, from := range moved {
		all[to] = all[from]
		delete(all, from)
		o.opt.Log.Info("what is said of a track goes with its file", "from", from, "to", to)
	}
	o.notes.Store(newNotes(all))
	if len(moved) > 0 {
		o.own.Tell()
	}
	return nil
}

func statOf(t station.Track) stat { return stat{t.Size, t.ModTime.UnixNano()} }

// movedTo finds where missing files are now: from a new path to the one before. What may be
// in two places is in none, and none is where a file was while the missing one was there, as
// last says; of what was not seen in this run, began, its start, is the time.
func (n *notes) movedTo(missing []string, files []station.Track, last map[string]time.Time, began time.Time) map[string]string {
	lost := map[stat][]string{}
	for _, path := range missing {
		k := n.byPath[path]
		lost[stat{k.size, k.mtime}] = append(lost[stat{k.size, k.mtime}], path)
	}
	found, added := map[stat][]string{}, map[string]time.Time{}
	for i := range files {
		s := statOf(files[i])
		if _, sought := lost[s]; !sought {
			continue
		}
		if _, has := n.byPath[files[i].Path]; !has {
			found[s] = append(found[s], files[i].Path)
			added[files[i].Path] = files[i].AddedAt
		}
	}
	out := map[string]string{}
	for s, to := range found {
		if from := lost[s]; len(to) == 1 && len(from) == 1 && !slices.Contains(missing, to[0]) {
			at, known := last[from[0]]
			if !known {
				at = began
			}
			if !added[to[0]].Before(at.Add(-overlap)) {
				out[to[0]] = from[0]
			}
		}
	}
	return out
}
