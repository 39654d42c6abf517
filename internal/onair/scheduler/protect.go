package scheduler

import (
	"context"
	"slices"
	"time"
)

const (
	// protected is how many entries to come may not be removed (mission: Limits).
	protected = 40
	// letGo is how long after a push an engine may still open entries of the list
	// before: it reads the new one at once, but opens entries ahead.
	letGo = time.Minute
	// heldOn is how many entries of such a list it may still open.
	heldOn = 8
)

// Protected returns the paths, relative to the media root, of files that must
// stay: now playing, the last played, the next 40, what is queued, and what the engine
// may still open of earlier lists. Files it has already opened are not included: ask it.
func (v *View) Protected(now time.Time) []string {
	var out []string
	add := func(path string) {
		if path != "" && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	add(v.OnAir.Track.Path)
	if len(v.Past) > 0 {
		add(v.Past[0].Track.Path)
	}
	left := v.Left()
	for _, e := range left[:min(protected, len(left))] {
		add(e.Track.Path)
	}
	for _, path := range v.Queued {
		add(path)
	}
	for _, was := range v.before {
		if now.Before(was.until) {
			add(was.path)
		}
	}
	return out
}

// replaced is a path that was next in an earlier list, and until when the engine
// may still open it.
type replaced struct {
	path  string
	until time.Time
}

// letting returns what the engine may still open of the current list, and of
// lists replaced shortly before, once this one is replaced.
func (s *Scheduler) letting() []replaced {
	now := s.opt.Now()
	out := slices.DeleteFunc(slices.Clone(s.before), func(was replaced) bool { return !now.Before(was.until) })
	left := s.left()
	for _, e := range left[:min(heldOn, len(left))] {
		out = append(out, replaced{e.Track.Path, now.Add(letGo)})
	}
	return out
}

// Holding returns those of paths that are still to come in the rotation. A build
// that began before the call is committed or dropped when it returns.
func (s *Scheduler) Holding(ctx context.Context, paths []string) (held []string, err error) {
	err = s.ask(ctx, func(context.Context) error {
		for _, e := range s.left() {
			if slices.Contains(paths, e.Track.Path) && !slices.Contains(held, e.Track.Path) {
				held = append(held, e.Track.Path)
			}
		}
		return nil
	})
	return held, err
}

// Plays counts how often each path was heard, as far back as the history goes.
func (s *Scheduler) Plays(ctx context.Context) (map[string]int, error) {
	rows, err := s.opt.DB.Read().QueryContext(ctx, `SELECT path, count(*) FROM plays GROUP BY path`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := map[string]int{}
	for rows.Next() {
		var path string
		var n int
		if err := rows.Scan(&path, &n); err != nil {
			return nil, err
		}
		out[path] = n
	}
	return out, rows.Err()
}
