// Package content keeps the library fresh: it brings new material in, masters
// and places it, renews imaging, and moves old files out of the decks into an
// archive from which they can be restored.
//
// No file that is on air, queued or about to be is moved, and no path that the
// rotation holds: see Content.Archive. A kill at any moment leaves every file whole
// at one place: see Content.Recover. The package plans nothing and judges no taste;
// its options supply what is on air, the mastering and the sources.
package content

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("content", migrations) }

// Speech says what happens to speech that would go to a music deck.
type Speech string

// The choices. Speech from the inbox is only logged, because the operator chose it.
const (
	SpeechRefuse Speech = "refuse"
	SpeechWarn   Speech = "warn"
	SpeechOff    Speech = "off"
)

// Options configure the pipeline. Media, Archive, Work, Registry, OnAir, Master,
// Prints and Log are required; for the rest zero means the default given.
type Options struct {
	Media   string // media folder
	Archive string // best on the same file system; outside the media folder
	Work    string // for this package alone: Open empties it

	Registry Registry
	OnAir    OnAir
	Master   mastering.Desk
	Profiles mastering.PerCategory
	Prints   Prints
	Imaging  Imaging         // nil: none is made
	Catalog  Catalog         // nil: no searches by name
	Sources  []source.Source // in the order in which they are asked
	Log      *slog.Logger
	// Changed gets Hidden when content is opened and after each change. It must not
	// wait, and must not change the set.
	Changed func(hidden map[string]bool)

	Every     time.Duration // from the end of a refresh to the next scheduled one; 0: never
	AfterBoot time.Duration // the earliest scheduled refresh after the start; 10 min
	MaxRun    time.Duration // how long a refresh may fetch; 2 h
	// Queue runs a scheduled refresh in turn with other work, and returns its
	// error once it has ended or is cancelled. nil: Run runs it.
	Queue func(ctx context.Context, refresh func(context.Context, func(Progress)) (Result, error)) error
	// Hold returns once what nobody waits for may go on: a scheduled refresh and the inbox,
	// asked between two pieces of work while a file is listened to and mastered, and while
	// imaging is made. What is ordered does not ask. nil: always.
	Hold func(ctx context.Context) error

	// Shares divide the songs of a refresh; a half Arabic hits, a quarter
	// English, 15 % mashups, 10 % shorts.
	Shares map[station.Category]float64
	// Keep is how many tracks a category may have before the oldest that were
	// fetched leave; 300 songs or shorts, 60 of the rest. Never under 15.
	Keep map[station.Category]int

	ArchiveKeep     time.Duration // archived files are deleted then; 0: never
	ArchiveMaxBytes int64         // beyond it the oldest are deleted; 0: no limit

	LongestSong  time.Duration // that is fetched; 15 min
	MaxFile      int64         // bytes; 512 MiB
	FetchTimeout time.Duration // of one file; 15 min
	Stall        time.Duration // window in which a fetch must reach the Slowest rate; 60 s
	Slowest      int64         // bytes a second; a slower fetch is given up; 16 KiB
	SearchTime   time.Duration // of one source for one category; 3 min
	SourceTime   time.Duration // of one source in a run, its calls added up; 1 h
	Parallel     int           // fetches at a time; 2
	MinFree      uint64        // bytes that stay free; 2 GiB, but 5 % at most of a small disk
	Refused      time.Duration // until a refused candidate is tried again; 30 days
	Speech       Speech        // SpeechRefuse

	Now func() time.Time // time.Now
	// Free returns the free and total bytes of a folder's disk.
	Free func(dir string) (free, total uint64, err error)
}

// Content is the content pipeline. Its methods may be called from any goroutine.
type Content struct {
	opt  Options
	db   *store.DB
	log  *slog.Logger
	disk disk
	hear func(ctx context.Context, path string, longest time.Duration, hold wait) (heard, error)
	now  func() time.Time

	lateEvery time.Duration

	hidden atomic.Pointer[map[string]bool]

	moving sync.Mutex        // guards moves in the media folder, and:
	gone   map[string]bool   // archived, perhaps unknown to the registry yet
	fresh  map[string]bool   // archived since the last rescan
	alias  map[string]string // other paths of what is hidden

	mu      sync.Mutex
	running *running
	free    chan struct{} // closed when what is running ends
	started time.Time     // of Run; zero before
	ended   time.Time     // of the last refresh
	health  map[string]Health
}

// running is the task that holds the pipeline.
type running struct {
	name  string
	since time.Time
	at    Progress
}

// Open reads the pipeline's journal; it moves nothing. Recover, which Run calls
// first, settles interrupted moves of an earlier process.
func Open(ctx context.Context, db *store.DB, opt Options) (*Content, error) {
	if err := opt.fill(); err != nil {
		return nil, err
	}
	if err := db.Upgrade(ctx, Schema()); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(opt.Work); err != nil {
		return nil, fmt.Errorf("empty the work folder: %w", err)
	}
	for _, dir := range []string{opt.Work, opt.Archive} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make the work and archive folders: %w", err)
		}
	}
	c := &Content{
		opt: opt, db: db, log: opt.Log, disk: realDisk{}, hear: listen, now: opt.Now, lateEvery: lateEvery,
		gone: map[string]bool{}, fresh: map[string]bool{}, alias: map[string]string{}, health: map[string]Health{},
	}
	c.hidden.Store(&map[string]bool{})
	open, err := c.entries(ctx, "state IN ('retiring', 'kept', 'archived')")
	if err != nil {
		return nil, err
	}
	hidden := map[string]bool{}
	for _, e := range open {
		full, ok := inside(opt.Media, e.path)
		if s, err := c.look(full, e.stamp); e.state == archived && (!ok || err == nil && s != nothing) {
			continue // another file has the name
		}
		hidden[e.path] = true
		if e.state != kept {
			c.gone[e.path] = true
		}
	}
	c.hidden.Store(&hidden)
	if opt.Changed != nil {
		opt.Changed(hidden)
	}
	c.ended, err = c.lastEnd(ctx)
	return c, err
}

func (o *Options) fill() error {
	for name, dir := range map[string]*string{"media": &o.Media, "archive": &o.Archive, "work": &o.Work} {
		if *dir == "" {
			return fmt.Errorf("content: the %s folder is not set", name)
		}
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return err
		}
		*dir = abs
	}
	if within(o.Media, o.Archive) || within(o.Media, o.Work) || within(o.Archive, o.Media) || within(o.Work, o.Media) || within(o.Work, o.Archive) {
		return errors.New("content: media, archive and work folder must not lie inside one another, or archived files would air")
	}
	def(&o.AfterBoot, 10*time.Minute)
	def(&o.MaxRun, 2*time.Hour)
	def(&o.LongestSong, 15*time.Minute)
	def(&o.MaxFile, 512<<20)
	def(&o.FetchTimeout, 15*time.Minute)
	def(&o.Stall, time.Minute)
	def(&o.Slowest, 16<<10) // slower than a song plays
	def(&o.SearchTime, 3*time.Minute)
	def(&o.SourceTime, time.Hour)
	def(&o.Parallel, 2)
	def(&o.MinFree, 2<<30)
	def(&o.Refused, 30*24*time.Hour)
	def(&o.Speech, SpeechRefuse)
	if o.Shares == nil {
		o.Shares = map[station.Category]float64{station.ArabicHits: 0.5, station.English: 0.25, station.Mashups: 0.15, station.Shorts: 0.1}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Free == nil {
		o.Free = file.Space
	}
	return nil
}

func def[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// within reports that one folder is the other or lies in it.
func within(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && (rel == "." || !strings.HasPrefix(rel, ".."))
}

// least is the mission's category minimum.
const least = 15

func (o *Options) keep(category station.Category) int {
	if n, ok := o.Keep[category]; ok {
		return max(least, n)
	}
	if category.Music() || category == station.Shorts {
		return 300
	}
	return 60
}

// Run settles interrupted moves of an earlier process, then refreshes every
// Options.Every, counted from the end of the last refresh of any trigger and any
// process. The first starts AfterBoot after the start at the earliest, so that the
// station is on air and its library scanned before anything changes. Meanwhile what could not
// leave for the archive is looked at again.
// Run returns when ctx has ended and its own refresh with it.
func (c *Content) Run(ctx context.Context) error {
	if end, err := c.begin("recovery"); err == nil { // else the task that holds the pipeline recovers
		if err := c.Recover(ctx); err != nil && ctx.Err() == nil {
			c.log.Error("cannot settle interrupted file moves", "err", err)
		}
		end()
	}
	c.moving.Lock()
	err := c.rescan(ctx)
	c.moving.Unlock()
	if err != nil && ctx.Err() == nil {
		c.log.Error("cannot scan the media folder: archived files stay hidden", "err", err)
	}
	started := c.now()
	c.mu.Lock()
	c.started = started
	c.mu.Unlock()
	daily := time.NewTicker(tidyEvery)
	defer daily.Stop()
	late := time.NewTicker(c.lateEvery)
	defer late.Stop()
	for ctx.Err() == nil {
		next := c.next(started)
		wait, free := time.Duration(1<<62), c.whenFree()
		if !next.IsZero() {
			wait = max(0, next.Sub(c.now()))
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-free: // a refresh by hand has ended: count anew
		case <-daily.C:
			c.tidy(ctx)
		case <-late.C:
			c.late(ctx)
		case <-timer.C:
			if c.next(started).After(c.now()) {
				break // somebody has refreshed meanwhile
			}
			c.due(ctx)
		}
		timer.Stop()
	}
	return nil
}

// due runs a scheduled refresh, in turn with other work.
func (c *Content) due(ctx context.Context) {
	run := func(ctx context.Context, show func(Progress)) (Result, error) {
		return c.refresh(ctx, DefaultRequest(), bySchedule, show)
	}
	var err error
	if c.opt.Queue != nil {
		err = c.opt.Queue(ctx, run)
	} else {
		_, err = run(ctx, nil)
	}
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, station.ErrConflict):
		c.waitFree(ctx)
	default:
		if !errors.Is(err, context.Canceled) {
			c.log.Error("content refresh failed", "err", err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = c.now() // a cancelled one counts as done
	}
}

// early reports that another refresh has run since the scheduled one was due, which may
// have waited for its turn behind it.
func (c *Content) early() bool {
	c.mu.Lock()
	started := c.started
	c.mu.Unlock()
	return c.next(started).After(c.now())
}

// next returns when the next scheduled refresh is due; zero: never.
func (c *Content) next(started time.Time) time.Time {
	if c.opt.Every <= 0 {
		return time.Time{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	soonest := started.Add(min(c.opt.AfterBoot, c.opt.Every))
	if due := c.ended.Add(c.opt.Every); due.After(soonest) {
		return due
	}
	return soonest
}

// begin takes the pipeline exclusively for one task.
func (c *Content) begin(name string) (end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.running; r != nil {
		at := ""
		if r.at.Step != "" {
			at = fmt.Sprintf(", at %s", r.at.Step.English())
		}
		return nil, fmt.Errorf("a %s is running since %s%s: %w", r.name, r.since.Format(time.TimeOnly), at, station.ErrConflict)
	}
	c.running, c.free = &running{name: name, since: c.now()}, make(chan struct{})
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running = nil
		close(c.free)
	}, nil
}

// whenFree returns a channel that closes when the running task ends; nil when none is running.
func (c *Content) whenFree() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		return nil
	}
	return c.free
}

// busyPause is the wait after a conflict when nothing is running any more.
const busyPause = 5 * time.Second

// waitFree waits until the running task or ctx has ended.
func (c *Content) waitFree(ctx context.Context) {
	free := c.whenFree()
	var full <-chan time.Time
	if free == nil {
		timer := time.NewTimer(busyPause)
		defer timer.Stop()
		full = timer.C
	}
	select {
	case <-free:
	case <-full:
	case <-ctx.Done():
	}
}
