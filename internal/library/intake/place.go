package intake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/filename"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/library/duplicates"
)

// mostOfAName bounds the files of one name in a category.
const mostOfAName = 200

// placePause is the time until an arrival that could not be placed is tried again: what it
// waits for, a disk or the end of a song, is a matter of minutes.
func placePause(tries int) time.Duration { return retry.Doubled(10*time.Second, time.Minute, tries) }

// placeNext places the next arrival that was taken; false: there is none. One at a time is
// placed, so that the second of two copies finds the first.
func (in *Intake) placeNext(ctx context.Context) bool {
	id, ok := in.claim((*entry).toPlace, in.places)
	if !ok {
		return false
	}
	pause := placePause
	defer func() { in.release(id, pause) }()
	k, ok := in.get(id)
	if !ok {
		return true // dropped this moment
	}
	err := in.bring(ctx, k)
	var r *Refusal
	switch {
	case err == nil:
		pause = nil
	case errors.Is(err, errNone): // dropped meanwhile
		pause = nil
	case ctx.Err() != nil:
	case errors.As(err, &r) && !r.passes():
		if err = in.spare(ctx, k); err != nil {
			in.log.Warn("the track that an upload was to replace is still to leave: it is tried again", "path", k.Replace, "err", err)
			break
		}
		pause = nil
		if err := in.reject(ctx, id, r); err != nil {
			in.log.Warn("cannot save that an upload is refused", "arrival", id, "err", err)
		}
	default:
		in.putOff(ctx, k, err)
	}
	return true
}

// passes reports that what stands against placing an arrival goes away without its sender.
func (r *Refusal) passes() bool {
	return r.Code == NoRoom || r.Code == AwayMedia || r.Code == OnAir || r.Code == NotBack
}

// putOff leaves an arrival to be placed later, and says why.
func (in *Intake) putOff(ctx context.Context, k kept, cause error) {
	var r *Refusal
	if !errors.As(cause, &r) {
		r = refuse(OurFault)
	}
	if (k.State == Taking || k.State == Undoing) && (k.Reason == nil || k.Reason.Code != r.Code) {
		in.log.Warn("upload not placed yet: it is tried again", "arrival", k.ID, "name", k.Name, "err", cause)
		_, err := in.changeOne(ctx, k.ID, func(k *kept) error { k.Reason = r; return nil })
		if err != nil {
			in.log.Warn("cannot save why an upload is not placed", "arrival", k.ID, "err", err)
		}
		return
	}
	in.log.Debug("upload not placed yet", "arrival", k.ID, "name", k.Name, "err", cause)
}

// bring takes an arrival into the media folder, or goes on where an earlier call ended.
func (in *Intake) bring(ctx context.Context, k kept) error {
	switch k.State {
	case Taken:
		return in.tell(ctx, k)
	case Undoing:
		return in.takeBack(ctx, k)
	}
	from := in.file(&k)
	if k.Path != "" {
		if placed, err := in.isPlaced(&k, from); err != nil {
			return err
		} else if placed {
			return in.conclude(ctx, k)
		}
	}
	switch here, err := there(in.disk, from); {
	case err != nil:
		return err
	case !here && k.Out:
		return in.putBack(ctx, k, refuse(Gone))
	case !here:
		return refuse(Gone)
	}
	var full *Refusal
	if err := in.ready(k.Size); errors.As(err, &full) && full.Code == NoRoom && k.Out {
		return in.putBack(ctx, k, full)
	} else if err != nil {
		return err
	}
	if asks, err := in.askAgain(ctx, k); err != nil || asks {
		return err
	}
	if err := in.disk.Settle(from); err != nil {
		return fmt.Errorf("settle an upload: %w", err)
	}
	if k.Replace != "" {
		return in.replace(ctx, k, from)
	}
	return in.place(ctx, k, from)
}

// isPlaced tells whether the file of an arrival whose path was announced got there. A path
// is announced while nothing is at it, so what is there with the arrival's own bytes is its
// copy; the file that it came from is then removed.
func (in *Intake) isPlaced(k *kept, from string) (bool, error) {
	to := in.abs(k.Path)
	if err := in.disk.Remove(partOf(to, k.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return false, fmt.Errorf("remove an unfinished copy: %w", err)
	}
	arrived, err := there(in.disk, to)
	if err != nil || !arrived {
		return false, err
	}
	left, err := there(in.disk, from)
	if err != nil || !left {
		return err == nil, err
	}
	if same, err := file.Same(from, to); err != nil || !same {
		return false, err
	}
	if err := in.disk.Remove(from); err != nil {
		return false, fmt.Errorf("remove what was placed: %w", err)
	}
	return true, in.disk.SyncDir(filepath.Dir(from))
}

// place moves an arrival to a free path of its category.
func (in *Intake) place(ctx context.Context, k kept, from string) error {
	wanted := k.target()
	if err := in.disk.Mkdir(filepath.Dir(in.abs(wanted))); err != nil {
		return onDisk("make the category's folder", err)
	}
	for n := 1; n <= mostOfAName; n++ {
		rel := path.Join(path.Dir(wanted), filename.Numbered(path.Base(wanted), n))
		if taken, err := there(in.disk, in.abs(rel)); err != nil {
			return onDisk("look for a free name", err)
		} else if taken || in.opt.Noted != nil && in.opt.Noted(rel) {
			continue
		}
		if _, err := in.changeOne(ctx, k.ID, func(k *kept) error { k.Path = rel; return nil }); err != nil {
			return err
		}
		k.Path = rel
		err := move(ctx, in.disk, from, in.abs(rel), k.ID)
		if errors.Is(err, fs.ErrExist) {
			continue // somebody was faster
		}
		if err != nil {
			return onDisk("place "+rel, err)
		}
		return in.conclude(ctx, k)
	}
	return refuse(NameTaken)
}

// onDisk is an error of the disk, in words where it is full.
func onDisk(what string, err error) error {
	if file.Full(err) {
		return &Refusal{Code: NoRoom, Note: fmt.Sprintf("%s: %v", what, err)}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// conclude saves that an arrival is placed, and tells the library. The end of ctx does not
// undo the former.
func (in *Intake) conclude(ctx context.Context, k kept) error {
	done, err := in.changeOne(context.WithoutCancel(ctx), k.ID, func(now *kept) error {
		now.State, now.Path, now.Reason, now.Asks, now.Asked, now.DoneAt = Taken, k.Path, nil, nil, false, in.opt.Now()
		return nil
	})
	if err != nil {
		return err
	}
	in.log.Info("upload placed", "path", k.Path, "by", k.By, "name", k.Name, "replaces", k.Replace)
	in.mu.Lock()
	in.placed = append(in.placed, sound{k.Duration, duplicates.Name(k.Artist, k.Title)})
	in.mu.Unlock()
	return in.tell(ctx, done)
}

// tell lets the library know of a placed file, and what a person called it. It may be called
// again after any failure.
func (in *Intake) tell(ctx context.Context, k kept) error {
	paths := []string{k.Path}
	if k.Replace != "" && k.Replace != k.Path {
		paths = append(paths, k.Replace)
		if in.opt.Moved != nil {
			if err := in.opt.Moved(ctx, k.Replace, k.Path); err != nil {
				return fmt.Errorf("keep what is said of %s: %w", k.Replace, err)
			}
		}
	}
	if err := in.opt.Library.Register(ctx, paths...); err != nil {
		return fmt.Errorf("register %s: %w", k.Path, err)
	}
	if err := in.name(ctx, &k); err != nil {
		return fmt.Errorf("keep the names of %s: %w", k.Path, err)
	}
	if err := in.opt.Prints.Add(ctx, k.Path, in.abs(k.Path), k.Artist, k.Title); err != nil {
		// The library's own run takes it later.
		in.log.Warn("recording not fingerprinted: duplicates of it may be taken", "path", k.Path, "err", err)
	}
	_, err := in.changeOne(context.WithoutCancel(ctx), k.ID, func(k *kept) error { k.Told = true; return nil })
	return err
}

// name keeps what a person called a placed file.
func (in *Intake) name(ctx context.Context, k *kept) error {
	if in.opt.Named == nil || k.Deed != 0 {
		return nil
	}
	title, artist := "", ""
	if k.TitleSaid {
		title = k.Title
	}
	if k.ArtistSaid {
		artist = k.Artist
	}
	if title == "" && artist == "" {
		return nil
	}
	deed, err := in.opt.Named(ctx, k.Path, k.By, title, artist)
	if err == nil && deed != 0 {
		_, err = in.changeOne(context.WithoutCancel(ctx), k.ID, func(k *kept) error { k.Deed = deed; return nil })
	}
	return err
}

// askAgain looks for duplicates once more where an arrival is taken without a person and
// other files have come since it was compared; true: a person is asked now.
func (in *Intake) askAgain(ctx context.Context, k kept) (asks bool, err error) {
	print, seen, old := in.outdated(&k)
	if !k.Auto || k.Out || !old {
		return false, nil
	}
	if print == nil {
		if print, err = in.fingerprint(ctx, in.file(&k)); err != nil {
			return false, err
		}
	}
	alike, err := in.alike(ctx, print, k.Artist, k.Title)
	if err != nil {
		return false, err
	}
	in.mu.Lock()
	if e := in.entries[k.ID]; e != nil {
		e.print, e.seen, e.stale = print, seen, false
	}
	in.mu.Unlock()
	k.Alike = alike
	if len(k.questions()) == 0 {
		return false, nil
	}
	// A person may say that it replaces nothing.
	if err := in.spare(ctx, k); err != nil {
		return false, err
	}
	_, err = in.changeOne(ctx, k.ID, func(now *kept) error {
		now.Alike, now.Asked, now.Path, now.Reason = alike, false, "", nil
		now.State, now.Asks, now.Auto = Asks, now.questions(), false
		return nil
	})
	return true, err
}

// outdated reports that files were placed since an arrival was compared which may be the
// same: of about its length, or its names.
func (in *Intake) outdated(k *kept) (print []uint32, seen int, old bool) {
	name := duplicates.Name(k.Artist, k.Title)
	in.mu.Lock()
	defer in.mu.Unlock()
	e := in.entries[k.ID]
	if e == nil {
		return nil, 0, false
	}
	old = e.stale
	for _, s := range in.placed[e.seen:] {
		old = old || (s.length-k.Duration).Abs() <= 2*time.Second+k.Duration/20 || name != "" && s.name == name
	}
	return e.print, len(in.placed), old
}
