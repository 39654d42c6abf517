package content

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

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
