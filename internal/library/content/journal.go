package content

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// The states of a row of the journal:
//
//	retiring ─► kept ─► retiring …      it is on air or about to be: a later run
//	   │
//	   └─────► archived ─► restoring ─► restored
//	              └──────► purging ───► purged
//	dropped: it stays: another file has its name, or it should stay after all
//	lost:    somebody else removed it
const (
	retiring  = "retiring"
	kept      = "kept"
	archived  = "archived"
	restoring = "restoring"
	restored  = "restored"
	purging   = "purging"
	purged    = "purged"
	dropped   = "dropped"
	lost      = "lost"
)

// entry is a row of the journal.
type entry struct {
	id       int64
	path     string
	keptAs   string
	category station.Category
	reason   string
	state    string
	run      int64
	stamp    stamp
	done     time.Time
}

const entryColumns = "id, path, kept_as, category, reason, state, run, size, mtime_ns, done_ms"

// entries lists rows by a condition on their columns.
func (c *Content) entries(ctx context.Context, where string, args ...any) (_ []entry, err error) {
	rows, err := c.db.Read().QueryContext(ctx, "SELECT "+entryColumns+" FROM content_archive WHERE "+where, args...) //nolint:gosec // where is a constant of this package
	if err != nil {
		return nil, fmt.Errorf("read the archive's journal: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err says it
	var out []entry
	for rows.Next() {
		var e entry
		var path, keptAs []byte
		var category string
		var done int64
		if err := rows.Scan(&e.id, &path, &keptAs, &category, &e.reason, &e.state, &e.run, &e.stamp.size, &e.stamp.mtime, &done); err != nil {
			return nil, fmt.Errorf("read the archive's journal: %w", err)
		}
		e.path, e.keptAs, e.category, e.done = string(path), string(keptAs), station.Category(category), time.UnixMilli(done)
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the archive's journal: %w", err)
	}
	return out, nil
}

// write commits even if the caller's context ends: every change on disk must be in the
// journal.
func (c *Content) write(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	return c.db.Write(ctx, func(tx *sql.Tx) error { return fn(ctx, tx) })
}

// add writes a new row, or reopens the kept one of the same path.
func (c *Content) addEntries(ctx context.Context, all []entry) error {
	now := c.now().UnixMilli()
	return c.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for i := range all {
			e := &all[i]
			if e.id != 0 {
				if _, err := tx.ExecContext(ctx, "UPDATE content_archive SET state = ?, reason = ?, run = ?, kept_as = ?, size = ?, mtime_ns = ?, done_ms = ? WHERE id = ?",
					e.state, e.reason, e.run, []byte(e.keptAs), e.stamp.size, e.stamp.mtime, now, e.id); err != nil {
					return fmt.Errorf("write the archive's journal: %w", err)
				}
				continue
			}
			res, err := tx.ExecContext(ctx, "INSERT INTO content_archive (path, kept_as, category, reason, state, detail, run, size, mtime_ns, at_ms, done_ms) VALUES (?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?)",
				[]byte(e.path), []byte(e.keptAs), string(e.category), e.reason, e.state, e.run, e.stamp.size, e.stamp.mtime, now, now)
			if err != nil {
				return fmt.Errorf("write the archive's journal: %w", err)
			}
			if e.id, err = res.LastInsertId(); err != nil {
				return err
			}
		}
		return nil
	})
}

// turn sets a row's next state, and updates the item of the same path.
func (c *Content) turn(ctx context.Context, e *entry, state, detail string) error {
	now := c.now()
	err := c.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE content_archive SET state = ?, detail = ?, done_ms = ? WHERE id = ?", state, detail, now.UnixMilli(), e.id); err != nil {
			return fmt.Errorf("write the archive's journal: %w", err)
		}
		from, to := "", ""
		switch state {
		case archived:
			from, to = itemPlaced, itemArchived
		case restored:
			from, to = itemArchived, itemPlaced
		default:
			return nil
		}
		_, err := tx.ExecContext(ctx, "UPDATE content_item SET state = ?, changed_ms = ? WHERE path = ? AND state = ?", to, now.UnixMilli(), []byte(e.path), from)
		return err
	})
	if err == nil {
		e.state, e.done = state, now
		if state == archived {
			c.fresh[e.path], c.gone[e.path] = true, true
		}
	}
	return err
}

// placeInArchive chooses where a file goes in the archive: under its own path,
// with a number where an earlier one lies there. taken are choices of the same batch.
func (c *Content) placeInArchive(ctx context.Context, rel string, taken map[string]bool) (string, error) {
	dir, name := "", rel
	if at := strings.LastIndexByte(rel, '/'); at >= 0 {
		dir, name = rel[:at+1], rel[at+1:]
	}
	stem, ext := name, ""
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		stem, ext = name[:at], name[at:]
	}
	for n := 1; ; n++ {
		mark := ""
		if n > 1 {
			mark = " (" + strconv.Itoa(n) + ")"
		}
		const most = 255
		if len(ext)+len(mark) > most/2 {
			ext = ""
		}
		try := dir + stem[:min(len(stem), most-len(mark)-len(ext))] + mark + ext
		if taken[try] {
			continue
		}
		full, ok := inside(c.opt.Archive, try)
		if !ok {
			return "", fmt.Errorf("%q leads out of the archive", rel)
		}
		free, err := absent(c.disk, full)
		if err != nil {
			return "", err
		}
		if !free {
			continue
		}
		var used int
		if err := c.db.Read().QueryRowContext(ctx, "SELECT count(*) FROM content_archive WHERE kept_as = ? AND state IN ('retiring', 'archived', 'restoring', 'purging')", []byte(try)).Scan(&used); err != nil {
			return "", fmt.Errorf("read the archive's journal: %w", err)
		}
		if used == 0 {
			taken[try] = true
			return try, nil
		}
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
