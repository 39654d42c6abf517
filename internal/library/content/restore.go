package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/athir-radio/athir/internal/station"
)

// RestoreRequest says what comes back from the archive.
type RestoreRequest struct {
	// All brings back everything there is room for by name. Else each category
	// is filled up to Options.Keep (imaging, to 15), and what was archived as
	// junk stays. What is outdated comes back only with All and its category.
	All bool `json:"all"`
	// Category restricts it to one; empty: every category.
	Category station.Category `json:"category,omitempty"`
}

// Restored is what came back.
type Restored struct {
	Restored map[station.Category]int `json:"restored"` // files by category
	Total    int                      `json:"total"`
	// Missing files are in the journal but not in the archive any more.
	Missing []string `json:"missing"`
	// InTheWay are paths taken by another file; the archived ones stay.
	InTheWay []string `json:"inTheWay"`
}

// Restore is the emergency restore: it moves archived files back to their paths, the
// newest first, and rescans the decks. It never replaces a file. station.ErrConflict says what else is running.
func (c *Content) Restore(ctx context.Context, req RestoreRequest, progress func(Progress)) (Restored, error) {
	end, err := c.begin("restore")
	if err != nil {
		return Restored{}, err
	}
	defer end()
	if req.Category != "" && !req.Category.Valid() {
		return Restored{}, fmt.Errorf("category %q: %w: no such category", req.Category, station.ErrInvalid)
	}
	c.log.Info("restore started", "all", req.All, "category", req.Category)
	return c.restore(ctx, req, c.watch(progress))
}

func (c *Content) restore(ctx context.Context, req RestoreRequest, show func(Progress)) (Restored, error) {
	if err := c.Recover(ctx); err != nil {
		return Restored{}, err
	}
	c.moving.Lock()
	defer c.moving.Unlock()
	out := Restored{Restored: map[station.Category]int{}, Missing: []string{}, InTheWay: []string{}}
	list, err := c.restorable(ctx, req)
	if err != nil {
		return out, err
	}
	room := c.room()
	for i := range list {
		e := &list[i]
		show(Progress{Step: StepRestore, Done: i, Total: len(list), Detail: e.path})
		if ctx.Err() != nil {
			break
		}
		if !req.All && room[e.category] <= spare(e, c.opt.keep(e.category)) {
			continue
		}
		if e := c.moveBack(ctx, e, &out); e != nil {
			err = errors.Join(err, e)
		}
		if e.state == restored || e.state == dropped {
			room[e.category]--
			out.Restored[e.category]++
			out.Total++
		}
	}
	show(Progress{Step: StepRestore, Done: len(list), Total: len(list)})
	c.publish(ctx)
	if out.Total > 0 {
		err = errors.Join(err, c.catchUp(ctx))
	}
	slices.Sort(out.Missing)
	slices.Sort(out.InTheWay)
	c.log.Info("restore ended", "files", out.Total, "missing", len(out.Missing), "in_the_way", len(out.InTheWay))
	return out, cmp.Or(err, context.Cause(ctx))
}

// restorable lists what may be restored, in order.
func (c *Content) restorable(ctx context.Context, req RestoreRequest) ([]entry, error) {
	list, err := c.entries(ctx, "state IN ('archived', 'kept') ORDER BY state = 'archived', done_ms DESC, id DESC")
	return slices.DeleteFunc(list, func(e entry) bool {
		switch {
		case req.Category != "" && e.category != req.Category:
			return true
		case e.reason == ReasonOutdated: // on air it would tell a wrong time
			return !req.All || req.Category == ""
		}
		return !req.All && junk(e.reason)
	}), err
}

// spare is the room that is not for a file: replaced imaging comes back only
// where there is not the least of it.
func spare(e *entry, keep int) int {
	if e.reason == ReasonReplaced {
		return keep - least
	}
	return 0
}

// room returns how many files each category is below its cap.
func (c *Content) room() map[station.Category]int {
	room := map[station.Category]int{}
	for _, category := range station.Categories() {
		room[category] = c.opt.keep(category)
	}
	hidden := c.Hidden()
	for _, t := range c.opt.Registry.Tracks() {
		if !hidden[t.Path] {
			room[t.Category]--
		}
	}
	return room
}

// moveBack restores one file. One that was only marked stays where it is.
func (c *Content) moveBack(ctx context.Context, e *entry, out *Restored) error {
	to, ok1 := inside(c.opt.Media, e.path)
	from, ok2 := inside(c.opt.Archive, e.keptAs)
	if !ok1 || !ok2 {
		return nil
	}
	if e.state == kept {
		return c.turn(ctx, e, dropped, "wanted back before it was moved")
	}
	if gone, err := absent(c.disk, from); err != nil {
		return err
	} else if gone {
		out.Missing = append(out.Missing, e.path)
		return c.turn(ctx, e, lost, "not in the archive any more")
	}
	if _, err := c.disk.Lstat(c.opt.Media); err != nil { // its disk is unmounted: a folder made in its place would hide it
		return fmt.Errorf("restore %s: %w", e.path, err)
	}
	if free, err := absent(c.disk, to); err == nil && !free {
		out.InTheWay = append(out.InTheWay, e.path)
		return nil
	}
	if err := c.turn(ctx, e, restoring, ""); err != nil {
		return err
	}
	err := move(ctx, c.disk, from, to, e.id)
	if err == nil {
		return c.turn(ctx, e, restored, "")
	}
	if errors.Is(err, fs.ErrExist) {
		out.InTheWay = append(out.InTheWay, e.path)
		err = nil
	} else {
		err = fmt.Errorf("restore %s: %w", e.path, err)
	}
	return errors.Join(err, c.judge(ctx, e))
}
