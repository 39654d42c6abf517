// Package moves finds where files of the library have gone that something is said of, so that
// it goes with them. It knows a file by its size and its time, which a move keeps.
package moves

import (
	"context"
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Stat tells a file from others.
type Stat struct{ Size, ModTime int64 }

// StatOf is that of a track's file.
func StatOf(t station.Track) Stat { return Stat{t.Size, t.ModTime.UnixNano()} }

// overlap is for how long a moved file may be listed at both its places.
const overlap = time.Minute

// Watch remembers when each file that something is said of was last there. It is for one
// goroutine at a time.
type Watch struct {
	began time.Time
	there map[string]time.Time // by path, since began
}

// Begin makes a Watch.
func Begin(now time.Time) *Watch { return &Watch{began: now} }

// Look compares what is known of files with the files, sorted by path. moved has the path before
// of each new one; seen has what files are by now that stayed and were changed.
//
// A file that is gone and has one of the same size and time elsewhere, of which nothing is
// known, was moved: unless that one was there before, as a copy is.
func (w *Watch) Look(known map[string]Stat, files []station.Track, now time.Time) (moved map[string]string, seen map[string]Stat) {
	seen = map[string]Stat{}
	var missing []string
	before := w.there
	w.there = make(map[string]time.Time, len(known))
	for path, is := range known {
		i, there := station.Find(files, path)
		switch {
		case !there:
			missing = append(missing, path)
			if at, told := before[path]; told {
				w.there[path] = at
			}
			continue
		case StatOf(files[i]) != is:
			seen[path] = StatOf(files[i])
		}
		w.there[path] = now
	}
	return w.moved(known, missing, files), seen
}

// moved finds where missing files are now: from a new path to the one before. What may be in two
// places is in none, and none is where a file was while the missing one was there; of what was
// not seen since the watch began, its beginning is the time.
func (w *Watch) moved(known map[string]Stat, missing []string, files []station.Track) map[string]string {
	lost := map[Stat][]string{}
	for _, path := range missing {
		lost[known[path]] = append(lost[known[path]], path)
	}
	found, added := map[Stat][]string{}, map[string]time.Time{}
	for i := 0; i < len(files) && len(lost) > 0; i++ {
		s := StatOf(files[i])
		if _, sought := lost[s]; !sought {
			continue
		}
		if _, has := known[files[i].Path]; !has {
			found[s] = append(found[s], files[i].Path)
			added[files[i].Path] = files[i].AddedAt
		}
	}
	out := map[string]string{}
	for s, to := range found {
		from := lost[s]
		if len(to) != 1 || len(from) != 1 {
			continue
		}
		at, told := w.there[from[0]]
		if !told {
			at = w.began
		}
		if !added[to[0]].Before(at.Add(-overlap)) {
			out[to[0]] = from[0]
		}
	}
	return out
}

// settles is how long a change of the registry is left alone: files that are moved go before
// they come.
const settles = 2 * time.Second

// Registry lists the media folder.
type Registry interface {
	// Subscribe returns a channel that receives after every change; several may become one
	// signal.
	Subscribe() (changed <-chan struct{}, cancel func())
}

// Run follows the files of a registry until ctx ends, while whole says that it lists all there
// is: what is missing during a scan may still come.
func Run(ctx context.Context, log *slog.Logger, registry Registry, whole func() bool, follow func(context.Context) error) error {
	changed, cancel := registry.Subscribe()
	defer cancel()
	for {
		if whole() {
			if err := follow(ctx); err != nil && ctx.Err() == nil {
				log.Warn("cannot keep what is said of tracks with their files", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(settles):
		}
	}
}
