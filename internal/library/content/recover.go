package content

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Recover finishes or undoes interrupted moves by looking at the disk: every file is
// then whole at exactly one place, and the journal says which. Run and every refresh
// call it first.
func (c *Content) Recover(ctx context.Context) error {
	c.moving.Lock()
	defer c.moving.Unlock()
	open, err := c.entries(ctx, "state IN ('retiring', 'restoring', 'purging')")
	if err != nil {
		return err
	}
	for i := range open {
		err = errors.Join(err, c.judge(ctx, &open[i]))
	}
	if len(open) > 0 {
		c.log.Info("interrupted file moves settled", "files", len(open))
	}
	err = errors.Join(err, c.recoverPlaced(ctx))
	c.publish(ctx)
	return err
}

// judge sets the state of a row with an interrupted move by what is on disk.
//
//	retiring   archive  media
//	           –        same   kept       not moved yet
//	           yes      –      archived
//	           yes      same   kept       a copy between disks: the copy goes
//	           yes      other  archived   the name has been taken since
//	           –        other  dropped    not the file that was meant
//	           –        –      lost
//	restoring  yes      –      archived
//	           –        yes    restored
//	           yes      same   restored   a copy between disks: the archive's goes
//	           yes      other  archived   the place is taken
//	           –        –      lost
//	purging    the file goes
func (c *Content) judge(ctx context.Context, e *entry) error {
	ctx = context.WithoutCancel(ctx)
	media, ok1 := inside(c.opt.Media, e.path)
	arch, ok2 := inside(c.opt.Archive, e.keptAs)
	if !ok1 || !ok2 {
		return c.turn(ctx, e, dropped, "path leads out of its folder")
	}
	if e.state == purging {
		if err := c.disk.Remove(arch); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete an archived file: %w", err)
		}
		return c.turn(ctx, e, purged, "")
	}
	for _, part := range []string{partOf(arch, e.id), partOf(media, e.id)} {
		if err := c.disk.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDir) {
			return fmt.Errorf("remove an unfinished copy: %w", err)
		}
	}
	inMedia, err := c.look(media, e.stamp)
	if err != nil {
		return err
	}
	inArchive, err := c.look(arch, e.stamp)
	if err != nil {
		return err
	}
	surplus, state, detail := verdict(e.state, inMedia, inArchive)
	if surplus {
		if err := c.disk.Remove(arch); err != nil {
			return fmt.Errorf("remove the archive's copy: %w", err)
		}
	}
	return c.turn(ctx, e, state, detail)
}

type sight int

const (
	nothing sight = iota
	same
	other
)

// verdict is judge's table. surplus says that the archive's copy goes.
func verdict(state string, media, archive sight) (surplus bool, _, detail string) {
	switch {
	case archive == nothing && media == nothing:
		return false, lost, "the file is gone from the media folder"
	case state == retiring && archive == nothing && media == same:
		return false, kept, "interrupted before it was moved"
	case state == retiring && archive == nothing:
		return false, dropped, "changed meanwhile"
	case state == retiring && media == same:
		return true, kept, "interrupted while it was copied"
	case state == retiring:
		return false, archived, ""
	case archive == nothing:
		return false, restored, ""
	case archive == same && media == same:
		return true, restored, ""
	}
	return false, archived, "not restored"
}

func (c *Content) look(path string, s stamp) (sight, error) {
	info, err := c.disk.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotDir):
		return nothing, nil
	case err != nil:
		return nothing, err
	case info.Mode().IsRegular() && stampOf(info) == s:
		return same, nil
	}
	return other, nil
}

func absent(d disk, path string) (bool, error) {
	_, err := d.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}
