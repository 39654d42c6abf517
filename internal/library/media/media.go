// Package media is the registry of everything the station may play: which
// files lie under the media root, what they are, and which cannot air and why. It
// follows the folder at the cost of one stat per unchanged file, and never
// changes, moves or deletes a media file.
//
// It does not choose what plays, and does not judge loudness or duplicates.
package media

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
)

// Options say what to scan and how. Zero durations and counts mean the defaults.
type Options struct {
	Root        string        // media folder
	Log         *slog.Logger  // required
	Workers     int           // files opened at a time; one per processor
	Settle      time.Duration // a file written to within this time is unfinished; 2 s
	Rescan      time.Duration // between whole scans, in case the watch missed something; 10 min
	FollowLinks bool          // follow symbolic links that leave Root
	// Hold returns once scans that nobody waits for may go on, asked between two files: not
	// while what is on the air needs the machine. Nil: always. See held.go.
	Hold func(ctx context.Context) error
}

func (o *Options) defaults() (err error) {
	if o.Workers <= 0 {
		o.Workers = runtime.NumCPU()
	}
	if o.Settle <= 0 {
		o.Settle = 2 * time.Second
	}
	if o.Rescan <= 0 {
		o.Rescan = 10 * time.Minute
	}
	o.Root, err = filepath.Abs(o.Root)
	return err
}

// Library is the registry of one media folder. Its methods may be called from
// any goroutine.
type Library struct {
	db  *store.DB
	opt Options

	notifier func() (*notifier, error) // opens the folder watch

	snapshot atomic.Pointer[Snapshot]

	changes signal.Changes // of the snapshot

	// turn is held by the pass or reload that works on the registry. It guards
	// the fields below.
	turn     chan struct{}
	asides   chan aside // to the pass under way
	registry *registry
	// elsewhere: the registry belongs to another root. Until the first whole
	// scan of this root ends, only what that scan found is published.
	elsewhere  bool
	generation int64 // of the database, as last read or written
	scannedAt  time.Time
	problem    string
	scanning   bool
	passing    bool
	texts      interner

	late  lateFiles
	hurry hurry
}

// Open reads the registry kept in db; it does not touch the media folder. The
// Library must be done before db is closed.
func Open(ctx context.Context, db *store.DB, opt Options) (*Library, error) {
	if err := opt.defaults(); err != nil {
		return nil, fmt.Errorf("open library: %w", err)
	}
	if err := migrate(ctx, db); err != nil {
		return nil, fmt.Errorf("open library: %w", err)
	}
	l := &Library{
		db: db, opt: opt, notifier: inotify, turn: make(chan struct{}, 1), asides: make(chan aside), texts: interner{},
		late: lateFiles{first: lateFirst, files: map[string]lateFile{}},
	}
	saved, err := load(ctx, db)
	if err != nil {
		return nil, err
	}
	l.adopt(saved)
	if saved.root != "" && saved.root != opt.Root && len(saved.registry.tracks) > 0 {
		opt.Log.Info("media folder changed: tracks return as the scan finds them", "from", saved.root, "to", opt.Root)
		l.elsewhere = true
	}
	l.publish()
	return l, nil
}

func (l *Library) adopt(s saved) {
	l.registry, l.generation, l.scannedAt = s.registry, s.generation, s.scannedAt
	l.texts = interner{}
}

// Snapshot returns the registry as last published; it never waits.
func (l *Library) Snapshot() *Snapshot { return l.snapshot.Load() }

// Subscribe returns a channel that receives after every published snapshot.
// Several changes may become one signal. Call cancel when done.
func (l *Library) Subscribe() (changed <-chan struct{}, cancel func()) { return l.changes.Subscribe() }

// publish makes the registry visible. Only the holder of turn calls it.
func (l *Library) publish() {
	if l.elsewhere {
		l.show(&registry{})
		return
	}
	l.show(l.registry)
}

func (l *Library) show(r *registry) {
	old := l.snapshot.Load()
	next := &Snapshot{
		Tracks: r.tracks, Quarantined: r.refused, Generation: 1,
		ScannedAt: l.scannedAt, Scanning: l.scanning, Passing: l.passing, Problem: cmp.Or(l.problem, l.late.problem()),
	}
	if old != nil && sameSlice(old.Tracks, next.Tracks) {
		next.Decks = old.Decks
	} else {
		next.Decks = DecksOf(next.Tracks)
	}
	next.Succeed(old)
	if old != nil {
		next.Generation = old.Generation
		if !sameSlice(old.Tracks, next.Tracks) || !sameSlice(old.Quarantined, next.Quarantined) {
			next.Generation++
		}
	}
	l.snapshot.Store(next)
	l.changes.Tell()
}

// sameSlice compares identity: a registry that did not change shares its arrays.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (l *Library) takeTurn(ctx context.Context) (done func(), err error) {
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// refresh takes over what another process has written to the database, if it has.
func (l *Library) refresh(ctx context.Context) error {
	generation, err := savedGeneration(ctx, l.db)
	if err != nil {
		return fmt.Errorf("look for library changes by other processes: %w", err)
	}
	done, err := l.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer done()
	if generation <= l.generation {
		return nil
	}
	return l.reload(ctx)
}

func (l *Library) reload(ctx context.Context) error {
	saved, err := load(ctx, l.db)
	if err != nil {
		return err
	}
	l.adopt(saved)
	l.publish()
	return nil
}

// errOf reports err unless it only says that ctx ended.
func errOf(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
