package app

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// deck is the library as planner and pages see it: what is fit to air, less
// what is leaving for the archive.
type deck struct {
	lib  *media.Library
	rack *aircopy.Rack
	// leaving is the set of paths that nobody may plan any more; set before the
	// first question. It is another map after each change.
	leaving func() map[string]bool
	subs    signal.Changes

	mu    sync.Mutex
	of    deckState       // what shown was made of
	held  map[string]bool // of.leaving itself: as long as it is held, no other map has its address
	shown *media.Snapshot
}

// deckState tells one state of the parts from another. The copies show how
// their work goes on far more often than anything changes.
type deckState struct {
	lib     *media.Snapshot
	rack    uint64 // generation
	silent  bool   // some files are not decided, and nothing airs of them
	leaving uintptr
}

func newDeck(lib *media.Library, rack *aircopy.Rack) *deck {
	return &deck{lib: lib, rack: rack, leaving: func() map[string]bool { return nil }}
}

// Snapshot is the library at this moment. Its slices are the same ones while
// nothing changes.
func (d *deck) Snapshot() *media.Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	lib, copies, leaving := d.lib.Snapshot(), d.rack.Snapshot(), d.leaving()
	now := deckState{lib, copies.Generation, copies.Work.Silent > 0, reflect.ValueOf(leaving).Pointer()}
	if d.shown == nil || d.of != now {
		d.shown, d.of, d.held = d.compose(lib, copies, leaving), now, leaving
	}
	return d.shown
}

func (d *deck) compose(lib *media.Snapshot, copies *aircopy.Snapshot, leaving map[string]bool) *media.Snapshot {
	old := d.shown
	s := *lib
	s.Tracks = copies.Tracks
	if len(leaving) > 0 {
		s.Tracks = slices.DeleteFunc(slices.Clone(s.Tracks), func(t station.Track) bool { return leaving[t.Path] })
	}
	if old != nil && slices.Equal(old.Tracks, s.Tracks) {
		s.Tracks = old.Tracks // an index made of it still holds
	}
	s.Decks = media.DecksOf(s.Tracks)
	s.Quarantined = slices.Clone(lib.Quarantined)
	for _, r := range copies.Refused {
		s.Quarantined = append(s.Quarantined, media.Quarantine{Path: r.Path, Reason: r.Reason, Since: r.Since})
	}
	slices.SortFunc(s.Quarantined, func(a, b media.Quarantine) int { return cmp.Compare(a.Path, b.Path) })
	// A first start has files before it has any that may air.
	s.Scanning = s.Scanning || len(s.Tracks) == 0 && copies.Work.Silent > 0
	if old != nil {
		s.Generation = old.Generation + 1
	}
	return &s
}

// mastering is how far the copies are, for pages.
func (d *deck) mastering() api.Mastering {
	s := d.rack.Snapshot()
	out := api.Mastering{Waiting: s.Work.Waiting, Silent: s.Work.Silent, LeftMS: s.Work.Left.Milliseconds(), Problem: s.Problem}
	if len(s.Work.Current) > 0 {
		out.InWork = s.Work.Current[0].Path
	}
	return out
}

// Tracks implements scheduler.Library.
func (d *deck) Tracks() ([]station.Track, bool) {
	s := d.Snapshot()
	return s.Tracks, s.Scanning
}

// Find implements scheduler.Library.
func (d *deck) Find(path string) (station.Track, bool) { return d.Snapshot().Find(path) }

// Subscribe implements scheduler.Library.
func (d *deck) Subscribe() (<-chan struct{}, func()) {
	made, end := d.rack.Subscribe()
	left, leave := d.subs.Subscribe()
	out, stop := make(chan struct{}, 1), make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-made:
			case <-left:
			case <-stop:
				return
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	})
	return out, sync.OnceFunc(func() {
		close(stop)
		done.Wait()
		end()
		leave()
	})
}

// followPatience bounds how long the on-air copies may take to follow the registry.
const followPatience = 30 * time.Second

// scan compares the media folder with the registry, and returns once what is
// gone is not in the deck any more.
func (d *deck) scan(ctx context.Context) error {
	changed, stop := d.rack.Subscribe()
	defer stop()
	if _, err := d.lib.Scan(ctx, nil); err != nil {
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
			return fmt.Errorf("what has gone from the library is still planned: %w", station.ErrUnavailable)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// changed is told that the set of what is leaving is another one.
func (d *deck) changed() { d.subs.Tell() }
