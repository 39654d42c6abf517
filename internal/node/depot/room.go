package depot

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	disk "github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/station"
)

// room is the space that the folder may still use.
type room struct {
	dir, remedy    string
	limit, reserve int64

	mu   sync.Mutex
	used int64
	old  []kept // may be removed, the first to go in front
}

type kept struct {
	path string
	size int64
	used time.Time
}

// room measures the folder; the files of keep are never removed.
func (d *Depot) room(keep map[string]bool) (*room, error) {
	r := &room{dir: d.opt.Dir, remedy: d.opt.Remedy, limit: d.opt.MaxBytes, reserve: d.opt.Reserve}
	err := filepath.WalkDir(d.opt.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		r.used += info.Size()
		if !keep[path] {
			r.old = append(r.old, kept{path, info.Size(), info.ModTime()})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list media folder: %w", err)
	}
	slices.SortFunc(r.old, func(a, b kept) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
	return r, nil
}

// take reserves bytes; for them it removes the files used longest ago.
func (r *room) take(bytes int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		free, err := r.free()
		if err != nil {
			return err
		}
		if r.used+bytes <= r.limit && free >= bytes+r.reserve {
			r.used += bytes
			return nil
		}
		if len(r.old) == 0 {
			if r.used+bytes > r.limit {
				return fmt.Errorf("media folder is full: %d MB are needed, and files on air or about to air take %d of %d MB: %s: %w", bytes>>20, r.used>>20, r.limit>>20, r.remedy, station.ErrTooLarge)
			}
			return fmt.Errorf("the disk of %s is full: free some space: %w", r.dir, station.ErrTooLarge)
		}
		oldest := r.old[0]
		r.old = r.old[1:]
		if err := os.Remove(oldest.path); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("remove old media file: %w", err)
		}
		r.used -= oldest.size
		for dir := filepath.Dir(oldest.path); len(dir) > len(r.dir) && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
	}
}

// back returns reserved bytes that were not used.
func (r *room) back(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= bytes
}

// free is what the disk has left.
func (r *room) free() (int64, error) {
	free, _, err := disk.Space(r.dir)
	return int64(free), err //nolint:gosec // fits: no disk has 8 EiB
}
