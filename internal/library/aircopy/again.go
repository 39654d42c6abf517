package aircopy

import (
	"context"
	"fmt"

	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// Sound is what airs of a track, or is about to.
type Sound struct {
	mastering.Outcome
	Copied bool // a copy airs; else the file itself
}

// Sound returns what airs of a track; false where nothing does, or it was not measured.
func (r *Rack) Sound(rel string) (Sound, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	w, ok := r.rows[rel]
	return Sound{w.Outcome, w.state == copied}, ok && (w.state == copied || w.state == asIs)
}

// AirsAsIs reports that a file of the library can air as it is now: what airs at its path is not
// the copy of a file that was there before.
func (r *Rack) AirsAsIs(t station.Track) bool {
	if _, ok := r.Snapshot().Find(t.Path); !ok || r.opt.Disabled {
		return ok
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if w := r.rows[t.Path]; w.state == copied || w.state == asIs {
		return w.current(t)
	}
	return r.early[t.Path].of(t)
}

// Again has files that were refused decided anew, and before others. It returns once that is planned; Run
// must be running.
func (r *Rack) Again(ctx context.Context, rels []string) error {
	if r.opt.Disabled {
		return nil
	}
	done := make(chan error, 1)
	select {
	case r.anew <- anew{rels, done}:
	case <-ctx.Done():
		return fmt.Errorf("have files decided anew: %w: %w", ctx.Err(), station.ErrUnavailable)
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("have files decided anew: %w: %w", ctx.Err(), station.ErrUnavailable)
	}
}

// anew asks Run to decide on files again.
type anew struct {
	rels []string
	done chan error // capacity 1
}

func (w *runner) decideAnew(ctx context.Context, a anew) {
	var err error
	for _, rel := range a.rels {
		row, known := w.rows[rel]
		delete(w.troubles, rel)
		if !known || row.state != refused || err != nil {
			continue
		}
		row.state = lost
		if err = save(ctx, w.db, rel, row); err != nil {
			continue
		}
		w.mu.Lock()
		w.rows[rel] = row
		w.mu.Unlock()
	}
	w.Soon(a.rels...)
	w.follow()
	a.done <- err
}
