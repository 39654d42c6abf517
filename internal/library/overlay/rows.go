package overlay

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

// readNotes reads all notes.
func readNotes(ctx context.Context, db store.Querier) (map[string]kept, error) {
	all := map[string]kept{}
	err := store.Each(ctx, db, func(rows *sql.Rows) error {
		var path, text []byte
		var k kept
		if err := rows.Scan(&path, &text, &k.Size, &k.ModTime); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &k.Note); err != nil {
			return fmt.Errorf("what is said of %q: %w", path, err)
		}
		all[string(path)] = k
		return nil
	}, `SELECT path, note, size, mtime_ns FROM overlay_note`)
	return all, err
}

func insertDeed(ctx context.Context, tx *sql.Tx, d Deed) (int64, error) {
	fields, err := json.Marshal(d.Fields)
	if err != nil {
		return 0, err
	}
	out, err := tx.ExecContext(ctx, `INSERT INTO overlay_deed (at, who, kind, fields, undoes, undone) VALUES (?, ?, ?, ?, ?, 0)`, d.At, d.Who, string(d.Kind), string(fields), d.Undoes)
	if err != nil {
		return 0, err
	}
	id, err := out.LastInsertId()
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE overlay_deed SET undone = ? WHERE id = ?`, id, d.Undoes)
	return id, err
}

// writeChange writes the note of a track, and what it was.
func writeChange(ctx context.Context, tx *sql.Tx, deed int64, path string, before Note, after kept) error {
	was, err := textOf(before)
	if err != nil {
		return err
	}
	is, err := textOf(after.Note)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO overlay_change (deed, path, before, after) VALUES (?, ?, ?, ?)`, deed, []byte(path), was, is); err != nil {
		return err
	}
	if is == "" {
		_, err = tx.ExecContext(ctx, `DELETE FROM overlay_note WHERE path = ?`, []byte(path))
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO overlay_note (path, note, size, mtime_ns) VALUES (?, ?, ?, ?)`, []byte(path), is, after.Size, after.ModTime)
	return err
}

// textOf is a note as its row has it; empty where nothing is said.
func textOf(n Note) (string, error) {
	if n.empty() {
		return "", nil
	}
	text, err := json.Marshal(n)
	return string(text), err
}

func noteOf(text []byte) (n Note, err error) {
	if len(text) == 0 {
		return n, nil
	}
	err = json.Unmarshal(text, &n)
	return n, err
}

// change is what a deed did to one track.
type change struct{ before, after Note }

// readDeed reads a deed and all that it changed.
func readDeed(ctx context.Context, db *sql.DB, id int64) (d Deed, changes map[string]change, err error) {
	row := db.QueryRowContext(ctx, `SELECT id, undone, fields FROM overlay_deed WHERE id = ?`, id)
	var fields []byte
	switch err := row.Scan(&d.ID, &d.Undone, &fields); {
	case errors.Is(err, sql.ErrNoRows):
		return d, nil, fmt.Errorf("deed %d: %w", id, station.ErrNotFound)
	case err != nil:
		return d, nil, fmt.Errorf("read deed %d: %w", id, err)
	}
	if err := json.Unmarshal(fields, &d.Fields); err != nil {
		return d, nil, fmt.Errorf("read deed %d: %w", id, err)
	}
	changes = map[string]change{}
	err = store.Each(ctx, db, func(rows *sql.Rows) error {
		var path, before, after []byte
		if err := rows.Scan(&path, &before, &after); err != nil {
			return err
		}
		was, err := noteOf(before)
		if err != nil {
			return err
		}
		is, err := noteOf(after)
		changes[string(path)] = change{was, is}
		return err
	}, `SELECT path, before, after FROM overlay_change WHERE deed = ?`, id)
	return d, changes, err
}

// Deeds are deeds before a number (0: from the newest on), the newest first: all, or those
// that changed one track.
func (o *Overlay) Deeds(ctx context.Context, path string, before int64, most int) ([]Deed, error) {
	if before <= 0 {
		before = 1<<63 - 1
	}
	out := []Deed{}
	err := store.Each(ctx, o.opt.DB.Read(), func(rows *sql.Rows) error {
		var d Deed
		var fields, at, was, is []byte
		if err := rows.Scan(&d.ID, &d.At, &d.Who, &d.Kind, &fields, &d.Undoes, &d.Undone, &d.Tracks, &at, &was, &is); err != nil {
			return err
		}
		d.Path = string(at)
		earlier, err := noteOf(was)
		later, err2 := noteOf(is)
		d.Before, d.After = noteOrNil(earlier), noteOrNil(later)
		err = errors.Join(err, err2, json.Unmarshal(fields, &d.Fields))
		out = append(out, d)
		return err
	}, `SELECT d.id, d.at, d.who, d.kind, d.fields, d.undoes, d.undone,
			(SELECT count(*) FROM overlay_change WHERE deed = d.id), c.path, c.before, c.after
		FROM overlay_deed d JOIN overlay_change c ON c.deed = d.id
			AND c.path = CASE WHEN ?1 = x'' THEN (SELECT min(path) FROM overlay_change WHERE deed = d.id) ELSE ?1 END
		WHERE d.id < ?2 ORDER BY d.id DESC LIMIT ?3`, []byte(path), before, max(most, 1))
	if err != nil {
		return nil, fmt.Errorf("read deeds: %w", err)
	}
	return out, nil
}
