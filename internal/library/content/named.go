package content

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/library/find"
	"github.com/athir-radio/athir/internal/station"
)

// RestoreFiles brings named files back from the archive, whatever they were archived for, and
// those that are only to be archived stay. It never replaces a file, and waits for no refresh.
func (c *Content) RestoreFiles(ctx context.Context, paths []string) (Restored, error) {
	return c.restoreFiles(ctx, paths, func(string) bool { return true })
}

// RestoreFilesOf is RestoreFiles of what was archived for a reason alone: of two files that
// had one path, the last of those.
func (c *Content) RestoreFilesOf(ctx context.Context, paths []string, reason string) (Restored, error) {
	return c.restoreFiles(ctx, paths, func(r string) bool { return r == reason })
}

func (c *Content) restoreFiles(ctx context.Context, paths []string, of func(reason string) bool) (Restored, error) {
	c.moving.Lock()
	defer c.moving.Unlock()
	out := Restored{Restored: map[station.Category]int{}, Missing: []string{}, InTheWay: []string{}}
	list, err := c.entries(ctx, "state IN ('archived', 'kept') ORDER BY id DESC")
	if err != nil {
		return out, err
	}
	var back []string
	left := map[string]bool{}
	for _, p := range paths {
		left[p] = true
	}
	for i := range list {
		e := &list[i]
		if !left[e.path] || !of(e.reason) || ctx.Err() != nil {
			continue
		}
		delete(left, e.path) // the newest of that path
		if e := c.moveBack(ctx, e, &out); e != nil {
			err = errors.Join(err, e)
		}
		if e.state == restored || e.state == dropped {
			out.Restored[e.category]++
			out.Total++
			back = append(back, e.path)
		}
	}
	for p := range left {
		out.Missing = append(out.Missing, p)
	}
	c.publish(ctx)
	if out.Total > 0 {
		err = errors.Join(err, c.catchUp(ctx, back...))
	}
	slices.Sort(out.Missing)
	slices.Sort(out.InTheWay)
	return out, cmp.Or(err, context.Cause(ctx))
}

// Archived is a file of the archive.
type Archived struct {
	Path     string
	Category station.Category
	Reason   string
	At       time.Time
	Size     int64 // bytes
}

// Archived returns the files of the archive whose path a text finds, the newest first, from an
// offset on, and how many there are.
func (c *Content) Archived(ctx context.Context, text string, offset, limit int) (out []Archived, total int, err error) {
	list, err := c.entries(ctx, "state = 'archived' ORDER BY done_ms DESC, id DESC")
	if err != nil {
		return nil, 0, err
	}
	places := make([]int, len(list))
	for i := range list {
		places[i] = i
	}
	if text != "" {
		names := make([]find.Track, len(list))
		for i := range list {
			names[i].Title = list[i].path
		}
		places, _ = find.New(names).Search(text, 0, len(list), nil)
	}
	from := min(max(offset, 0), len(places))
	for _, i := range places[from:min(from+max(limit, 0), len(places))] {
		e := &list[i]
		out = append(out, Archived{e.path, e.category, e.reason, e.done, e.stamp.size})
	}
	return out, len(places), nil
}
