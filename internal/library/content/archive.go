package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/athir-radio/athir/internal/station"
)

// Moved is the outcome of archiving files.
type Moved struct {
	Archived []string // paths that are in the archive now
	// Kept are on air or about to be: no longer planned, archived later.
	Kept []string
	// Left maps the paths that stay in their deck to the reason: no file, a link,
	// changed meanwhile.
	Left map[string]string
}

// Archive takes files out of their decks into the archive, in an order that
// never leaves a planned path without its file:
//
//  1. what is protected now (see OnAir) is only marked as kept;
//  2. the rest is journalled and added to Hidden;
//  3. if the rotation holds one of them, it is rebuilt;
//  4. files that the rotation still holds, or that are protected by now, are kept;
//  5. the others are renamed, one by one, and the registry scans again.
//
// Step 4 alone would be safe; step 1 lets a track among the next 40 air as
// announced. A kept path is no longer planned, so a later run can archive it. An
// error, or the end of ctx, leaves every file either archived, or kept in place. Run
// archives what was kept once it may leave.
// Batches of several callers run one after another.
func (c *Content) Archive(ctx context.Context, paths []string, reason string) (Moved, error) {
	return c.archive(ctx, paths, reason, 0)
}

func (c *Content) archive(ctx context.Context, paths []string, reason string, run int64) (Moved, error) {
	c.moving.Lock()
	defer c.moving.Unlock()
	return c.takeOut(ctx, paths, reason, run)
}

// takeOut is archive for one who has c.moving.
func (c *Content) takeOut(ctx context.Context, paths []string, reason string, run int64) (Moved, error) {
	m := Moved{Left: map[string]string{}}
	if len(paths) == 0 {
		return m, nil
	}
	real := newResolver(c.opt.Media)
	twins := c.twins(real, paths)
	before, err := c.protected(ctx, real)
	if err != nil {
		return m, err
	}
	batch, err := c.enter(ctx, paths, reason, run, real, before, &m)
	if err != nil {
		return m, err
	}
	defer func() { m.sort() }()
	defer c.publish(ctx)
	c.hide(batch, twins)
	held, err := c.release(ctx, batch, twins)
	if err != nil {
		return m, errors.Join(err, c.keep(ctx, batch, &m, "the rotation could not be rebuilt"))
	}
	after, err := c.protected(ctx, real)
	if err != nil {
		return m, errors.Join(err, c.keep(ctx, batch, &m, "what is on air is not known"))
	}
	for i := range batch {
		e := &batch[i]
		switch {
		case e.state != retiring:
		case ctx.Err() != nil:
			err = errors.Join(err, c.keepOne(ctx, e, &m, "cancelled"))
		case after[real.path(e.path)] || slices.ContainsFunc(twins.paths(e.path), func(p string) bool { return held[p] }):
			err = errors.Join(err, c.keepOne(ctx, e, &m, "on air or about to be"))
		default:
			err = errors.Join(err, c.moveOut(ctx, e, &m))
		}
	}
	if len(m.Archived) > 0 {
		c.log.Info("files archived", "files", len(m.Archived), "kept", len(m.Kept), "reason", reason)
		var out []string
		for _, p := range m.Archived {
			out = append(out, twins.paths(p)...)
		}
		err = errors.Join(err, c.catchUp(ctx, out...))
	}
	return m, cmp.Or(err, context.Cause(ctx))
}

// enter journals a batch: protected files as kept, the rest as retiring. Paths that
// are not files of the media folder are left.
func (c *Content) enter(ctx context.Context, paths []string, reason string, run int64, real *resolver, protected map[string]bool, m *Moved) ([]entry, error) {
	open, err := c.entries(ctx, "state IN ('kept', 'retiring')")
	if err != nil {
		return nil, err
	}
	known := map[string]entry{}
	for _, e := range open {
		known[e.path] = e
	}
	var batch []entry
	category := c.categories(paths)
	seen, taken := map[string]bool{}, map[string]bool{}
	for _, p := range paths {
		if seen[p] {
			continue
		}
		seen[p] = true
		full, ok := inside(c.opt.Media, p)
		if !ok {
			m.Left[p] = "path is outside the media folder"
			continue
		}
		info, err := c.disk.Lstat(full)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			m.Left[p] = "no such file"
			if e, ok := known[p]; ok {
				if err := c.turn(ctx, &e, lost, "the file is gone from the media folder"); err != nil {
					return nil, err
				}
			}
			continue
		case err != nil:
			return nil, fmt.Errorf("archive %s: %w", p, err)
		case !info.Mode().IsRegular() || !real.within(p):
			m.Left[p] = "a link or not a file"
			continue
		}
		e := known[p]
		e.path, e.reason, e.run, e.stamp, e.state = p, cmp.Or(reason, e.reason), run, stampOf(info), retiring
		if e.category == "" {
			e.category = category[p]
		}
		if e.keptAs, err = c.placeInArchive(ctx, p, taken); err != nil {
			m.Left[p] = err.Error()
			continue
		}
		if protected[real.path(p)] {
			e.state = kept
			m.Kept = append(m.Kept, p)
		}
		batch = append(batch, e)
	}
	return batch, c.addEntries(ctx, batch)
}

// release rebuilds the rotation so that it holds none of the batch, and returns the
// paths that it still holds.
func (c *Content) release(ctx context.Context, batch []entry, twins twins) (map[string]bool, error) {
	var want []string
	for _, e := range batch {
		if e.state == retiring {
			want = append(want, twins.paths(e.path)...)
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	for try := 0; ; try++ {
		held, err := c.opt.OnAir.Holding(ctx, want)
		if err != nil {
			return nil, fmt.Errorf("look up what the rotation holds: %w", err)
		}
		if len(held) == 0 || try == 2 {
			set := map[string]bool{}
			for _, p := range held {
				set[p] = true
			}
			return set, nil
		}
		if err := c.opt.OnAir.Rebuild(ctx); err != nil {
			return nil, fmt.Errorf("rebuild the rotation: %w", err)
		}
	}
}

// moveOut renames one file. The outcome is read from the disk, so that the journal is
// right even after a failure halfway.
func (c *Content) moveOut(ctx context.Context, e *entry, m *Moved) error {
	from, _ := inside(c.opt.Media, e.path)
	to, _ := inside(c.opt.Archive, e.keptAs)
	info, err := c.disk.Lstat(from)
	if err == nil && (!info.Mode().IsRegular() || stampOf(info) != e.stamp) {
		m.Left[e.path] = "changed meanwhile"
		return c.turn(ctx, e, dropped, "changed meanwhile")
	}
	if err == nil {
		err = move(ctx, c.disk, from, to, e.id)
	}
	if err == nil {
		err = c.turn(ctx, e, archived, "")
	} else {
		err = errors.Join(fmt.Errorf("archive %s: %w", e.path, err), c.judge(ctx, e))
	}
	switch e.state {
	case archived:
		m.Archived = append(m.Archived, e.path)
	case kept:
		m.Kept = append(m.Kept, e.path)
	case dropped, lost:
		m.Left[e.path] = e.state
	}
	return err
}

func (c *Content) keep(ctx context.Context, batch []entry, m *Moved, why string) (err error) {
	for i := range batch {
		if batch[i].state == retiring {
			err = errors.Join(err, c.keepOne(ctx, &batch[i], m, why))
		}
	}
	return err
}

func (c *Content) keepOne(ctx context.Context, e *entry, m *Moved, why string) error {
	m.Kept = append(m.Kept, e.path)
	return c.turn(ctx, e, kept, why)
}

// protected returns the files that must stay, with links resolved.
func (c *Content) protected(ctx context.Context, real *resolver) (map[string]bool, error) {
	paths, err := c.opt.OnAir.Protected(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up what is on air: %w", err)
	}
	set := make(map[string]bool, len(paths))
	for _, p := range paths {
		set[real.path(p)] = true
	}
	return set, nil
}

// categories returns each path's category by the registry, else by its folder.
func (c *Content) categories(paths []string) map[string]station.Category {
	out := make(map[string]station.Category, len(paths))
	for _, p := range paths {
		out[p] = folderCategory(p)
	}
	for _, t := range c.opt.Registry.Tracks() {
		if _, ok := out[t.Path]; ok {
			out[t.Path] = t.Category
		}
	}
	return out
}

func folderCategory(p string) station.Category {
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if category := station.Category(path.Base(dir)); category.Valid() {
			return category
		}
	}
	return ""
}

func (m *Moved) sort() {
	slices.Sort(m.Archived)
	slices.Sort(m.Kept)
}
