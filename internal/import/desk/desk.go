// Package desk imports another system's station from the studio: it keeps the backups that an
// owner uploads for a day, and plans and carries out what the command line does. Keys and
// passwords are kept nowhere: they live as long as the work that needs them.
package desk

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/wallclock"
	"github.com/athir-radio/athir/internal/station"
)

// Options of Open. Without a default all are required.
type Options struct {
	Dir     string               // of journals and, within, of uploads
	Station func() apply.Station // this station's own API
	Fetch   *fetch.Client        // reaches running systems
	Log     *slog.Logger
	Now     func() time.Time                                    // time.Now
	Space   func(dir string) (free, size uint64, err error)     // file.Space
	Wait    func(ctx context.Context, every time.Duration) bool // until the next look, false at the end: by a ticker
	Most    int64                                               // bytes of an upload; MostBytes
}

const (
	// MostBytes is the largest upload.
	MostBytes = 4 << 30
	// mostFiles is how many are kept.
	mostFiles = 4
	// keptFor is how long an upload is kept, and what apply gave.
	keptFor = 24 * time.Hour
	// sure is for how long the clock has to go on before anything is removed for its age.
	sure      = time.Hour
	lookEvery = time.Hour
	lookAfter = 64 << 20
)

// Desk may be used from any goroutine.
type Desk struct {
	opt Options
	dir string // of uploads

	mu       sync.Mutex
	opened   bool
	files    map[string]*held
	arriving int
	given    Secrets
	givenAt  time.Time
}

// Open opens the desk, and removes what a kill left unfinished. Where its folder cannot be opened,
// imports are refused until it can: the station goes on without.
func Open(o Options) *Desk {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Space == nil {
		o.Space = file.Space
	}
	if o.Wait == nil {
		o.Wait = pause
	}
	if o.Most == 0 {
		o.Most = MostBytes
	}
	d := &Desk{opt: o, dir: filepath.Join(o.Dir, "uploads"), files: map[string]*held{}}
	var why *Failure
	if errors.As(d.ready(), &why) {
		o.Log.Error("imports are not available: make their folder writable for the station", "folder", d.dir, "err", why.cause)
	}
	return d
}

// ready opens the folder, if that did not succeed before.
func (d *Desk) ready() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened {
		return nil
	}
	err := errors.Join(os.MkdirAll(d.opt.Dir, 0o750), os.MkdirAll(d.dir, 0o700))
	if err == nil {
		err = d.load()
	}
	if err != nil {
		return &Failure{"unavailable", "Imports are not available: the station cannot use its folder imports. Make it writable for the station.", "الاستيراد غير متاح: لا تستطيع المحطة استخدام مجلدها imports. اجعله قابلًا للكتابة.", station.ErrUnavailable, err}
	}
	d.opened = true
	return nil
}

func pause(ctx context.Context, every time.Duration) bool {
	t := time.NewTimer(every)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Run forgets what is a day old until ctx ends.
func (d *Desk) Run(ctx context.Context) error {
	var clock wallclock.Steady
	for {
		now := d.opt.Now()
		_ = d.ready() // whoever imports is told
		if clock.Look(now, lookEvery) >= sure {
			d.forget(now)
		}
		if !d.opt.Wait(ctx, lookEvery) {
			return nil
		}
	}
}

// forget removes what is a day old, and nothing that is being read.
func (d *Desk) forget(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, h := range d.files {
		if now.Sub(time.UnixMilli(h.At)) < keptFor || h.uses > 0 {
			continue
		}
		if err := d.drop(id); err != nil {
			d.opt.Log.Warn("cannot remove an old upload of an import: it is tried again in an hour", "err", err)
		}
	}
	if now.Sub(d.givenAt) >= keptFor {
		d.given = Secrets{}
	}
}
