package lists

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/moves"
	"github.com/athir-radio/athir/internal/station"
)

// joined is paths as a row has them: none has a zero byte.
func joined(paths []string) []byte {
	var out bytes.Buffer
	for _, path := range paths {
		out.WriteString(path)
		out.WriteByte(0)
	}
	return append([]byte{}, out.Bytes()...)
}

func parts(b []byte) []string {
	out := []string{}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(b), "\x00"), "\x00") {
		if path != "" {
			out = append(out, path)
		}
	}
	return out
}

func readBook(ctx context.Context, db store.Querier) (*book, error) {
	b := &book{byID: map[int64]*record{}, files: map[string]moves.Stat{}}
	err := store.Each(ctx, db, func(rows *sql.Rows) error {
		var r record
		var settings, items []byte
		if err := rows.Scan(&r.id, &settings, &items, &r.version, &r.changed, &r.who); err != nil {
			return err
		}
		if err := json.Unmarshal(settings, &r.Settings); err != nil {
			return fmt.Errorf("playlist %d: %w", r.id, err)
		}
		r.Settings, r.items = r.tidied(), parts(items)
		b.byID[r.id] = &r
		return nil
	}, `SELECT id, settings, items, version, changed, who FROM lists_list`)
	if err != nil {
		return nil, err
	}
	err = store.Each(ctx, db, func(rows *sql.Rows) error {
		var path []byte
		var s moves.Stat
		err := rows.Scan(&path, &s.Size, &s.ModTime)
		b.files[string(path)] = s
		return err
	}, `SELECT path, size, mtime_ns FROM lists_file`)
	return b, err
}

// writeRecord writes a playlist; a new one gets its id.
func writeRecord(ctx context.Context, tx *sql.Tx, r *record) error {
	text, err := encode(&r.Settings)
	if err != nil {
		return err
	}
	var id any
	if r.id != 0 {
		id = r.id
	}
	out, err := tx.ExecContext(ctx, `INSERT INTO lists_list (id, settings, items, version, changed, who) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET settings = excluded.settings, items = excluded.items, version = excluded.version, changed = excluded.changed, who = excluded.who`,
		id, text, joined(r.items), r.version, r.changed, r.who)
	if err != nil || r.id != 0 {
		return err
	}
	r.id, err = out.LastInsertId()
	return err
}

// writeFiles writes what some files of items are.
func writeFiles(ctx context.Context, tx *sql.Tx, fresh map[string]moves.Stat) error {
	for path, s := range fresh {
		if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO lists_file (path, size, mtime_ns) VALUES (?, ?, ?)`, []byte(path), s.Size, s.ModTime); err != nil {
			return err
		}
	}
	return nil
}

func insertDeed(ctx context.Context, tx *sql.Tx, d *Deed) error {
	before, err := encode(d.before.settings)
	if err != nil {
		return err
	}
	after, err := encode(d.after.settings)
	if err != nil {
		return err
	}
	itemsBefore, err := deflated(d.before.items)
	if err != nil {
		return err
	}
	itemsAfter, err := deflated(d.after.items)
	if err != nil {
		return err
	}
	out, err := tx.ExecContext(ctx, `INSERT INTO lists_deed (at, who, kind, list, name, undoes, undone, tracks, before, after, before_items, after_items) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)`,
		d.At, d.Who, string(d.Kind), d.List, d.Name, d.Undoes, d.Tracks, before, after, itemsBefore, itemsAfter)
	if err != nil {
		return err
	}
	if d.ID, err = out.LastInsertId(); err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx, `UPDATE lists_deed SET undone = ? WHERE id = ?`, d.ID, d.Undoes); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM lists_deed WHERE list = ?1 AND id <= (SELECT id FROM lists_deed WHERE list = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`, d.List, mostDeeds)
	return err
}

// deflated is nil for nil.
func deflated(paths []string) ([]byte, error) {
	if paths == nil {
		return nil, nil
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(joined(paths)); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// mostInflated is more than the longest items have: MostItems paths of Linux's longest.
const mostInflated = MostItems * 4097

func inflated(b []byte) ([]string, error) {
	if b == nil {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), mostInflated))
	if err != nil {
		return nil, fmt.Errorf("the tracks of a playlist cannot be read: %w", err)
	}
	return parts(text), nil
}

func readDeed(ctx context.Context, db store.Querier, id int64) (d Deed, err error) {
	err = store.Each(ctx, db, func(rows *sql.Rows) error {
		var before, after string
		var itemsBefore, itemsAfter []byte
		err := rows.Scan(&d.ID, &d.At, &d.Who, &d.Kind, &d.List, &d.Name, &d.Undoes, &d.Undone, &d.Tracks, &before, &after, &itemsBefore, &itemsAfter)
		if err != nil {
			return err
		}
		var errs [4]error
		d.before.settings, errs[0] = decode(before)
		d.after.settings, errs[1] = decode(after)
		d.before.items, errs[2] = inflated(itemsBefore)
		d.after.items, errs[3] = inflated(itemsAfter)
		return errors.Join(errs[:]...)
	}, `SELECT id, at, who, kind, list, name, undoes, undone, tracks, before, after, before_items, after_items FROM lists_deed WHERE id = ?`, id)
	switch {
	case err != nil:
		return d, fmt.Errorf("read a deed: %w", err)
	case d.ID == 0:
		return d, fmt.Errorf("there is no deed %d: %w", id, station.ErrNotFound)
	}
	to, err := movedSince(ctx, db, id)
	if err != nil {
		return d, fmt.Errorf("read which files were moved: %w", err)
	}
	for _, items := range []*[]string{&d.before.items, &d.after.items} {
		if *items != nil {
			*items, _ = renamed(*items, to)
		}
	}
	return d, nil
}

func decode(text string) (*Settings, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // none was written
	}
	var s Settings
	err := json.Unmarshal([]byte(text), &s)
	s = s.tidied()
	return &s, err
}

// Deeds are deeds before a number (0: from the newest on), the newest first: all, or those of one
// playlist (0: all).
func (l *Lists) Deeds(ctx context.Context, list, before int64, most int) ([]Deed, error) {
	if before <= 0 {
		before = 1<<63 - 1
	}
	out := []Deed{}
	err := store.Each(ctx, l.opt.DB.Read(), func(rows *sql.Rows) error {
		var d Deed
		err := rows.Scan(&d.ID, &d.At, &d.Who, &d.Kind, &d.List, &d.Name, &d.Undoes, &d.Undone, &d.Tracks)
		out = append(out, d)
		return err
	}, `SELECT id, at, who, kind, list, name, undoes, undone, tracks FROM lists_deed WHERE id < ?1 AND (?2 = 0 OR list = ?2) ORDER BY id DESC LIMIT ?3`, before, list, max(most, 1))
	if err != nil {
		return nil, fmt.Errorf("read deeds: %w", err)
	}
	return out, nil
}

// Forget removes the deeds of more than a year ago, and what is known of files that neither a
// playlist nor a deed has. It is for who knows that the clock is right: one that is ahead would
// make all of them old.
func (l *Lists) Forget(ctx context.Context) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	old := l.opt.Now().Add(-keptDeeds).UnixMilli()
	err := l.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM lists_deed WHERE at < ?`, old); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM lists_move WHERE deed < (SELECT coalesce(min(id), 1 << 62) FROM lists_deed)`)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove old deeds of playlists: %w", err)
	}
	return l.forgetFiles(ctx)
}

// forgetFiles drops what is known of files that nothing names.
func (l *Lists) forgetFiles(ctx context.Context) error {
	b := l.book.Load()
	named := map[string]bool{}
	for _, r := range b.byID {
		for _, path := range r.items {
			named[path] = true
		}
	}
	var ids []int64
	err := store.Each(ctx, l.opt.DB.Read(), func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, `SELECT id FROM lists_deed WHERE before_items IS NOT NULL OR after_items IS NOT NULL`)
	if err != nil {
		return fmt.Errorf("read deeds: %w", err)
	}
	for _, id := range ids { // one at a time: together they may be large
		d, err := readDeed(ctx, l.opt.DB.Read(), id)
		if err != nil {
			return err
		}
		for _, path := range append(d.before.items, d.after.items...) {
			named[path] = true
		}
	}
	next := &book{byID: b.byID, files: maps.Clone(b.files)}
	maps.DeleteFunc(next.files, func(path string, _ moves.Stat) bool { return !named[path] })
	if len(next.files) == len(b.files) {
		return nil
	}
	err = l.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		for path := range b.files {
			if named[path] {
				continue
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM lists_file WHERE path = ?`, []byte(path)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forget files of playlists: %w", err)
	}
	l.book.Store(next)
	return nil
}
