package production

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/deck"
	"github.com/athir-radio/athir/internal/library/duplicates"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/station"
)

// recordings finds out whether the library has a recording: by name, and by sound
// once its fingerprint is taken.
type recordings struct {
	store *duplicates.Store
	deck  *deck.Deck
	lib   *media.Library
	root  string                          // media
	hold  func(ctx context.Context) error // between two files; nil never waits
	log   *slog.Logger

	mu       sync.Mutex
	snapshot *media.Snapshot     // from which names was made
	names    map[string][]string // folded name to paths
}

func openRecordings(ctx context.Context, db *store.DB, d *deck.Deck, lib *media.Library, root string, hold func(ctx context.Context) error, log *slog.Logger) (*recordings, error) {
	prints, err := duplicates.Open(ctx, db)
	return &recordings{store: prints, deck: d, lib: lib, root: root, hold: hold, log: log}, err
}

const (
	// printsAfter is the delay after the start: going on air comes first.
	printsAfter = 3 * time.Minute
	// printsPause is the delay after a change of the library, to gather several.
	printsPause = time.Minute
)

// run takes the fingerprints that are missing, in the background.
func (r *recordings) run(ctx context.Context) error {
	defer r.store.Close()
	changed, stop := r.deck.Subscribe()
	defer stop()
	wait := time.NewTimer(printsAfter)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-wait.C:
			if !r.take(ctx) {
				wait.Reset(printsPause)
				continue
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			wait.Reset(printsPause)
		}
	}
}

// take takes the missing fingerprints, and returns false while there is no media folder to
// read. It may wait after each file.
func (r *recordings) take(ctx context.Context) bool {
	files, there := r.files()
	if !there {
		return false
	}
	if err := r.store.Ensure(ctx, files, func(int, int) { _ = shed.AtMost(r.hold, shed.Most)(ctx) }); err != nil && ctx.Err() == nil {
		r.log.Warn("cannot take fingerprints of the library", "err", err)
	}
	return true
}

// files lists the files of which fingerprints are kept: all but imaging and
// bulletins, which are replaced all the time. While the media folder is away there are
// none to read, and it returns false.
func (r *recordings) files() (out []duplicates.File, there bool) {
	lib := r.lib.Snapshot()
	if lib.Problem != "" {
		return nil, false
	}
	out = make([]duplicates.File, 0, len(lib.Tracks))
	for _, t := range lib.Tracks {
		if slices.Contains([]station.Category{station.SFX, station.Sweepers, station.News}, t.Category) {
			continue
		}
		out = append(out, duplicates.File{
			Path: t.Path, Abs: r.root + "/" + t.Path, Size: t.Size, ModTime: t.ModTime, Artist: t.Artist, Title: t.Title,
		})
	}
	return out, true
}

// Find implements content.Prints.
func (r *recordings) Find(ctx context.Context, file string) ([]string, error) {
	found, err := r.store.Find(ctx, file, "", "")
	var out []string
	for _, m := range found {
		if m.Difference < 1 {
			out = append(out, m.ID)
		}
	}
	return out, err
}

// Alike returns what a post that was fingerprinted sounds like, or shares its names with.
func (r *recordings) Alike(ctx context.Context, versions []fingerprint.Print, artist, title string) ([]duplicates.Match, error) {
	return r.store.Alike(ctx, versions, artist, title)
}

// SameName implements content.Prints.
func (r *recordings) SameName(artist, title string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.deck.Snapshot(); now != r.snapshot {
		r.snapshot, r.names = now, map[string][]string{}
		for _, t := range now.Tracks {
			if name := duplicates.Name(t.Artist, t.Title); name != "" {
				r.names[name] = append(r.names[name], t.Path)
			}
		}
	}
	return slices.Clone(r.names[duplicates.Name(artist, title)])
}

// Add implements content.Prints.
func (r *recordings) Add(ctx context.Context, path, file, artist, title string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return r.store.Add(ctx, duplicates.File{Path: path, Abs: file, Size: info.Size(), ModTime: info.ModTime(), Artist: artist, Title: title})
}
