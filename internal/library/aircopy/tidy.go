package aircopy

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// chores is one inspection of the copies.
type chores struct {
	check  map[string]row // copies that should exist
	remove map[string]row // unused copies
	whole  map[string]bool
}

// report is the outcome of an inspection.
type report struct {
	chores *chores
	lost   []string
	failed map[string]error // to remove
}

// due lists the copies to check and to remove now; nil when it is not time or there
// are none. No other work starts on the files to be removed.
func (w *runner) due(now time.Time) *chores {
	if w.tidying || w.dirty || now.Before(w.tidyNext) { // unpublished changes: old paths may still be asked for
		return nil
	}
	c := &chores{map[string]row{}, map[string]row{}, map[string]bool{}}
	patience := w.patience()
	for rel, row := range w.rows {
		since, gone := w.gone[rel]
		if row.state == copied {
			c.check[rel] = row
		}
		over := gone && now.Sub(since) >= patience || !gone && row.copy != "" && row.state != copied && row.state != lost && now.Sub(row.at) >= w.opt.Linger
		if !over || w.inWork[rel] != nil || row.copy != "" && w.inUse(w.opt.Dir+"/"+row.copy) {
			continue
		}
		delete(c.check, rel)
		c.remove[rel], c.whole[rel] = row, gone
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for rel, row := range c.remove {
		w.removing[rel] = true
		row.copy, row.copySize = "", 0
		w.rows[rel] = row
		if c.whole[rel] {
			delete(w.rows, rel)
		}
	}
	w.tidying = true
	return c
}

const (
	// When most of a library is gone at once, its disk is more likely unmounted
	// than its files deleted.
	manyGone = 20
	// longPatience is how long copies wait for such a disk: making them again takes hours.
	longPatience = 7 * 24 * time.Hour
)

// patience is how long the copy of a file that is gone stays.
func (w *runner) patience() time.Duration {
	if len(w.gone) >= manyGone && 2*len(w.gone) > len(w.rows) {
		return max(w.opt.Linger, longPatience)
	}
	return w.opt.Linger
}

// tidy carries out the chores.
func (w *runner) tidy(ctx context.Context, c *chores) report {
	done := report{c, nil, map[string]error{}}
	for rel, row := range c.remove {
		if err := w.remove(ctx, rel, row, c.whole[rel]); err != nil {
			done.failed[rel] = err
		}
	}
	for rel, row := range c.check {
		if ctx.Err() != nil {
			break
		}
		if !w.whole(row) {
			done.lost = append(done.lost, rel)
		}
	}
	w.sweep(false)
	return done
}

func (r *Rack) remove(ctx context.Context, rel string, w row, whole bool) error {
	if w.copy != "" {
		out := r.opt.Dir + "/" + w.copy
		if err := os.Remove(out); err != nil && !os.IsNotExist(err) {
			return err
		}
		for dir := filepath.Dir(out); dir != r.opt.Dir && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
		if err := r.opt.Master.Forget(context.WithoutCancel(ctx), out); err != nil {
			return err
		}
	}
	return drop(ctx, r.db, rel, whole)
}

// tidied handles the report.
func (w *runner) tidied(done report) {
	w.tidying, w.tidyNext = false, time.Now().Add(w.tend)
	w.mu.Lock()
	for rel, row := range done.chores.remove {
		delete(w.removing, rel)
		delete(w.gone, rel)
		if err := done.failed[rel]; err != nil {
			w.opt.Log.Warn("on-air copy not removed", "copy", row.copy, "err", err)
			w.rows[rel] = row // it is tried again
		} else if row.copy != "" {
			delete(w.copies, row.copy)
		}
	}
	for _, rel := range done.lost {
		row, ok := w.rows[rel]
		// It may have been made again since.
		if ok && w.inWork[rel] == nil && row.copy == done.chores.check[rel].copy && row.state == copied && !w.whole(row) {
			w.opt.Log.Warn("on-air copy is missing or changed: making it again", "copy", row.copy)
			row.state = lost
			w.rows[rel] = row
		}
	}
	w.mu.Unlock()
	if len(done.lost)+len(done.chores.remove) > 0 {
		w.follow()
	}
}

// sweep removes leftovers of killed runs and of files that changed while they were
// mastered; everything in the folder of copies is the Rack's. A copy without a row
// stays until its file is decided. Unfinished files are leftovers only at the start,
// before work begins.
func (w *runner) sweep(atStart bool) {
	tracks, swept := w.opt.Registry.Tracks(), 0
	_ = filepath.WalkDir(w.opt.Dir, func(path string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(filepath.Base(path), ".")
		if err != nil || d.IsDir() || hidden && !atStart || w.inUse(path) {
			return nil //nolint:nilerr // what cannot be listed stays
		}
		name := strings.TrimPrefix(path, w.opt.Dir+"/")
		w.mu.Lock() // so that no work on this copy begins meanwhile
		defer w.mu.Unlock()
		if _, ours := w.copies[name]; ours || w.awaited(tracks, name) || w.awaited(tracks, strings.TrimSuffix(name, ".mp3")) {
			return nil
		}
		if os.Remove(path) == nil { //nolint:gosec // the folder is ours alone, and a link is removed itself
			swept++
		}
		return nil
	})
	if swept > 0 {
		w.opt.Log.Info("removed unused on-air copies", "folder", w.opt.Dir, "files", swept)
	}
}

// awaited reports that a file of that name is still undecided.
func (r *Rack) awaited(tracks []station.Track, rel string) bool {
	_, there := find(tracks, rel)
	row, known := r.rows[rel]
	return there && (!known || row.state == lost)
}
