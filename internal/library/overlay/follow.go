package overlay

import (
	"context"
	"database/sql"
	"fmt"
	"maps"

	"github.com/athir-radio/athir/internal/library/moves"
)

// Run keeps notes with their files until ctx ends: what is said of a file that was moved or
// renamed goes with it.
func (o *Overlay) Run(ctx context.Context) error {
	return moves.Run(ctx, o.opt.Log, o.opt.Registry, o.opt.Whole, o.Follow)
}

// Follow looks once.
func (o *Overlay) Follow(ctx context.Context) error {
	o.turn.Lock()
	defer o.turn.Unlock()
	n := o.notes.Load()
	known := make(map[string]moves.Stat, len(n.byPath))
	for path, k := range n.byPath {
		known[path] = k.Stat
	}
	moved, changed := o.watch.Look(known, o.opt.Registry.Tracks(), o.opt.Now())
	if len(moved)+len(changed) == 0 {
		return nil
	}
	seen := map[string]kept{}
	for path, is := range changed {
		seen[path] = kept{n.byPath[path].Note, is}
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
			if _, err := tx.ExecContext(ctx, "UPDATE overlay_note SET size = ?, mtime_ns = ? WHERE path = ?", k.Size, k.ModTime, []byte(path)); err != nil {
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
