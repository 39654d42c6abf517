// Package overlay keeps what an operator says of tracks, over what their files and folders
// say: names, category, where they begin and end on the air, and limits of their own. Files
// are never changed, so that each change can be taken back, and every change is kept with
// what was before it for a year.
//
// It looks at no file and decides nothing of what airs.
package overlay

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/moves"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("overlay", migrations) }

// Registry lists the media folder.
type Registry interface {
	// Tracks returns all tracks, sorted by path. The slice is never changed.
	Tracks() []station.Track
	// Subscribe returns a channel that receives after every change; several may become one
	// signal.
	Subscribe() (changed <-chan struct{}, cancel func())
}

// Options of an Overlay. All but Now, Changed and Pictured are required.
type Options struct {
	Log      *slog.Logger
	DB       *store.DB
	Registry Registry
	// Whole reports whether Registry lists all there is: not while a scan goes on. What is
	// missing then may still come.
	Whole func() bool
	// Changed is told of the fields of some tracks that a deed has just changed.
	Changed func(paths, fields []string)
	// Pictured reports that there is a picture of an id, and keeps it from being removed as one
	// that nothing names.
	Pictured func(id string) bool
	Now      func() time.Time
}

// Overlay is the registry with all notes on it. Methods may be called from any goroutine; a
// change is on disk when its method returns nil.
type Overlay struct {
	opt   Options
	turn  sync.Mutex // one change after another
	notes atomic.Pointer[notes]
	own   signal.Changes // of notes

	mu    sync.Mutex
	shown composed

	watch *moves.Watch // of Follow
}

// notes are all notes, by path. They are replaced as a whole and never changed.
type notes struct {
	byPath map[string]kept
	sorted []string // paths
}

// kept is a note, and the file that it was last seen with.
type kept struct {
	Note
	moves.Stat
}

// composed is the registry with notes on it.
type composed struct {
	from   []station.Track
	notes  *notes
	tracks []station.Track
}

// Open reads the notes.
func Open(ctx context.Context, opt Options) (*Overlay, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Changed == nil {
		opt.Changed = func([]string, []string) {}
	}
	if opt.Pictured == nil {
		opt.Pictured = func(string) bool { return true }
	}
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate tables of the overlay: %w", err)
	}
	o := &Overlay{opt: opt, watch: moves.Begin(opt.Now())}
	all, err := readNotes(ctx, opt.DB.Read())
	if err != nil {
		return nil, fmt.Errorf("read what is said of tracks: %w", err)
	}
	o.notes.Store(newNotes(all))
	return o, nil
}

func newNotes(all map[string]kept) *notes {
	return &notes{byPath: all, sorted: slices.Sorted(maps.Keys(all))}
}

// Tracks returns all tracks with what is said of them, sorted by path. It is the same slice
// while nothing changes, and must not be changed.
func (o *Overlay) Tracks() []station.Track {
	from, n := o.opt.Registry.Tracks(), o.notes.Load()
	if len(n.byPath) == 0 {
		return from
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := &o.shown; s.notes != n || !station.Same(s.from, from) {
		*s = composed{from, n, n.over(from, s)}
	}
	return o.shown.tracks
}

// over puts the notes on tracks. What was so before stays the same track: whoever compares
// tracks finds no change where there is none.
func (n *notes) over(from []station.Track, was *composed) []station.Track {
	out := slices.Clone(from)
	for _, path := range n.sorted {
		i, there := station.Find(from, path)
		if !there || from[i].Submitter != "" {
			continue
		}
		if was.notes != nil {
			if j, before := station.Find(was.from, path); before && was.from[j] == from[i] && (was.notes == n || reflect.DeepEqual(was.notes.byPath[path].Note, n.byPath[path].Note)) {
				if k, still := station.Find(was.tracks, path); still {
					out[i] = was.tracks[k]
					continue
				}
			}
		}
		out[i] = n.byPath[path].over(from[i])
	}
	return out
}

func (k kept) equal(other kept) bool {
	a, errA := json.Marshal(k.Note)
	b, errB := json.Marshal(other.Note)
	return errA == nil && errB == nil && string(a) == string(b)
}

// Note is what is said of a track; false where nothing is.
func (o *Overlay) Note(path string) (Note, bool) {
	k, ok := o.notes.Load().byPath[path]
	return k.Note, ok
}

// File is a track as its file and folder say.
func (o *Overlay) File(path string) (station.Track, bool) {
	all := o.opt.Registry.Tracks()
	i, ok := station.Find(all, path)
	if !ok {
		return station.Track{}, false
	}
	return all[i], true
}

// Subscribe returns a channel that receives after every change of the registry or of a note.
func (o *Overlay) Subscribe() (<-chan struct{}, func()) {
	return signal.Any(o.opt.Registry.Subscribe, o.own.Subscribe)
}
