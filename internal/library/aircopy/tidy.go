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

// chores is what a look at the copies is to do.
type chores struct {
	check  map[string]row // copies that should be there
	remove map[string]row // copies that air no more
	whole  map[string]bool
}

// report is what came of it.
type report struct {
	chores *chores
	lost   []string
	failed map[string]error // to remove
}

// due lists what is to be looked at and removed now; nil when it is not time,
// or nothing. From then on nothing is done about the files to be removed.
func (w *runner) due(now time.Time) *chores {
	if w.tidying || w.dirty || now.Before(w.tidyNext) { // what was not published may still be asked for
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
	// A library of which most is gone at once is rather a disk that is away, with
	// an empty folder in its place, than files that were deleted.
	manyGone = 20
	// longPatience is how long its copies wait for it: to make them anew takes hours.
	longPatience = 7 * 24 * time.Hour
)

// patience is how long the copy of a file that is gone stays.
func (w *runner) patience() time.Duration {
	if len(w.gone) >= manyGone && 2*len(w.gone) > len(w.rows) {
		return max(w.opt.Linger, longPatience)
	}
	return w.opt.Linger
}

// tidy does it.
func (r *runner) tidy(ctx context.Context, c *chores) report {
	done := report{c, nil, map[string]error{}}
	for rel, row := range c.remove {
		if err := r.remove(ctx, rel, row, c.whole[rel]); err != nil {
			done.failed[rel] = err
		}
	}
	for rel, row := range c.check {
		if ctx.Err() != nil {
			break
		}
		if !r.whole(row) {
			done.lost = append(done.lost, rel)
		}
	}
	r.sweep(false)
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

// tidied takes what came of it.
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

// sweep removes what a killed run, or a file that changed at the wrong moment,
// has left in the folder of copies: nothing there is anyone's but ours. A copy
// that only its row is missing of stays until its file is looked at. Files in
// the making are nobody's before the first work begins only.
func (r *runner) sweep(atStart bool) {
	tracks, swept := r.opt.Registry.Tracks(), 0
	_ = filepath.WalkDir(r.opt.Dir, func(path string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(filepath.Base(path), ".")
		if err != nil || d.IsDir() || hidden && !atStart || r.inUse(path) {
			return nil //nolint:nilerr // what cannot be listed stays
		}
		name := strings.TrimPrefix(path, r.opt.Dir+"/")
		r.mu.Lock() // nobody begins to make this copy meanwhile
		defer r.mu.Unlock()
		if _, ours := r.copies[name]; ours || r.awaited(tracks, name) || r.awaited(tracks, strings.TrimSuffix(name, ".mp3")) {
			return nil
		}
		if os.Remove(path) == nil { //nolint:gosec // the folder is ours alone, and a link is removed itself
			swept++
		}
		return nil
	})
	if swept > 0 {
		r.opt.Log.Info("removed unused on-air copies", "folder", r.opt.Dir, "files", swept)
	}
}

// awaited reports that there is a file of that name which is not decided yet.
func (r *Rack) awaited(tracks []station.Track, rel string) bool {
	_, there := find(tracks, rel)
	row, known := r.rows[rel]
	return there && (!known || row.state == lost)
}
