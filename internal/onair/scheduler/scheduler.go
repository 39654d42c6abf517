// Package scheduler is the sole owner of the on-air rotation. One goroutine
// takes every order; each change is one commit: build, push, verify, reload.
// Everything a listener or operator may read is an immutable View.
//
// It does not choose what is played (rotation does) and writes no playlist
// (delivery does).
package scheduler

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/wallclock"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("onair", migrations) }

// Library is what there is to play.
type Library interface {
	// Tracks returns everything playable and whether a scan is still adding to
	// it. The slice is shared: it is never changed.
	Tracks() (tracks []station.Track, scanning bool)
	// Find returns the track with that path.
	Find(path string) (station.Track, bool)
	// Subscribe signals changes, many as one; cancel ends it.
	Subscribe() (changed <-chan struct{}, cancel func())
}

// Delivery puts a rotation in place on the broadcast node.
type Delivery interface {
	// Push writes and verifies; it returns how many items, from the first, are in
	// place: as many as fit the file, or as a node on a slow line has the media of. A
	// *MissingError names media files that are not in place.
	Push(ctx context.Context, items []playlist.Item) (kept int, err error)
	// InPlace returns what the node has now; nil when it has none.
	InPlace(ctx context.Context) ([]playlist.Item, error)
}

// MissingError says that media files of a push are not in place on the node.
type MissingError struct{ Paths []string } // absolute

func (e *MissingError) Error() string {
	return fmt.Sprintf("%d media files are missing, first %q", len(e.Paths), e.Paths[0])
}

// Options of a Scheduler. All are required but Engine, without which Skip and
// Play are unavailable, Overlay, Lists and Tells.
type Options struct {
	Log      *slog.Logger
	DB       *store.DB
	Library  Library
	Delivery Delivery
	Engine   Engine
	Config   rotation.Config // until Configure
	Zone     *time.Location
	// Overlay returns what listeners bring. Paths that are not in the library are dropped.
	Overlay func() rotation.Overlay
	// Lists returns the operator's playlists that are switched on. The slice is shared: it
	// is never changed. Nil: none. See ListsChanged.
	Lists func() []rotation.List
	// Airs turns a path relative to the media root into the node's absolute one, of the
	// file that airs, and the gain (dB) it needs; Rel turns it back, false for a foreign
	// path.
	Airs func(rel string) (abs string, gain float64)
	Rel  func(abs string) (rel string, ok bool)
	// Tells returns the time that a bulletin tells; zero for any other path. Nil:
	// no track tells a time.
	Tells func(rel string) time.Time
	Now   func() time.Time
	Seed  func() uint64
}

const (
	// watchdogEvery is the mission's daypart watchdog.
	watchdogEvery = time.Minute
	// retryAfter is the pause after a commit that failed. While the media folder is
	// away it doubles with each one, up to retryMost: each looks at hundreds of files.
	// A change of the library is followed at once all the same.
	retryAfter = 3 * time.Second
	retryMost  = time.Minute
	// growthPause keeps a library that is being filled from rebuilding at every file.
	growthPause = 10 * time.Second
	// losePause keeps the removal of many files from rebuilding at every one.
	losePause = time.Second
	// fewTracks are so few that a list of them is soon heard as a repetition: it is built
	// anew at each doubling of the library.
	fewTracks = 16
	// driftPause keeps a playlist of a search that finds something now and nothing then from
	// rebuilding each time.
	driftPause = 10 * time.Minute
	// firstPatience is how long a first start waits for more than a few files.
	firstPatience = 700 * time.Millisecond
)

// Scheduler owns the on-air rotation. Make one with Open.
type Scheduler struct {
	opt    Options
	log    *slog.Logger
	orders chan order
	done   chan struct{} // closed when Run has returned
	turn   chan struct{} // of capacity 1: see take
	view   atomic.Pointer[View]
	// changes signals each new view.
	changes signal.Changes
	renewed atomic.Bool   // see RenewNews
	listed  chan struct{} // of capacity 1: see ListsChanged
	aside   asideIndex

	// The rest belongs to Run's goroutine.
	clock   *wallclock.Watch
	cfg     rotation.Config
	rot     rotation.Rotation
	state   rotation.State
	air     OnAir
	past    []OnAir          // newest first
	ahead   []string         // held, and heard ahead of their places since the last commit
	deeds   []done           // changes by hand that can be taken back, the newest last
	queued  []string         // opens each rotation until it was heard, next first
	failed  map[int]string   // why entries of rot could not be aired, by index
	heard   bool             // a track has begun since the last decision
	early   string           // reason to rebuild: what is to come was heard ahead of its place
	before  []replaced       // what the engine may still open of earlier rotations
	reason  string           // of the last rebuild
	problem string           // why the last commit failed
	full    bool             // that was a full disk
	owed    change           // the rebuild that failed
	rest    []rotation.Entry // follows rot, once the node has its media
	// delivered is rot as the node was given it; empty after a start.
	delivered []playlist.Item
	misses    int // commits in a row that failed because the media folder is away
	index     *rotation.Index
	tracks    []station.Track // the index was made of
	lists     []rotation.List // the rotation was built with
	relisted  bool            // they may have changed since
	// away are playlists of earlier rotations that there were not for a later one, without
	// their tracks.
	away    map[int64]rotation.List
	built   deckSizes // of the library the rotation was built from
	builtAt time.Time
	// firstSeen is when a station without a rotation first had something to play.
	firstSeen time.Time
	restart   bool      // the rebuild after a restart is still due
	pruned    time.Time // when turns were last pruned
}

// order is one thing the scheduler is asked to do.
type order struct {
	do    func(ctx context.Context) error
	reply chan error // capacity 1
}

// Open reads what was committed and finds out what is on air.
func Open(ctx context.Context, opt Options) (*Scheduler, error) {
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate on-air tables: %w", err)
	}
	s := &Scheduler{
		opt: opt, log: opt.Log, orders: make(chan order), done: make(chan struct{}), turn: make(chan struct{}, 1),
		listed: make(chan struct{}, 1), clock: wallclock.New(opt.Now), cfg: opt.Config,
	}
	if err := s.recall(ctx); err != nil {
		return nil, fmt.Errorf("read the saved on-air state: %w", err)
	}
	s.restart = len(s.rot.Entries) > 0 // a first start has nothing to renew
	s.publish()
	return s, nil
}

// View returns the latest state; it is never changed after.
func (s *Scheduler) View() *View { return s.view.Load() }

// Subscribe signals each new view, many as one; cancel ends it.
func (s *Scheduler) Subscribe() (changed <-chan struct{}, cancel func()) {
	return s.changes.Subscribe()
}

// Run takes orders until ctx ends.
func (s *Scheduler) Run(ctx context.Context) error {
	defer close(s.done)
	changed, cancel := s.opt.Library.Subscribe()
	defer cancel()
	watchdog := time.NewTicker(watchdogEvery)
	defer watchdog.Stop()
	again := time.NewTimer(0) // the first build is due at once
	defer again.Stop()
	outdated := time.NewTimer(0) // stopped or set anew after each turn
	defer outdated.Stop()
	leaps := time.NewTicker(leapEvery)
	defer leaps.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-leaps.C:
			if !s.followClock(again) {
				continue
			}
		case o := <-s.orders:
			s.followClock(again) // before the times of a marker are compared
			err = o.do(ctx)
			o.reply <- err
			var failed *commitError
			if !errors.As(err, &failed) {
				err = s.settle(ctx, rotation.Write)
			}
		case <-changed:
			err = s.libraryChanged(ctx)
		case <-s.listed:
			s.relisted = true
			err = s.libraryChanged(ctx)
		case <-watchdog.C:
			s.pruneTurns(ctx)
			err = s.settle(ctx, rotation.Watchdog)
		case <-again.C:
			err = s.libraryChanged(ctx)
		case <-outdated.C:
			err = s.withdraw(ctx)
		}
		if wait, due := s.due(err); due {
			again.Reset(wait)
		}
		s.guard(outdated)
	}
}

// commitError says that a due rebuild failed and is tried again.
type commitError struct{ err error }

func (e *commitError) Error() string { return e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }

// due returns when to try again, if at all, and keeps the reason of a failure.
func (s *Scheduler) due(err error) (time.Duration, bool) {
	var wait *notYet
	switch {
	case err == nil:
		return 0, false
	case errors.As(err, &wait):
		return wait.after, true
	case errors.Is(err, context.Canceled):
		return 0, false
	}
	s.log.Error("rotation not committed, the old one stays on air", "err", err)
	s.problem, s.full = err.Error(), errors.Is(err, store.ErrDiskFull)
	s.publish()
	var away *awayError
	if !errors.As(err, &away) {
		s.misses = 0
		return retryAfter, true
	}
	s.misses++
	return retry.Doubled(retryAfter, retryMost, s.misses), true
}

// ask hands an order to Run and waits for its answer.
func (s *Scheduler) ask(ctx context.Context, do func(context.Context) error) error {
	o := order{do: do, reply: make(chan error, 1)}
	select {
	case s.orders <- o:
	case <-s.done:
		return fmt.Errorf("scheduler has stopped: %w", station.ErrUnavailable)
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-o.reply:
		return err
	case <-s.done:
	}
	select {
	case err := <-o.reply: // answered just before Run returned
		return err
	default:
		return fmt.Errorf("scheduler has stopped: %w", station.ErrUnavailable)
	}
}

// Rebuild builds a new rotation however fresh the old one is, pushes it and
// returns once it is committed. It never begins with the last aired track.
func (s *Scheduler) Rebuild(ctx context.Context) error {
	return s.askCalm(ctx, func(ctx context.Context) error {
		if tracks, _ := s.opt.Library.Tracks(); len(tracks) == 0 {
			return fmt.Errorf("nothing to play, the library is empty: %w", station.ErrConflict)
		}
		return s.rebuild(ctx, change{reason: forced()})
	})
}

func forced() string { return rotation.Decide(rotation.Situation{Cause: rotation.Forced}).Reason }
