package content

import (
	"context"
	"fmt"
	"maps"
	"os"
	"time"
)

// Hidden returns the paths that no deck may show, whatever the registry says: files
// that are being or have been archived. The set is shared and never changed;
// Options.Changed gets each new one. Hidden never waits.
func (c *Content) Hidden() map[string]bool { return *c.hidden.Load() }

// hide adds a batch, and other paths of the same files, before anything is moved.
func (c *Content) hide(batch []entry, twins twins) {
	next := maps.Clone(c.Hidden())
	for _, e := range batch {
		for _, p := range twins.paths(e.path) {
			next[p] = true
			if p != e.path {
				c.alias[p] = e.path
			}
		}
	}
	c.setHidden(next)
}

// publish sets Hidden to the open entries of the journal and the archived paths that
// the registry may still list.
func (c *Content) publish(ctx context.Context) {
	open, err := c.entries(context.WithoutCancel(ctx), "state IN ('retiring', 'kept')")
	if err != nil {
		c.log.Error("cannot read the archive's journal: hidden files stay hidden", "err", err)
		return
	}
	next := map[string]bool{}
	for p := range c.gone { // unless it is there again
		if full, ok := inside(c.opt.Media, p); ok && !exists(full) {
			next[p] = true
		}
	}
	for _, e := range open {
		next[e.path] = true
	}
	for p, file := range c.alias {
		if next[file] {
			next[p] = true
		} else {
			delete(c.alias, p)
		}
	}
	c.setHidden(next)
}

func (c *Content) setHidden(next map[string]bool) {
	if maps.Equal(next, c.Hidden()) {
		return
	}
	c.hidden.Store(&next)
	if c.opt.Changed != nil {
		c.opt.Changed(next)
	}
}

// mostLooked is how many paths are looked at one by one: a walk over everything is quicker for
// more.
const mostLooked = 200

// rescan makes the registry scan the media folder, or look at those paths that changed. Files
// archived just now stay hidden until the next rescan, because followers of the registry may
// lag.
func (c *Content) rescan(ctx context.Context, paths ...string) error {
	all, err := c.entries(ctx, "state = 'archived'")
	if err != nil {
		return err
	}
	for _, e := range all {
		c.gone[e.path] = true
	}
	c.publish(ctx)
	if len(paths) > mostLooked {
		paths = nil
	}
	if err := c.opt.Registry.Scan(ctx, paths...); err != nil {
		return fmt.Errorf("register the media folder: %w", err)
	}
	still := c.fresh
	for _, t := range c.opt.Registry.Tracks() {
		if c.gone[t.Path] {
			still[t.Path] = true
		}
	}
	c.gone, c.fresh = still, map[string]bool{}
	c.publish(ctx)
	return nil
}

// lastLook is how long a rescan may go on when its caller has ended. A stopping
// station cannot wait for followers of the registry: they stop as well.
const lastLook = 2 * time.Second

// catchUp is rescan after a move: it finishes even if the caller has ended, within
// lastLook. Without it, archived files stay hidden until the next rescan.
func (c *Content) catchUp(ctx context.Context, paths ...string) error {
	look, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastLook, cancel) })
	defer stop()
	return c.rescan(look, paths...)
}

func exists(full string) bool {
	_, err := os.Lstat(full)
	return err == nil
}
