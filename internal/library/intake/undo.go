package intake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Undo has a taken arrival taken back, soon: its file goes to the archive, and what it
// replaced comes back from there, with what is said of it. What is on the air, or about to be,
// leaves after it. Errors: station.ErrNotFound; station.ErrConflict where it is not in the
// library; a *Refusal where another file has its place.
func (in *Intake) Undo(ctx context.Context, id string) (Arrival, error) {
	if k, ok := in.get(id); ok && k.State == Taken && in.outlived(&k) {
		return Arrival{}, refuse(Outlived)
	}
	_, err := in.changeOne(ctx, id, func(k *kept) error {
		switch {
		case !k.Here:
			return errNone
		case k.State != Taken || !k.Told:
			return fmt.Errorf("the upload is not in the library: there is nothing to take back: %w", station.ErrConflict)
		}
		k.State, k.Reason = Undoing, nil
		return nil
	})
	if err != nil {
		return Arrival{}, err
	}
	wake(in.places)
	return in.Find(id)
}

// outlived reports that an arrival's place is that of a later upload, or of another file.
func (in *Intake) outlived(k *kept) bool {
	if info, err := os.Stat(in.abs(k.Path)); err == nil && info.Size() != k.Size {
		return true
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for id, e := range in.entries {
		if id != k.ID && (e.State == Taken || e.State == Undoing) && e.DoneAt.After(k.DoneAt) && (e.Replace == k.Path || e.Path == k.Path) {
			return true
		}
	}
	return false
}

// takeBack carries an undo out, or goes on where an earlier call ended.
func (in *Intake) takeBack(ctx context.Context, k kept) error {
	// Behind a mount that is away every file would seem to have left.
	if err := in.present(); err != nil {
		return err
	}
	err := in.takeOut(ctx, &k)
	var r *Refusal
	if errors.As(err, &r) && !r.passes() {
		_, err = in.changeOne(ctx, k.ID, func(k *kept) error { k.State, k.Reason = Taken, r; return nil })
		return err
	}
	if err != nil {
		return err
	}
	paths := []string{k.Path}
	if k.Replace != "" {
		if err := in.bringBack(ctx, &k); err != nil {
			return err
		}
		paths = append(paths, k.Replace)
	}
	if err := in.opt.Library.Register(ctx, paths...); err != nil {
		return fmt.Errorf("register %s: %w", k.Path, err)
	}
	_, err = in.changeOne(context.WithoutCancel(ctx), k.ID, func(k *kept) error {
		k.State, k.Reason, k.AirsAt, k.DoneAt = Undone, nil, time.Time{}, in.opt.Now()
		return nil
	})
	if err == nil {
		in.log.Info("upload taken back", "path", k.Path, "name", k.Name, "restored", k.Replace)
	}
	return err
}

// takeOut has the archive take an arrival's file, and notes that it has.
func (in *Intake) takeOut(ctx context.Context, k *kept) error {
	if k.Left {
		return nil
	}
	info, err := os.Stat(in.abs(k.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist): // an earlier attempt came so far, or the archive took it after it was heard
	case err != nil:
		return fmt.Errorf("look at %s: %w", k.Path, err)
	case info.Size() != k.Size:
		return refuse(Outlived)
	default:
		cause := in.opt.Archive.Archive(ctx, k.Path, ReasonUndone)
		if stays, err := there(in.disk, in.abs(k.Path)); err != nil {
			return fmt.Errorf("look at %s: %w", k.Path, err)
		} else if stays {
			return notArchived(k.Path, cause)
		}
	}
	*k, err = in.changeOne(context.WithoutCancel(ctx), k.ID, func(k *kept) error { k.Left = true; return nil })
	return err
}

// bringBack restores what an arrival replaced, and what was said of it before.
func (in *Intake) bringBack(ctx context.Context, k *kept) error {
	if k.Deed != 0 && in.opt.Unnamed != nil {
		if err := in.opt.Unnamed(ctx, k.Deed, k.By); err != nil {
			return fmt.Errorf("take back how %s was named: %w", k.Path, err)
		}
	}
	back, err := there(in.disk, in.abs(k.Replace))
	if err == nil && !back {
		err = in.opt.Archive.Restore(context.WithoutCancel(ctx), k.Replace, ReasonReplaced)
		if errors.Is(err, station.ErrConflict) { // it was archived by hand, or removed, since
			in.log.Warn("what an upload replaced is not in the archive, and does not come back", "path", k.Replace, "err", err)
			return nil
		}
	}
	if err == nil && k.Replace != k.Path && in.opt.Moved != nil {
		err = in.opt.Moved(ctx, k.Path, k.Replace)
	}
	if err != nil {
		return fmt.Errorf("bring %s back: %w", k.Replace, err)
	}
	return nil
}
