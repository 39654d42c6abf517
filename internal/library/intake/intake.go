// Package intake brings what staff upload into the media folder: it keeps each file whole in
// a folder of its own, listens to it, guesses its category, looks for duplicates, asks where
// in doubt, and places it under a name that people read, where the library finds it at once.
//
// A file is never put over another one, and a kill at any moment leaves it whole in the folder
// of arrivals or placed once. The package receives no bytes (kit/resume does), masters
// nothing, archives nothing itself, and does not decide what plays.
package intake

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/wallclock"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/station"
)

// Library is the registry of the media folder.
type Library interface {
	// Find returns the track at a path.
	Find(path string) (station.Track, bool)
	// Register looks at paths at once; one at which there is nothing any more is forgotten.
	Register(ctx context.Context, paths ...string) error
	// Airs reports that a path may be planned now. It must not wait.
	Airs(path string) bool
	// Tracks is how many are registered: an empty folder is not the library's then.
	Tracks() int
}

// Prints finds the tracks that a recording equals.
type Prints interface {
	// Alike returns the tracks that sound like one of some versions of a print, the likest
	// first, then those that only share artist and title.
	Alike(ctx context.Context, versions []fingerprint.Print, artist, title string) ([]Match, error)
	// Add keeps the print of a file that was placed.
	Add(ctx context.Context, path, abs, artist, title string) error
}

// Match is a track that an arrival looks like: see duplicates.Match.
type Match struct {
	Path       string
	Difference float64 // 0 to 1; 1: only artist and title are the same
}

// Archive is where replaced files go.
type Archive interface {
	// Archive takes a file out of the media folder. Where it may not leave yet, because it is
	// on the air or about to be, the error is of station.ErrConflict, and it is asked again.
	Archive(ctx context.Context, path, reason string) error
	// Restore puts the last file that Archive took from a path for a reason back there; one
	// that was to leave stays. The error is of station.ErrConflict where there is neither.
	Restore(ctx context.Context, path, reason string) error
}

// The reasons that Archive is given.
const (
	ReasonReplaced = "replaced by an upload"
	ReasonUndone   = "an upload that was taken back"
)

// Limits bound what waits. A field of zero takes its default.
type Limits struct {
	Size      int64         // bytes of one file: 2 GiB
	Arrivals  int           // that are not taken: 5000
	Placed    int           // lines of those that are: 2000
	Bytes     int64         // of those: 64 GiB
	Reserve   int64         // bytes of each disk that stay free: 1 GiB, but 5 % at most of a small disk
	Age       time.Duration // after which one that nobody answers is dropped: 30 days
	KeepTaken time.Duration // for which a taken one is listed: a day
}

func (l Limits) defaults() Limits {
	return Limits{
		Size: cmp.Or(l.Size, 2<<30), Arrivals: cmp.Or(l.Arrivals, 5000), Placed: cmp.Or(l.Placed, 2000), Bytes: cmp.Or(l.Bytes, 64<<30), Reserve: cmp.Or(l.Reserve, 1<<30),
		Age: cmp.Or(l.Age, 30*24*time.Hour), KeepTaken: cmp.Or(l.KeepTaken, 24*time.Hour),
	}
}

// Options are what an Intake is made of. Dir, Media, Library, Prints, Archive and Log are
// needed.
type Options struct {
	Dir     string // for nothing else; best on the disk of the media folder, outside it
	Media   string // media folder
	Library Library
	Prints  Prints
	Archive Archive
	Limits  Limits
	Workers int // files that are listened to at a time: 2
	Log     *slog.Logger
	// Hold returns once what nobody waits for may go on: a file is not listened to while what
	// is on the air needs the machine. Nil: always.
	Hold func(ctx context.Context) error
	// Named keeps the title and the artist that a person gave to a track; an empty one was not
	// given. deed is by which they can be taken back, 0 where there was nothing to keep. Nil:
	// they make the name of the file alone.
	Named func(ctx context.Context, path, by, title, artist string) (deed int64, err error)
	// Unnamed takes a deed of Named back. It may be called again for one that is.
	Unnamed func(ctx context.Context, deed int64, by string) error
	// Noted reports that something is said of a path at which there is no file: a new file does
	// not take that over. Nil: nothing is.
	Noted func(path string) bool
	// Moved says that a replaced track has another path by now: that of its new file. It may
	// be called twice with the same. Nil: nobody keeps anything by path.
	Moved func(ctx context.Context, from, to string) error
	// Now and Space are the clock and the room of the disk of a folder: time.Now, file.Space.
	Now   func() time.Time
	Space func(dir string) (free, size uint64, err error)
}

// entry is an arrival with what is not stored.
type entry struct {
	kept
	busy  bool // a worker has it
	tryAt time.Time
	tries int // in a row, without an outcome
	print fingerprint.Print
	seen  int  // how many files had been placed when it was compared
	stale bool // it was compared by an earlier process
}

// Intake is the way from uploads into the media folder. Its methods may be called from any
// goroutine. Run must run beside it.
type Intake struct {
	opt     Options
	limits  Limits
	run     string // names this process
	db      *store.DB
	log     *slog.Logger
	disk    disk
	examine func(ctx context.Context, abs string) (audiofile.Info, error)
	listen  func(ctx context.Context, abs string) (fingerprint.Print, error)

	clock wallclock.Steady // tidy has it

	desk sync.Mutex // held while arrivals change, on disk and in memory

	mu      sync.Mutex // guards what follows
	entries map[string]*entry
	placed  []sound // since the start

	changed       changes
	looks, places chan struct{} // there may be something to do
}

// sound is what of a placed file tells whether a later one may be the same.
type sound struct {
	length time.Duration
	name   string // folded
}

// Open reads what an earlier process left, and finishes what it was about to remove.
func Open(ctx context.Context, db *store.DB, opt Options) (*Intake, error) {
	for _, dir := range []*string{&opt.Dir, &opt.Media} {
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return nil, fmt.Errorf("open the intake: %w", err)
		}
		*dir = abs
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Space == nil {
		opt.Space = file.Space
	}
	if opt.Workers <= 0 {
		opt.Workers = 2
	}
	in := &Intake{
		opt: opt, limits: opt.Limits.defaults(), run: newRun(), db: db, log: opt.Log, disk: realDisk{}, examine: media.Examine, listen: fingerprint.Of,
		entries: map[string]*entry{}, looks: make(chan struct{}, 1), places: make(chan struct{}, 1),
	}
	if err := db.Upgrade(ctx, Schema()); err != nil {
		return nil, err
	}
	return in, in.recover(ctx)
}

// Subscribe returns a channel that receives after arrivals have changed. Several changes may
// become one signal. Call cancel when done.
func (in *Intake) Subscribe() (changed <-chan struct{}, cancel func()) { return in.changed.Subscribe() }

// Run listens to arrivals, places those that are taken, and drops what nobody answered,
// until ctx ends.
func (in *Intake) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for range in.opt.Workers {
		g.Go(func() error { return in.work(ctx, in.looks, in.lookNext, (*entry).toLook) })
	}
	g.Go(func() error { return in.work(ctx, in.places, in.placeNext, (*entry).toPlace) })
	g.Go(func() error { return in.tidyUp(ctx) })
	return g.Wait()
}

// work does one thing after another, and waits for the next.
func (in *Intake) work(ctx context.Context, woken chan struct{}, next func(ctx context.Context) bool, of func(*entry) bool) error {
	for ctx.Err() == nil {
		if next(ctx) {
			continue
		}
		timer := time.NewTimer(in.until(of))
		select {
		case <-ctx.Done():
		case <-woken:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// until is how long it is until something that failed is due again.
func (in *Intake) until(of func(*entry) bool) time.Duration {
	in.mu.Lock()
	defer in.mu.Unlock()
	wait, now := time.Hour, in.opt.Now()
	for _, e := range in.entries {
		if of(e) && !e.busy {
			wait = min(wait, e.tryAt.Sub(now))
		}
	}
	return max(wait, 0)
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// toLook and toPlace say what there is to do with an arrival.
func (e *entry) toLook() bool { return e.State == Waiting && e.Here && !e.Dropped }

func (e *entry) toPlace() bool {
	return !e.Dropped && (e.State == Taking || e.State == Taken && !e.Told || e.State == Undoing)
}

// claim takes the oldest arrival that is due into a worker's hands. more wakes another one.
func (in *Intake) claim(of func(*entry) bool, more chan struct{}) (id string, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	now := in.opt.Now()
	var first *entry
	for _, e := range in.entries {
		if of(e) && !e.busy && !now.Before(e.tryAt) && (first == nil || earlier(&e.Arrival, &first.Arrival) < 0) {
			first = e
		}
	}
	if first == nil {
		return "", false
	}
	first.busy = true
	wake(more)
	in.changed.Tell()
	return first.ID, true
}

// earlier is the order of arrivals.
func earlier(a, b *Arrival) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) }

// release gives an arrival back. One that came to nothing is due again after a pause.
func (in *Intake) release(id string, pause func(tries int) time.Duration) {
	in.mu.Lock()
	defer in.mu.Unlock()
	e := in.entries[id]
	if e == nil {
		return
	}
	e.busy = false
	if pause == nil {
		e.tries, e.tryAt = 0, time.Time{}
	} else {
		e.tries++
		e.tryAt = in.opt.Now().Add(pause(e.tries))
	}
	wake(in.looks)
	wake(in.places)
	in.changed.Tell()
}

// get returns an arrival as it is stored.
func (in *Intake) get(id string) (kept, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	e := in.entries[id]
	if e == nil || e.Dropped {
		return kept{}, false
	}
	return e.kept, true
}

// change commits new states of arrivals, on disk first, in one go. f changes one, or returns
// false; its error ends all. Those that are gone are passed over.
func (in *Intake) change(ctx context.Context, ids []string, f func(k *kept) (bool, error)) (changed []kept, err error) {
	in.desk.Lock()
	defer in.desk.Unlock()
	for _, id := range ids {
		k, ok := in.get(id)
		if !ok {
			continue
		}
		yes, err := f(&k)
		if err != nil {
			return nil, err
		}
		if yes {
			changed = append(changed, k)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	if err := save(ctx, in.db, changed...); err != nil {
		return nil, err
	}
	in.mu.Lock()
	for _, k := range changed {
		in.entries[k.ID].kept = k
	}
	in.mu.Unlock()
	wake(in.looks)
	wake(in.places)
	in.changed.Tell()
	return changed, nil
}

// changeOne is change for one arrival, which must be there.
func (in *Intake) changeOne(ctx context.Context, id string, f func(k *kept) error) (kept, error) {
	changed, err := in.change(ctx, []string{id}, func(k *kept) (bool, error) { return true, f(k) })
	if err == nil && len(changed) == 0 {
		err = errNone
	}
	if err != nil {
		return kept{}, err
	}
	return changed[0], nil
}

var errNone = fmt.Errorf("upload: %w", station.ErrNotFound)

// file is where an arrival's file lies until it is placed.
func (in *Intake) file(k *kept) string { return filepath.Join(in.opt.Dir, k.ID+k.Ext) }

// abs is a path of the media folder.
func (in *Intake) abs(rel string) string {
	return filepath.Join(in.opt.Media, filepath.FromSlash(rel))
}
