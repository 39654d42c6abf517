package policy

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/turns"
	"github.com/athir-radio/athir/internal/station"
)

// Keeping has every change on disk before it is answered.
type Keeping struct {
	Log *slog.Logger
	Now func() time.Time // time.Now when nil
	// Again is after how long what could not be written is tried again.
	Again time.Duration
}

// historySuffix names the file of the newest changes, beside the configuration's.
const historySuffix = ".history"

const (
	// replacedSuffix names what somebody else put in the configuration's place, the newest.
	replacedSuffix = ".replaced"
	// damagedSuffix names a history that could not be read, the newest.
	damagedSuffix = ".damaged"
)

// books say what is on disk.
type books struct {
	whole *inForce          // the configuration
	text  [sha256.Size]byte // of its file as it was last read or written here; of nothing where there is none
	past  *past             // and its changes
	late  bool              // the changes could not be written, which was logged
}

// Keep has changes kept from now on, with those that can be taken back: in a file of their own
// beside the configuration, which is written first. Changes there that are not in force are
// forgotten: the program ended between the two, or somebody put another file in place.
//
// A change that cannot be written stays in force, Unsaved says why, and Run tries again:
// listeners hear it already, and taking it back would need the disk as well.
func (o *Owner) Keep(k Keeping) *Owner {
	o.keep = &k
	now := o.now.Load()
	p, err := o.readHistory()
	if err != nil {
		from := o.path + historySuffix
		attrs := []any{"file", from, "err", err}
		if os.Rename(from, from+damagedSuffix) == nil { // else the next change takes its place
			attrs = append(attrs, "kept", from+damagedSuffix)
		}
		k.Log.Warn("cannot read the latest changes of the station configuration: they cannot be undone any more", attrs...)
		return o
	}
	o.books.past = p
	if layers, err := now.layers(); err == nil {
		p = p.inForce(layers)
	}
	is := &inForce{now.settings, p}
	o.books.whole = is
	o.now.Store(is)
	return o
}

// Keeps reports whether changes are kept as they are made.
func (o *Owner) Keeps() bool { return o.keep != nil }

// Unsaved is why changes that are in force could not be kept; nil while they are, or where
// only Save keeps them.
func (o *Owner) Unsaved() error {
	if why := o.unsaved.Load(); why != nil {
		return *why
	}
	return nil
}

// Run writes again what could not be written, until ctx ends; and then once more, as what is
// in force would be lost with the program.
func (o *Owner) Run(ctx context.Context) error {
	defer o.keepUp()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-o.behind:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(o.keep.Again):
		}
		o.keepUp()
	}
}

// keepUp returns when what is in force is on disk, or known not to be. Whoever comes while the
// disk is busy shares the next writing, of the newest settings: many changes at once cost no
// more than two writings.
func (o *Owner) keepUp() {
	if o.keep == nil {
		return
	}
	_ = o.disk.Share(struct{}{}, func([]*turns.Waiter[struct{}]) error { // Unsaved tells
		if now := o.now.Load(); o.books.whole == now && o.books.past == now.past {
			return nil
		}
		return o.write()
	})
}

// write writes what is in force, and its history before it. The caller has the disk.
func (o *Owner) write() error {
	now := o.now.Load()
	o.writeHistory(now.past)
	b, err := render(now.settings)
	if err == nil {
		err = o.aside()
	}
	if err == nil {
		err = o.replace(b)
	}
	if err != nil {
		err = fmt.Errorf("save station configuration: %w: %w", station.ErrUnavailable, err)
	}
	return o.noted(now, err)
}

// remove deletes the file, but for live streams. The caller has the disk.
func (o *Owner) remove() error {
	now := o.now.Load()
	o.writeHistory(now.past)
	err := o.aside()
	if err == nil {
		err = o.removeButLive(now.Live)
	}
	if err != nil {
		err = fmt.Errorf("the defaults are in force, but the configuration file could not be deleted: %w: %w", station.ErrUnavailable, err)
	}
	return o.noted(now, err)
}

// replace writes the configuration's file. The caller has the disk.
func (o *Owner) replace(text []byte) error {
	err := file.WriteAtomic(o.path, text, 0o600)
	if err == nil {
		o.books.text = sha256.Sum256(text)
	}
	return err
}

// aside keeps a copy of a file that somebody else put in the configuration's place, meant for
// the next start: what is in force is about to be written over it. The caller has the disk.
func (o *Owner) aside() error {
	text, err := read(o.path, mostBytes)
	if o.keep == nil || err != nil || len(text) > mostBytes || sha256.Sum256(text) == o.books.text {
		return nil // none, or nothing that a start would read
	}
	if err := file.WriteAtomic(o.path+replacedSuffix, text, 0o600); err != nil {
		return fmt.Errorf("keep a copy of the file that somebody changed: %w", err)
	}
	o.keep.Log.Warn("somebody changed the file of the station configuration while the station runs: what is in force takes its place", "file", o.path, "kept", o.path+replacedSuffix)
	return nil
}

// noted notes what came of writing the configuration.
func (o *Owner) noted(now *inForce, err error) error {
	was := o.unsaved.Load()
	switch {
	case err == nil:
		o.kept.Store(&now.settings)
		o.books.whole = now
		o.unsaved.Store(nil)
		if was != nil {
			o.keep.Log.Info("the station configuration in force is saved again", "file", o.path)
		}
	case o.keep != nil:
		o.unsaved.Store(&err)
		if was == nil {
			o.keep.Log.Error("the station configuration in force cannot be saved: a restart would lose what was changed; it is tried again", "file", o.path, "again", o.keep.Again, "err", err)
		}
		o.again()
	}
	return err
}

// writeHistory writes the newest changes. That they can be undone after a restart is less than
// that they hold: a failure is logged, and no answer tells of it.
func (o *Owner) writeHistory(p *past) {
	if o.keep == nil || o.books.past == p {
		return
	}
	b, err := p.render()
	if err == nil {
		err = file.WriteAtomic(o.path+historySuffix, b, 0o600)
	}
	if err != nil && !o.books.late {
		o.keep.Log.Warn("cannot write the latest changes of the station configuration: after a restart they could not be undone", "file", o.path+historySuffix, "err", err)
	}
	if o.books.late = err != nil; o.books.late {
		o.again()
		return
	}
	o.books.past = p
}

func (o *Owner) again() {
	select {
	case o.behind <- struct{}{}:
	default:
	}
}

func (o *Owner) readHistory() (*past, error) {
	text, err := read(o.path+historySuffix, mostHistory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &past{Next: 1}, nil
	case err != nil:
		return nil, err
	}
	return readPast(text)
}

// mostHistory bounds the file of changes: one change may replace a whole document.
const mostHistory = mostPastBytes + 4*mostBytes
