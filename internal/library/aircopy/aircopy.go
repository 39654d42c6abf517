// Package aircopy decides which file airs for each track of the media folder: a
// file at the right loudness airs as it is, every other one as a mastered copy in
// the package's own folder. A file that can do neither is refused with a reason.
//
// It never changes the media folder and never removes a copy that is in use.
// sound/mastering decides how a file is mastered.
package aircopy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// Registry lists the media folder.
type Registry interface {
	// Tracks returns all tracks, sorted by path. The slice is never changed.
	Tracks() []station.Track
	// Subscribe returns a channel that receives after every change; several may
	// become one signal.
	Subscribe() (changed <-chan struct{}, cancel func())
}

// Master makes files fit to air. A refusal is the file's own fault and stands until
// the file changes; any other error is the machine's, and the Rack tries again.
type Master interface {
	mastering.Desk
	// Forget drops what is known of a removed copy.
	Forget(ctx context.Context, path string) error
}

// errChanged says that a file was written to while it was being mastered.
var errChanged = errors.New("the file changed while it was being mastered")

// Options are the Rack's; those without a default are required.
type Options struct {
	Root     string // media folder, only read
	Dir      string // folder of copies; nothing else may lie there
	Registry Registry
	Master   Master
	// Profile names the mastering profile of a category. When its answers
	// change, call Recheck.
	Profile func(station.Category) string
	// Preview measures a song that has no copy yet, so that it can air before it has one:
	// see mastering.Master.Preview. Nil: every song waits for its copy.
	Preview func(ctx context.Context, path string, p mastering.Profile, length time.Duration, nice int) (mastering.Preview, error)
	// Disabled lets every file air as it is, and does nothing.
	Disabled bool
	Workers  int           // files at a time; one for each processor, 8 at most
	Linger   time.Duration // an unused copy stays at least this long; 15 min
	// Hold returns once a file may be worked on, or further: not while what is on the air
	// needs the machine. The first files are waited for by the air itself, and so are
	// bulletins: those are not held up. Nil: nothing is.
	Hold    func(ctx context.Context) error
	Reserve int64 // bytes of the disk that copies leave free; 256 MiB, but 5 % at most of a small disk
	Log     *slog.Logger
}

// Rack holds the files that air. Its methods may be called from any goroutine.
type Rack struct {
	opt    Options
	db     *store.DB
	free   func(dir string) (free, all int64, err error) // bytes of a disk
	beat   time.Duration                                 // between publications, at least
	pause  time.Duration                                 // before the first new attempt
	tend   time.Duration                                 // between looks at the copies
	asked  chan struct{}                                 // Recheck
	anew   chan anew                                     // Again
	shown  atomic.Pointer[Snapshot]
	subs   signal.Changes
	mu     sync.RWMutex
	rows   map[string]row    // by rel; changed by Run only
	copies map[string]string // from a copy's path relative to Dir to rel
	making map[string]bool   // rels whose copies are being replaced
	early  map[string]early  // by rel: songs that were measured ahead; changed by Run only
	soon   map[string]int    // by rel: what somebody waits for, and in which order
	asks   int               // the last number in soon
}

// Open reads earlier decisions, checks which copies still exist, and publishes what
// can air at once. The Rack must be done before db is closed.
func Open(ctx context.Context, db *store.DB, opt Options) (*Rack, error) {
	for _, dir := range []*string{&opt.Root, &opt.Dir} {
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return nil, fmt.Errorf("open the copies on air: %w", err)
		}
		*dir = abs
	}
	if opt.Workers <= 0 {
		opt.Workers = min(runtime.NumCPU(), 8)
	}
	if opt.Linger <= 0 {
		opt.Linger = 15 * time.Minute
	}
	if opt.Reserve <= 0 {
		opt.Reserve = 256 << 20
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	r := &Rack{
		opt: opt, db: db, free: freeBytes, beat: 500 * time.Millisecond, pause: 5 * time.Second, tend: 5 * time.Minute,
		asked: make(chan struct{}, 1), anew: make(chan anew), copies: map[string]string{}, making: map[string]bool{},
		early: map[string]early{}, soon: map[string]int{},
	}
	if err := migrate(ctx, db); err != nil {
		return nil, err
	}
	var err error
	if r.rows, err = load(ctx, db); err != nil {
		return nil, err
	}
	for rel, w := range r.rows {
		if w.copy != "" {
			r.copies[w.copy] = rel
		}
		if w.state == copied && !r.whole(w) {
			w.state = lost
			r.rows[rel] = w
		}
	}
	r.show(opt.Registry.Tracks(), Work{}, "")
	return r, nil
}

// Recheck has the Rack ask for every category's profile again.
func (r *Rack) Recheck() {
	select {
	case r.asked <- struct{}{}:
	default:
	}
}
