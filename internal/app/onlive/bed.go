package onlive

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/node/depot"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/station"
)

// mostBeds bounds what the beds of shows may take of the node's disk, in bytes: an hour of
// FLAC is 0.4 GB.
const mostBeds = 1 << 30

// beds are the beds of shows on a node that shares no disk with the control plane. They have
// a folder of their own: the engine's cache removes what no playlist names, and ends a pull
// under way for the next.
type beds struct {
	log   *slog.Logger
	store *depot.Depot
	shelf delivery.Shelf

	mu    sync.Mutex
	users map[string]int // of a file: those who play it, or wait for it
}

// openBeds begins with an empty folder: what a show before left behind may be outdated.
func openBeds(cfg *config.Config, log *slog.Logger) (*beds, error) {
	dir := cfg.BedDir()
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("clear the folder of beds: %w", err)
	}
	return &beds{
		log: log, shelf: delivery.Shelf{Root: dir}, users: map[string]int{},
		store: depot.New(depot.Options{
			Log: log, Playlist: filepath.Join(dir, "none"), Dir: dir, MaxBytes: mostBeds, Remedy: "use a shorter file",
			Control: "http://" + cfg.ControlAddress(), Token: cfg.Secret(config.SyncToken),
		}),
	}, nil
}

// Fetch pulls the file that airs for a path of the library, and returns where it lies. It
// lies there until all who fetched it are done; who fetches it later gets what airs then.
func (b *beds) Fetch(ctx context.Context, rel string) (path string, done func(), err error) {
	if !filepath.IsLocal(rel) {
		return "", nil, fmt.Errorf("bed %.80q: must be a path of the library: %w", rel, station.ErrInvalid)
	}
	path = b.shelf.Path(rel, rel, delivery.AnyVersion)
	first := b.enter(path)
	done = sync.OnceFunc(func() { b.leave(path) })
	if err := b.store.Pull(ctx, path); err != nil {
		done()
		return "", nil, fmt.Errorf("pull the bed %.80q: %w", rel, err)
	}
	if first {
		b.log.Info("bed of the show pulled", "file", rel)
	}
	return path, done, nil
}

// enter counts one more user of a file. What lies there before the first could not be removed.
func (b *beds) enter(path string) (first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users[path]++
	if first = b.users[path] == 1; first {
		_ = os.Remove(path)
	}
	return first
}

func (b *beds) leave(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users[path]--; b.users[path] == 0 {
		delete(b.users, path)
		_ = os.Remove(path) // if not now, before it is wanted again
	}
}
