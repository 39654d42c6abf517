package intake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/athir-radio/athir/internal/station"
)

// replace puts an arrival in the place of a track: the row says that the old file leaves,
// the archive takes it, and the new one gets its name, with its own ending. If that fails
// the old one is put back; a kill in between goes on at the next start.
func (in *Intake) replace(ctx context.Context, k kept, from string) error {
	old, rel := in.abs(k.Replace), k.target()
	stays, err := there(in.disk, old)
	switch {
	case err != nil:
		return onDisk("look at "+k.Replace, err)
	case !stays && !k.Out && !k.awaited():
		return refuse(ReplaceGone)
	case stays || !k.Out: // or the archive has taken it once it was off the air
		if k, err = in.clear(ctx, k, rel); err != nil {
			return err
		}
	}
	err = move(ctx, in.disk, from, in.abs(rel), k.ID)
	switch {
	case err == nil:
		return in.conclude(ctx, k)
	case ctx.Err() != nil:
		return err // the next start goes on
	}
	if placed, e := in.isPlaced(&k, from); e == nil && placed {
		return in.conclude(ctx, k) // all but the last step was done
	}
	in.log.Warn("a track could not be replaced: it is put back", "path", k.Replace, "err", err)
	if errors.Is(err, fs.ErrExist) {
		return in.putBack(ctx, k, refuse(NameTaken))
	}
	var full *Refusal
	if errors.As(onDisk("replace "+k.Replace, err), &full) {
		return in.putBack(ctx, k, full)
	}
	return in.putBack(ctx, k, refuse(NotReplaced))
}

// awaited reports that the archive was asked for the track that an arrival replaces, and takes
// it once it is off the air.
func (k *kept) awaited() bool { return k.Replace != "" && k.Asked }

// spare has the track that an arrival was to replace, and which is about to leave for it, stay:
// unless it leaves for another one too, or has.
func (in *Intake) spare(ctx context.Context, k kept) error {
	if !k.awaited() || k.Out || in.rival(&k) {
		return nil
	}
	err := in.opt.Archive.Restore(ctx, k.Replace, ReasonReplaced)
	if errors.Is(err, station.ErrConflict) { // somebody has brought it back
		return nil
	}
	return err
}

// rival reports that another arrival replaces, or has replaced, the same track. One that lies
// at the track's own path is the track by now.
func (in *Intake) rival(k *kept) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for id, e := range in.entries {
		if id != k.ID && !e.Dropped && e.Replace == k.Replace && (e.State == Taking && (e.Out || e.awaited()) || e.placed() && e.State != Undone && e.Path != k.Replace) {
			return true
		}
	}
	return false
}

// clear has the archive take the old file, after saying so in the row. Where it stays, the
// arrival waits.
func (in *Intake) clear(ctx context.Context, k kept, rel string) (kept, error) {
	if rel != k.Replace {
		if taken, err := there(in.disk, in.abs(rel)); err != nil {
			return k, onDisk("look at "+rel, err)
		} else if taken {
			return k, refuse(NameTaken)
		}
	}
	k, err := in.changeOne(ctx, k.ID, func(k *kept) error { k.Out, k.Asked, k.Path = true, true, rel; return nil })
	if err != nil {
		return k, err
	}
	var cause error
	stays, err := there(in.disk, in.abs(k.Replace))
	if err == nil && stays {
		cause = in.opt.Archive.Archive(ctx, k.Replace, ReasonReplaced)
		stays, err = there(in.disk, in.abs(k.Replace))
	}
	if err != nil {
		return k, onDisk("look at "+k.Replace, err)
	}
	if !stays {
		if cause != nil {
			in.log.Warn("the archive took a track, with an error", "path", k.Replace, "err", cause)
		}
		return k, nil
	}
	if ctx.Err() != nil {
		return k, ctx.Err()
	}
	if _, err := in.changeOne(ctx, k.ID, func(k *kept) error { k.Out, k.Path = false, ""; return nil }); err != nil {
		return k, err
	}
	return k, notArchived(k.Replace, cause)
}

// notArchived says why a file stayed that the archive was asked to take.
func notArchived(path string, cause error) error {
	switch {
	case cause == nil || errors.Is(cause, station.ErrConflict):
		return refuse(OnAir)
	case errors.Is(cause, station.ErrNotFound): // it is there, but is no file of the folder
		return refuse(Linked)
	}
	return fmt.Errorf("archive %s: %w", path, cause)
}

// putBack restores the file that an arrival was to replace, and refuses the arrival. While it
// cannot be restored the arrival goes on trying to replace it, so that its path is not empty
// for long.
func (in *Intake) putBack(ctx context.Context, k kept, why *Refusal) error {
	stays, err := there(in.disk, in.abs(k.Replace))
	if err == nil && !stays {
		if err = in.opt.Archive.Restore(context.WithoutCancel(ctx), k.Replace, ReasonReplaced); err == nil {
			stays, err = there(in.disk, in.abs(k.Replace))
		}
	}
	if err != nil || !stays {
		in.log.Error("a track that could not be replaced is still in the archive: restore it there", "path", k.Replace, "err", err)
		if why.Code == Gone { // there is nothing to go on with
			return in.refuseReplacing(ctx, k.ID, why)
		}
		return refuse(NotBack)
	}
	if why.Code == NoRoom {
		why = &Refusal{Code: NotReplaced, Note: why.Error()}
	}
	return in.refuseReplacing(ctx, k.ID, why)
}

func (in *Intake) refuseReplacing(ctx context.Context, id string, why *Refusal) error {
	_, err := in.changeOne(context.WithoutCancel(ctx), id, func(k *kept) error {
		k.Out, k.Asked, k.Path, k.State, k.Reason, k.Asks, k.Auto = false, false, "", Refused, why, nil, false
		return nil
	})
	return err
}
