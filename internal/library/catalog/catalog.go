// Package catalog browses a library of 100,000 tracks without a stall: it searches in both
// scripts, sorts, counts by facets, and gives any part of a list at the cost of that part.
//
// It holds what it needs of one state of the library, prepared once; it changes nothing, and
// decides nothing of what airs.
package catalog

import (
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// State is how a track stands.
type State string

// The states. A track has one of the first three; the others are asked for beside it.
const (
	Airs     State = "airs"    // it may be chosen
	Waiting  State = "waiting" // its on-air copy is being made
	Refused  State = "refused" // it cannot air
	Leaving  State = "archived-soon"
	Edited   State = "edited"  // something is said of it
	Cut      State = "cut"     // not all of it airs
	Limited  State = "limited" // it has limits of its own
	NeverYet State = "never"   // it has not aired
)

// States returns all of them.
func States() []State {
	return []State{Airs, Waiting, Refused, Leaving, Edited, Cut, Limited, NeverYet}
}

// Aired is what is known of a track's airings.
type Aired struct {
	Last  time.Time // zero: never
	Plays int       // of late
}

// Source is the library at this moment.
type Source interface {
	// Tracks are all, sorted by path; the slice is the same one while nothing changes.
	Tracks() []station.Track
	// Standing says how each of those tracks stands, and why one does not air.
	Standing(tracks []station.Track) func(i int) (State, string)
	// Aired says when each has aired.
	Aired() func(path string) Aired
}

// Options of a Catalog.
type Options struct {
	Source Source
	Now    func() time.Time
	// Patience is how long an answer waits for what has just changed, before it is of a moment
	// ago: a quarter of a second.
	Patience time.Duration
}

// Catalog answers queries. Its methods may be called from any goroutine.
type Catalog struct {
	opt Options

	mu     sync.Mutex
	shelf  *shelf
	making chan struct{} // closed once another shelf is there; nil: none is being made
	lists  lists
	hold   func() // before a shelf is made: for tests
}

// New makes one of a source.
func New(opt Options) *Catalog {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Patience == 0 {
		opt.Patience = time.Second / 4
	}
	return &Catalog{opt: opt, hold: func() {}}
}

// worn bounds how much of its time the catalog spends on making shelves while the library
// keeps changing: a shelf is used for so many times as long as it took to make.
const worn = 5

// current returns the shelf of the library as it is, or as it was a moment ago where a new
// one would be made too often, or is still being made.
func (c *Catalog) current() *shelf {
	c.mu.Lock()
	was, tracks := c.shelf, c.opt.Source.Tracks()
	if was != nil && (station.Same(was.tracks, tracks) || c.opt.Now().Before(was.made.Add(worn*was.cost()))) {
		c.mu.Unlock()
		return was
	}
	if c.making == nil {
		c.making = make(chan struct{})
		go c.make(tracks, was, c.making)
	}
	made := c.making
	c.mu.Unlock()
	if was == nil {
		<-made
		return c.latest()
	}
	patience := time.NewTimer(c.opt.Patience)
	defer patience.Stop()
	select {
	case <-made:
		return c.latest()
	case <-patience.C:
		return was
	}
}

func (c *Catalog) latest() *shelf {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shelf
}

// make puts a new shelf in the place of one, with what that was asked for prepared.
func (c *Catalog) make(tracks []station.Track, was *shelf, made chan struct{}) {
	c.hold()
	begin := c.opt.Now()
	// Another process begins with another number: what a page has of an earlier one is old.
	generation := uint64(max(begin.UnixMilli(), 0)) * 1000 //nolint:gosec // not negative
	if was != nil {
		generation = was.generation + 1
	}
	next := newShelf(tracks, generation, c.opt.Now)
	next.took = max(0, c.opt.Now().Sub(begin))
	if was != nil {
		next.prepare(was)
	}
	next.made = c.opt.Now()
	c.mu.Lock()
	c.shelf, c.making = next, nil
	c.mu.Unlock()
	c.lists.clear()
	close(made)
}
