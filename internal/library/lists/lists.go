// Package lists keeps playlists of the operator's own: what they play, how, and when. Their tracks
// are chosen one by one, found by a search, or named by a playlist at an address. Every change is
// kept with what was before it, so that it can be taken back; a file that is moved keeps its places.
//
// It decides nothing of what airs: the planner is told what there is (package rotation).
package lists

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/moves"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("lists", migrations) }

// Registry lists the library.
type Registry interface {
	moves.Registry
	// Tracks returns all tracks, sorted by path. The slice is never changed.
	Tracks() []station.Track
}

// Options of Lists. All but Now are required.
type Options struct {
	Log      *slog.Logger
	DB       *store.DB
	Registry Registry
	// Whole reports whether Registry lists all there is: not while a scan goes on.
	Whole func() bool
	// Standing says how each track of Registry stands.
	Standing func(tracks []station.Track) func(i int) (catalog.State, string)
	// Find calls with the path of every track that a search finds, in its order, until it returns
	// false.
	Find func(q catalog.Query, with func(path string) bool) error
	// Config is the station's, with its dayparts.
	Config func() rotation.Config
	Zone   *time.Location
	// Aired says when something of a playlist was last heard; zero: not yet.
	Aired func(id int64) time.Time
	Fetch Fetch
	Now   func() time.Time
}

// Fetch gets a small file from an address that is not of this machine or its network.
type Fetch interface {
	Document(ctx context.Context, r fetch.Request) (fetch.Document, error)
}

// Lists owns the playlists. Methods may be called from any goroutine; a change is on disk when its
// method returns nil.
type Lists struct {
	opt     Options
	turn    sync.Mutex // one change after another
	book    atomic.Pointer[book]
	own     signal.Changes // of what the planner is told, by an operator's hand
	resolve sync.Mutex     // one after another
	found   atomic.Pointer[found]
	watch   *moves.Watch // of Follow
	far     far
}

// book is all playlists. It is replaced as a whole and never changed.
type book struct {
	byID  map[int64]*record
	files map[string]moves.Stat // of items, as they were when last seen
}

// record is one playlist. It is never changed.
type record struct {
	Settings
	id      int64
	items   []string
	version int64
	changed int64 // Unix ms
	who     string
}

// sorted is the playlists by name.
func (b *book) sorted() []*record {
	return slices.SortedFunc(maps.Values(b.byID), func(a, b *record) int {
		if by := strings.Compare(rotation.Fold(a.Name), rotation.Fold(b.Name)); by != 0 {
			return by
		}
		return int(a.id - b.id)
	})
}

// Open reads the playlists.
func Open(ctx context.Context, opt Options) (*Lists, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate the tables of playlists: %w", err)
	}
	l := &Lists{opt: opt, watch: moves.Begin(opt.Now()), far: newFar()}
	b, err := readBook(ctx, opt.DB.Read())
	if err != nil {
		return nil, fmt.Errorf("read playlists: %w", err)
	}
	l.book.Store(b)
	if l.far.all, err = readRemotes(ctx, opt.DB.Read()); err != nil {
		return nil, fmt.Errorf("read what was fetched of playlists: %w", err)
	}
	l.look()
	return l, nil
}

// Subscribe returns a channel that receives when an operator, or a remote playlist, has changed
// what is to play: not when a search finds another track, which counts with the next plan.
func (l *Lists) Subscribe() (<-chan struct{}, func()) { return l.own.Subscribe() }

// Current is what the planner is told: playlists that are on, with the tracks that they have.
func (l *Lists) Current() []rotation.List { return l.found.Load().lists }

// record returns a playlist. The error is of kind station.ErrNotFound.
func (b *book) record(id int64) (*record, error) {
	if r, ok := b.byID[id]; ok {
		return r, nil
	}
	return nil, fmt.Errorf("there is no playlist %d: %w", id, station.ErrNotFound)
}

// Run keeps playlists up to date until ctx ends: with files that are moved, with what searches find,
// and with what lies at addresses.
func (l *Lists) Run(ctx context.Context) error {
	var all sync.WaitGroup
	all.Go(func() { _ = moves.Run(ctx, l.opt.Log, l.opt.Registry, l.opt.Whole, l.Follow) })
	all.Go(func() { l.runRemotes(ctx) })
	changed, cancel := l.opt.Registry.Subscribe()
	defer cancel()
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	l.look() // what has changed since Open
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-changed:
			select { // a scan tells of every file
			case <-ctx.Done():
			case <-time.After(settles):
			}
			l.look()
		case <-ticks.C:
			l.look()
		}
	}
	all.Wait()
	return nil
}

// lookEvery is how often is looked at what changes without a sign: searches by what airs, and
// tracks whose copies are made.
const (
	lookEvery = 30 * time.Second
	settles   = time.Second
)
