package art

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// sweepEvery is how often all files are compared, in case a text beside one has changed.
	sweepEvery = 6 * time.Hour
	// againAfter is how long a file is left that the machine could not be brought to read.
	againAfter = time.Hour
	// batch is how many files without anything are written at once.
	batch = 32
	// listed bounds a list of files to look at: the next comparison finds the rest.
	listed = 1000
	// share of a processor's time, as its inverse, that files which nobody waits for may take.
	share = 5
	// mostLate is how often a file is tried that is not read in time.
	mostLate = 3
	// idle is how many rests pass before the library is compared again, where it has changed.
	idle = 20
)

// Near are the paths of what is on the air, comes, or was: they are looked at first.
type Near func() []string

// worker looks at files, one at a time.
type worker struct {
	art    *Art
	near   Near
	failed map[string]time.Time // when a path may be looked at again
	late   map[string]int       // how often a path was not read in time
	rows   []row                // not written yet
	told   time.Time            // when a fault was last logged

	list     []string        // to look at
	due      bool            // the library is to be compared, once list is done
	full     bool            // the texts beside the files too
	compared []station.Track // when it was last
}

// Run looks at files until ctx ends. changed tells that near has other paths.
func (a *Art) Run(ctx context.Context, near Near, changed <-chan struct{}) error {
	registry, leave := a.opt.Registry.Subscribe()
	defer leave()
	w := &worker{art: a, near: near, failed: map[string]time.Time{}, late: map[string]int{}, due: true, full: true}
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	rest := time.NewTimer(0) // until the next file that is not near the air
	defer rest.Stop()
	for again := true; ; {
		if again {
			w.tell(ctx, w.lookNear(ctx))
		}
		again = false
		select {
		case <-ctx.Done():
			w.tell(ctx, w.flush(context.WithoutCancel(ctx)))
			return nil
		case <-changed:
			again = true
		case <-registry:
			again = true
			w.due = w.due || !station.Same(w.compared, a.opt.Registry.Tracks())
		case <-sweep.C:
			w.due, w.full = true, true
			clear(w.failed)
		case <-rest.C:
			began := time.Now()
			w.tell(ctx, w.goOn(ctx))
			pause := a.opt.Rest
			if len(w.list) == 0 {
				pause *= idle
			}
			rest.Reset(max(pause, (share-1)*time.Since(began)))
		}
	}
}

// goOn looks at the next file that nobody waits for, or looks for such files.
func (w *worker) goOn(ctx context.Context) error {
	switch {
	case len(w.list) > 0:
		next := w.list[0]
		w.list = w.list[1:]
		return w.one(ctx, next, false)
	case w.due:
		return w.compare(ctx)
	}
	return w.flush(ctx)
}

// tell logs what keeps the worker from its work, once an hour: it goes on.
func (w *worker) tell(ctx context.Context, err error) {
	now := w.art.opt.Now()
	if err == nil || ctx.Err() != nil || now.Sub(w.told) < againAfter {
		return
	}
	w.told = now
	w.art.opt.Log.Warn("cannot look for the pictures and words of tracks: it is tried again", "err", err)
}

// lookNear looks at what is near the air and was not looked at.
func (w *worker) lookNear(ctx context.Context) error {
	for _, path := range w.near() {
		if err := w.one(ctx, path, true); err != nil {
			return err
		}
	}
	return nil
}

// one looks at a file, unless that version of it was.
func (w *worker) one(ctx context.Context, path string, near bool) error {
	a := w.art
	tracks := a.opt.Registry.Tracks()
	i, there := station.Find(tracks, path)
	if !there || a.opt.Now().Before(w.failed[path]) {
		return nil
	}
	version := a.versionOf(tracks[i])
	if known, err := w.known(ctx, path); err != nil || known == version {
		return err
	}
	if err := a.opt.Hold(ctx); err != nil {
		return err
	}
	found, err := a.look(ctx, tracks[i], version)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !w.gaveUp(path, err):
		w.fails(ctx, path, err)
		return nil
	case err != nil:
		found = row{path: path, version: version}
	}
	w.rows = append(w.rows, found)
	if near || found.cover != "" || found.lyrics.Text != "" || len(w.rows) >= batch || a.Of(path) != (Found{}) {
		return w.flush(ctx)
	}
	return nil
}

// gaveUp reports that a file was not read in time so often that it is the file: words of many
// megabytes take ffprobe minutes. It then counts as one without anything, until it changes.
func (w *worker) gaveUp(path string, err error) bool {
	var late *ffmpeg.UnfinishedError
	if !errors.As(err, &late) {
		return false
	}
	w.late[path]++
	if w.late[path] < mostLate {
		return false
	}
	delete(w.late, path)
	return true
}

// fails puts a file off that the machine could not be brought to read.
func (w *worker) fails(ctx context.Context, path string, err error) {
	w.failed[path] = w.art.opt.Now().Add(againAfter)
	if errors.Is(err, station.ErrFull) {
		w.tell(ctx, err)
	}
	w.art.opt.Log.Debug("cannot look for a track's picture and words: it is tried again in an hour", "path", path, "err", err)
}

func (w *worker) flush(ctx context.Context) error {
	if len(w.rows) == 0 {
		return nil
	}
	err := w.art.keep(ctx, w.rows, nil)
	if err == nil || len(w.rows) >= 4*batch { // what cannot be written is looked at again
		w.rows = w.rows[:0]
	}
	return err
}

// known is the version of a file that was last looked at; zero: none was.
func (w *worker) known(ctx context.Context, path string) (v fileVersion, err error) {
	for _, r := range w.rows {
		if r.path == path {
			return r.version, nil
		}
	}
	var cover string
	err = w.art.opt.DB.Read().QueryRowContext(ctx, `SELECT size, mtime_ns, beside, cover FROM art_file WHERE path = ?`, []byte(path)).Scan(&v.size, &v.mtime, &v.beside, &cover)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fileVersion{}, nil
	case err != nil:
		return fileVersion{}, fmt.Errorf("read what is known of a file: %w", err)
	case cover != "" && !w.art.opt.Covers.Has(cover): // as after a restore without them
		return fileVersion{}, nil
	}
	return v, nil
}

// compare lists files that are to be looked at, and forgets those that are gone. Both lists are
// sorted by path; what is known is read page by page, so that no transaction stays open.
func (w *worker) compare(ctx context.Context) error {
	a := w.art
	whole, tracks := a.opt.Whole(), a.opt.Registry.Tracks()
	c := comparison{worker: w, tracks: tracks, covers: map[string]bool{"": true}}
	for after, more := []byte{}, true; more && len(w.list) < listed; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		page, err := a.page(ctx, after)
		if err != nil {
			return err
		}
		for _, r := range page {
			c.take(r)
		}
		if more = len(page) == pageRows; more {
			after = []byte(page[len(page)-1].path)
		} else {
			c.until("")
		}
	}
	if len(w.list) < listed { // all of it was compared
		w.due, w.full, w.compared = false, false, tracks
	}
	if whole && a.opt.Whole() {
		return a.keep(ctx, nil, c.gone)
	}
	return nil
}

const pageRows = 1000

// page reads what is known of the files after a path.
func (a *Art) page(ctx context.Context, after []byte) (out []row, err error) {
	err = store.Each(ctx, a.opt.DB.Read(), func(rows *sql.Rows) error {
		var path []byte
		var r row
		if err := rows.Scan(&path, &r.version.size, &r.version.mtime, &r.version.beside, &r.cover); err != nil {
			return err
		}
		r.path = string(path)
		out = append(out, r)
		return nil
	}, `SELECT path, size, mtime_ns, beside, cover FROM art_file WHERE path > ? ORDER BY path LIMIT ?`, after, pageRows)
	if err != nil {
		return nil, fmt.Errorf("compare the library with what is known of its pictures and words: %w", err)
	}
	return out, nil
}

// comparison goes through the library and what is known of it side by side.
type comparison struct {
	*worker
	tracks []station.Track
	at     int             // of tracks
	covers map[string]bool // whether there is a picture of an id
	gone   []string
}

// want lists a track.
func (c *comparison) want(t station.Track) {
	if len(c.list) < listed && !c.art.opt.Now().Before(c.failed[t.Path]) {
		c.list = append(c.list, t.Path)
	}
}

// until lists the tracks before a path, of which nothing is known; "" is the end.
func (c *comparison) until(path string) {
	for c.at < len(c.tracks) && (path == "" || c.tracks[c.at].Path < path) {
		c.want(c.tracks[c.at])
		c.at++
	}
}

// take compares what is known of a file.
func (c *comparison) take(known row) {
	c.until(known.path)
	if c.at == len(c.tracks) || c.tracks[c.at].Path != known.path {
		c.gone = append(c.gone, known.path)
		return
	}
	t := c.tracks[c.at]
	c.at++
	has, looked := c.covers[known.cover]
	if !looked {
		has = c.art.opt.Covers.Has(known.cover)
		c.covers[known.cover] = has
	}
	now := fileVersion{t.Size, t.ModTime.UnixNano(), known.version.beside}
	if c.full {
		now = c.art.versionOf(t)
	}
	if !has || now != known.version {
		c.want(t)
	}
}
