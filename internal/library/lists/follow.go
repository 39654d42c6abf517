package lists

import (
	"context"
	"database/sql"
	"fmt"
	"maps"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/moves"
)

// Follow looks once whether files of items were moved.
func (l *Lists) Follow(ctx context.Context) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	b := l.book.Load()
	moved, seen := l.watch.Look(b.files, l.opt.Registry.Tracks(), l.opt.Now())
	if len(moved)+len(seen) == 0 {
		return nil
	}
	return l.move(ctx, moved, seen)
}

// Move has the places of a track go to another path, where the caller has put its file.
func (l *Lists) Move(ctx context.Context, from, to string) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	if _, listed := l.book.Load().files[from]; !listed || from == to {
		return nil
	}
	return l.move(ctx, map[string]string{to: from}, nil)
}

// move gives places other paths, from new ones to those before, in playlists and in what can be
// taken back, and notes what files are now. The caller holds turn.
func (l *Lists) move(ctx context.Context, moved map[string]string, seen map[string]moves.Stat) error {
	to := make(map[string]string, len(moved))
	for now, before := range moved {
		to[before] = now
	}
	b := l.book.Load()
	next := &book{byID: maps.Clone(b.byID), files: maps.Clone(b.files)}
	fresh := maps.Clone(seen)
	if fresh == nil {
		fresh = map[string]moves.Stat{}
	}
	for before, now := range to {
		fresh[now] = next.files[before]
		delete(next.files, before)
	}
	maps.Copy(next.files, fresh)
	var changed []*record
	for id, r := range b.byID {
		if items, any := renamed(r.items, to); any {
			other := *r
			other.items, other.version = items, r.version+1
			next.byID[id] = &other
			changed = append(changed, &other)
		}
	}
	err := l.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		for _, r := range changed {
			if err := writeRecord(ctx, tx, r); err != nil {
				return err
			}
		}
		if err := writeFiles(ctx, tx, fresh); err != nil {
			return err
		}
		return writeMoves(ctx, tx, l.opt.Now().UnixMilli(), to)
	})
	if err != nil {
		return fmt.Errorf("write the places of moved files: %w", err)
	}
	for before, now := range to {
		l.opt.Log.Info("a track keeps its places in playlists", "from", before, "to", now)
	}
	l.book.Store(next)
	l.look()
	if len(changed) > 0 {
		l.own.Tell()
	}
	return nil
}

func renamed(items []string, to map[string]string) (out []string, any bool) {
	out = make([]string, len(items))
	for i, path := range items {
		out[i] = path
		if now, moved := to[path]; moved {
			out[i], any = now, true
		}
	}
	return out, any
}

// writeMoves notes which files were moved, for what can be taken back.
func writeMoves(ctx context.Context, tx *sql.Tx, at int64, to map[string]string) error {
	for before, now := range to {
		if _, err := tx.ExecContext(ctx, `DELETE FROM lists_file WHERE path = ?`, []byte(before)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO lists_move (at, deed, old_path, new_path) VALUES (?, (SELECT coalesce(max(id), 0) FROM lists_deed), ?, ?)`, at, []byte(before), []byte(now))
		if err != nil {
			return err
		}
	}
	return nil
}

// movedSince says where files are now that had a path as a deed was done.
func movedSince(ctx context.Context, db store.Querier, deed int64) (map[string]string, error) {
	to := map[string]string{}
	err := store.Each(ctx, db, func(rows *sql.Rows) error {
		var before, now []byte
		if err := rows.Scan(&before, &now); err != nil {
			return err
		}
		last := string(now)
		if later, again := to[last]; again {
			last = later
		}
		to[string(before)] = last
		return nil
	}, `SELECT old_path, new_path FROM lists_move WHERE deed >= ? ORDER BY id DESC`, deed) // the latest first
	return to, err
}
