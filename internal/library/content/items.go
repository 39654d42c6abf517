package content

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// The states of an item: failed (another time), refused, placing ─► placed ⇄ archived.
const (
	itemFailed   = "failed"
	itemRefused  = "refused"
	itemPlacing  = "placing"
	itemPlaced   = "placed"
	itemArchived = "archived"
)

// item is the pipeline's record of a candidate.
type item struct {
	id       int64
	from     source.Candidate
	category station.Category
	kind     string
	state    string
	refusal  Refusal
	tries    int // fetches that failed
	late     int // examinations that the machine did not finish
	settled  bool
	sha256   string
	size     int64
	length   time.Duration
	mastered mastering.Outcome
	path     string
	run      int64
	retry    time.Time // zero: never again
}

// newest returns the last row of a candidate; nil when it is new.
func (c *Content) newest(ctx context.Context, name, id string) (*item, error) {
	var it item
	var path []byte
	var length, retry int64
	err := c.db.Read().QueryRowContext(ctx, `SELECT id, state, reason, english, arabic, tries, late, settled, sha256, size, duration_ms, path, retry_ms
		FROM content_item WHERE source = ? AND source_id = ? ORDER BY id DESC LIMIT 1`, name, []byte(id)).
		Scan(&it.id, &it.state, &it.refusal.Code, &it.refusal.English, &it.refusal.Arabic, &it.tries, &it.late, &it.settled, &it.sha256, &it.size, &length, &path, &retry)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up a candidate: %w", err)
	}
	it.length, it.path = time.Duration(length)*time.Millisecond, string(path)
	if retry != 0 {
		it.retry = time.UnixMilli(retry)
	}
	return &it, nil
}

// known reports whether a candidate need not be offered. Files in the inbox are
// always offered: settled ones leave it, so the rest are new or unsettled.
func (c *Content) known(ctx context.Context, name, id string) bool {
	it, err := c.newest(ctx, name, id)
	if err != nil {
		return true // the run fails with the same error
	}
	if it == nil {
		return false
	}
	later := it.retry.IsZero() || it.retry.After(c.now())
	if name == source.NameInbox {
		return it.state == itemFailed && later
	}
	return it.state != itemFailed && it.state != itemRefused || later
}

// save writes an item: over its row, or as a new one in the place of failures.
func (c *Content) save(ctx context.Context, it *item) error {
	now := c.now().UnixMilli()
	var retry int64
	if !it.retry.IsZero() {
		retry = it.retry.UnixMilli()
	}
	f := it.from
	err := c.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if it.id == 0 {
			if _, err := tx.ExecContext(ctx, "DELETE FROM content_item WHERE source = ? AND source_id = ? AND state IN ('failed', 'refused')", f.Source, []byte(f.ID)); err != nil {
				return err
			}
			res, err := tx.ExecContext(ctx, `INSERT INTO content_item (source, source_id, url, page, title, artist, album, genre, license, licensor, category, kind, state,
				reason, english, arabic, tries, settled, sha256, size, duration_ms, lufs, dbtp, gain_db, method, path, run, made_ms, changed_ms, retry_ms, late)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				f.Source, []byte(f.ID), f.URL, f.Page, f.Title, f.Artist, f.Album, f.Genre, f.License, f.Licensor, string(it.category), it.kind, it.state,
				it.refusal.Code, it.refusal.English, it.refusal.Arabic, it.tries, it.settled, it.sha256, it.size, it.length.Milliseconds(),
				it.mastered.Integrated, it.mastered.TruePeak, it.mastered.Gain, string(it.mastered.Method), []byte(it.path), it.run, now, now, retry, it.late)
			if err != nil {
				return err
			}
			it.id, err = res.LastInsertId()
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE content_item SET state = ?, settled = ?, path = ?, changed_ms = ? WHERE id = ?", it.state, it.settled, []byte(it.path), now, it.id)
		return err
	})
	if err != nil {
		return fmt.Errorf("save a candidate: %w", err)
	}
	return nil
}

// recoverPlaced settles interrupted placements: either the whole file is in the media
// folder, or none is and the candidate waits again.
func (c *Content) recoverPlaced(ctx context.Context) error {
	rows, err := c.db.Read().QueryContext(ctx, "SELECT id, path, size FROM content_item WHERE state = 'placing'")
	if err != nil {
		return fmt.Errorf("read interrupted placements: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err says it
	var open []item
	for rows.Next() {
		var it item
		var path []byte
		if err := rows.Scan(&it.id, &path, &it.size); err != nil {
			return err
		}
		it.path = string(path)
		open = append(open, it)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, it := range open {
		full, ok := inside(c.opt.Media, it.path)
		if !ok {
			continue
		}
		_ = c.disk.Remove(partOf(full, -it.id)) // there seldom is one
		query := "DELETE FROM content_item WHERE id = ?"
		if info, err := c.disk.Lstat(full); err == nil && info.Mode().IsRegular() && info.Size() == it.size {
			query = "UPDATE content_item SET state = 'placed' WHERE id = ?"
		}
		if err := c.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, query, it.id)
			return err
		}); err != nil {
			return fmt.Errorf("settle interrupted placements: %w", err)
		}
	}
	return nil
}

// freePath chooses a file's path: one that is free, not reserved, and not that of an
// archived file that may be restored.
func (c *Content) freePath(ctx context.Context, category station.Category, name string) (string, error) {
	for n := 1; ; n++ {
		rel := placeFor(category, name, n)
		full, _ := inside(c.opt.Media, rel)
		free, err := absent(c.disk, full)
		if err != nil {
			return "", err
		}
		if !free {
			continue
		}
		var taken int
		err = c.db.Read().QueryRowContext(ctx, `SELECT (SELECT count(*) FROM content_item WHERE path = ?1 AND state IN ('placing', 'archived')) +
			(SELECT count(*) FROM content_archive WHERE path = ?1 AND state IN ('retiring', 'kept', 'archived', 'restoring'))`, []byte(rel)).Scan(&taken)
		if err != nil {
			return "", fmt.Errorf("choose a file name: %w", err)
		}
		if taken == 0 {
			return rel, nil
		}
	}
}
