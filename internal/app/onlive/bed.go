package onlive

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

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
	store *depot.Depot
	shelf delivery.Shelf
}

// openBeds begins with an empty folder: what a show before left behind may be outdated.
func openBeds(cfg *config.Config, log *slog.Logger) (*beds, error) {
	dir := cfg.BedDir()
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("clear the folder of beds: %w", err)
	}
	return &beds{
		store: depot.New(depot.Options{
			Log: log, Playlist: filepath.Join(dir, "none"), Dir: dir, MaxBytes: mostBeds, Control: "http://" + cfg.ControlAddress(), Token: cfg.SyncToken,
		}),
		shelf: delivery.Shelf{Root: dir},
	}, nil
}

// Fetch pulls the file that airs for a path of the library, and returns where it lies.
func (b *beds) Fetch(ctx context.Context, rel string) (path string, done func(), err error) {
	if !filepath.IsLocal(rel) {
		return "", nil, fmt.Errorf("bed %.80q: must be a path of the library: %w", rel, station.ErrInvalid)
	}
	path = b.shelf.Path(rel, rel, delivery.AnyVersion)
	if err := b.store.Fetch(ctx, []string{path}, []int64{-1}); err != nil {
		return "", nil, fmt.Errorf("pull the bed: %w", err)
	}
	if _, err := os.Stat(path); err != nil {
		return "", nil, fmt.Errorf("the bed cannot be pulled from the control plane: %w", err)
	}
	return path, func() { _ = os.Remove(path) }, nil // if not now, at the next start
}
