// Package deck shows planner and pages the tracks they may use: those that can air,
// minus those that leave for the archive. It decides neither: media registers the
// files, aircopy decides which can air, and content decides which leave.
package deck

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/station"
)

// Deck is the library as planner and pages see it.
type Deck struct {
	lib  *media.Library
	rack *aircopy.Rack
	subs signal.Changes

	guests Guests // nil: none

	mu      sync.Mutex
	leaving map[string]bool // paths that must not be planned; replaced, never changed
	hides   uint64          // how often it was replaced
	source  state           // what shown was built from
	shown   *media.Snapshot
}

// state identifies what a snapshot was built from. The copies publish progress far
// more often than anything changes.
type state struct {
	lib    *media.Snapshot
	rack   uint64 // generation
	begins bool   // the first songs are still to come
	silent bool   // some files are undecided and nothing of them airs
	hides  uint64
	guests *[]station.Track
}

// Guests are tracks that are in no deck: they are found by their path alone.
type Guests interface {
	// Tracks returns them, sorted by path. The pointer is the same one while nothing changes.
	Tracks() *[]station.Track
	Subscribe() (changed <-chan struct{}, cancel func())
}

// Include adds guests. It is called before the first use.
func (d *Deck) Include(g Guests) { d.guests = g }

// New makes the deck of a registry and its on-air copies, with no path hidden.
func New(lib *media.Library, rack *aircopy.Rack) *Deck { return &Deck{lib: lib, rack: rack} }

// Hide replaces the set of paths that must not be planned. When it returns, no new
// snapshot has them. The caller must not change the map afterwards.
func (d *Deck) Hide(leaving map[string]bool) {
	d.mu.Lock()
	d.leaving, d.hides = leaving, d.hides+1
	d.mu.Unlock()
	d.subs.Tell()
}

// Snapshot is the library at this moment. Its slices are the same ones while
// nothing changes.
func (d *Deck) Snapshot() *media.Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	lib, copies := d.lib.Snapshot(), d.rack.Snapshot()
	now := state{lib, copies.Generation, begins(lib, copies), copies.Work.Silent > 0, d.hides, nil}
	if d.guests != nil {
		now.guests = d.guests.Tracks()
	}
	if d.shown == nil || d.source != now {
		d.shown, d.source = d.compose(lib, copies, d.leaving, now.guests), now
	}
	return d.shown
}

func (d *Deck) compose(lib *media.Snapshot, copies *aircopy.Snapshot, leaving map[string]bool, guests *[]station.Track) *media.Snapshot {
	old := d.shown
	s := *lib
	s.Tracks = copies.Tracks
	if begins(lib, copies) {
		s.Tracks = nil
	}
	if len(leaving) > 0 {
		s.Tracks = slices.DeleteFunc(slices.Clone(s.Tracks), func(t station.Track) bool { return leaving[t.Path] })
	}
	if guests != nil && len(*guests) > 0 {
		s.Tracks = slices.Concat(s.Tracks, *guests)
		slices.SortFunc(s.Tracks, func(a, b station.Track) int { return cmp.Compare(a.Path, b.Path) })
	}
	if old != nil && slices.Equal(old.Tracks, s.Tracks) {
		s.Tracks = old.Tracks // an index built from it stays valid
	}
	s.Succeed(old)
	s.Decks = media.DecksOf(s.Tracks)
	s.Quarantined = slices.Clone(lib.Quarantined)
	for _, r := range copies.Refused {
		s.Quarantined = append(s.Quarantined, media.Quarantine{Path: r.Path, Reason: r.Reason, Since: r.Since})
	}
	slices.SortFunc(s.Quarantined, func(a, b media.Quarantine) int { return cmp.Compare(a.Path, b.Path) })
	// On a first start, files are registered before any can air.
	s.Scanning = s.Scanning || len(s.Tracks) == 0 && copies.Work.Silent > 0 && copies.Problem == ""
	if old != nil {
		s.Generation = old.Generation + 1
	}
	return &s
}

// begins reports that no song can air yet while some are about to: a station does not
// begin with a list of imaging alone.
func begins(lib *media.Snapshot, copies *aircopy.Snapshot) bool {
	if slices.ContainsFunc(copies.Tracks, func(t station.Track) bool { return t.Category.Music() && t.Submitter == "" }) {
		return false
	}
	return copies.Problem == "" && (copies.Work.Songs > 0 || lib.Scanning && lib.ScannedAt.IsZero())
}

// Tracks implements scheduler.Library.
func (d *Deck) Tracks() ([]station.Track, bool) {
	s := d.Snapshot()
	return s.Tracks, s.Scanning
}

// Find implements scheduler.Library.
func (d *Deck) Find(path string) (station.Track, bool) { return d.Snapshot().Find(path) }

// Subscribe implements scheduler.Library.
func (d *Deck) Subscribe() (<-chan struct{}, func()) {
	all := []func() (<-chan struct{}, func()){d.rack.Subscribe, d.subs.Subscribe}
	if d.guests != nil {
		all = append(all, d.guests.Subscribe)
	}
	return signal.Any(all...)
}

// followPatience bounds how long the on-air copies may take to follow the registry.
const followPatience = 30 * time.Second

// Scan compares the media folder with the registry, or some paths in it, and returns once
// removed files have left the deck.
func (d *Deck) Scan(ctx context.Context, paths ...string) error {
	changed, stop := d.rack.Subscribe()
	defer stop()
	look := func() (media.Report, error) { return d.lib.Scan(ctx, nil) }
	if len(paths) > 0 {
		look = func() (media.Report, error) { return d.lib.Look(ctx, paths...) }
	}
	if _, err := look(); err != nil {
		return fmt.Errorf("register the library: %w", err)
	}
	late := time.NewTimer(followPatience)
	defer late.Stop()
	for {
		lib := d.lib.Snapshot()
		left := slices.ContainsFunc(d.rack.Snapshot().Tracks, func(t station.Track) bool {
			_, there := lib.Find(t.Path)
			return !there
		})
		if !left {
			return nil
		}
		select {
		case <-changed:
		case <-late.C:
			return fmt.Errorf("removed files are still in the deck, try again: %w", station.ErrUnavailable)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
