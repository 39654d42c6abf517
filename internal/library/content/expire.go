package content

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

const (
	// tidyEvery is how often the archive is tidied without a refresh: bulletins
	// go there every hour.
	tidyEvery = 24 * time.Hour
	// runsKept is how many runs are remembered; entriesKept is for how long the
	// entries of files that have left the archive are.
	runsKept    = 500
	entriesKept = 90 * 24 * time.Hour
)

// tidy bounds the archive and the journal.
func (c *Content) tidy(ctx context.Context) {
	_, err := c.expire(ctx)
	if err = errors.Join(err, c.prune(ctx)); err != nil && ctx.Err() == nil {
		c.log.Error("cannot tidy the archive", "err", err)
	}
}

// prune deletes old runs and old finished entries.
func (c *Content) prune(ctx context.Context) error {
	return c.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM content_run WHERE ended_ms > 0 AND id <= (SELECT max(id) FROM content_run) - ?", runsKept)
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM content_archive WHERE state IN ('purged', 'lost', 'dropped', 'restored') AND done_ms < ?",
				c.now().Add(-entriesKept).UnixMilli())
		}
		return err
	})
}

// expire deletes archived files that are too old, and the oldest of those that
// take too much room. Only what the journal knows is ever deleted.
func (c *Content) expire(ctx context.Context) (int, error) {
	c.moving.Lock()
	defer c.moving.Unlock()
	all, err := c.entries(ctx, "state = 'archived' ORDER BY done_ms, id")
	if err != nil {
		return 0, err
	}
	var bytes int64
	for _, e := range all {
		bytes += e.stamp.size
	}
	deleted := 0
	for i := range all {
		e := &all[i]
		old := c.opt.ArchiveKeep > 0 && c.now().Sub(e.done) > c.opt.ArchiveKeep
		much := c.opt.ArchiveMaxBytes > 0 && bytes > c.opt.ArchiveMaxBytes
		if !old && !much || ctx.Err() != nil {
			break
		}
		bytes -= e.stamp.size
		full, ok := inside(c.opt.Archive, e.keptAs)
		if !ok {
			continue
		}
		if err := c.turn(ctx, e, purging, ""); err != nil {
			return deleted, err
		}
		if err := c.disk.Remove(full); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return deleted, fmt.Errorf("delete an archived file: %w", err)
		}
		if err := c.turn(ctx, e, purged, ""); err != nil {
			return deleted, err
		}
		deleted++
	}
	if deleted > 0 {
		c.log.Info("archived files deleted", "files", deleted)
	}
	return deleted, nil
}
