package production

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/station"
)

// The steps of a job once its files are made.
const (
	stepScan    = "scan" // the library takes the files in
	stepRebuild = "rebuild"
)

// takeUp registers and plans new files, and archives old ones. It calls show with
// the step and the number of files ready for air.
func (p *Production) takeUp(
	ctx context.Context, made, old []string, reason string, show func(step string, ready int),
) (moved content.Moved, rebuilt bool, err error) {
	if err := p.register(ctx, made, func(ready int) { show(stepScan, ready) }); err != nil {
		return moved, false, err
	}
	known := time.Now() // a rotation built from here on knows the new files
	var wrong error
	if len(old) > 0 {
		if moved, wrong = p.content.Archive(ctx, old, reason); wrong != nil {
			wrong = fmt.Errorf("archive old files: %w", wrong)
		}
	}
	show(stepRebuild, len(made))
	if p.onair.View().Rotation.BuiltAt.After(known) {
		return moved, true, wrong // archiving had it rebuilt
	}
	if err := p.onair.Rebuild(ctx); err != nil {
		return moved, false, errors.Join(wrong, fmt.Errorf("plan new files: %w", err))
	}
	return moved, true, wrong
}

// register returns once files of ours are known and may be planned. It waits while
// the library makes progress, which takes many minutes while a large one is being
// mastered on a slow machine. It calls show with the number of ready files.
func (p *Production) register(ctx context.Context, paths []string, show func(ready int)) error {
	changed, stop := p.deck.Subscribe()
	defer stop()
	show(0)
	if err := p.deck.Scan(ctx); err != nil {
		return err
	}
	left := func() []string { return slices.DeleteFunc(slices.Clone(paths), p.decided) }
	return comeAlong(ctx, changed, left, p.rack.Snapshot, func(n int) { show(len(paths) - n) })
}

const (
	// registerPatience is how long the library may make no progress, with files of
	// ours left, before the wait ends.
	registerPatience = 2 * time.Minute
	// registerLook is how often progress is checked: within one file it is not
	// signalled.
	registerLook = time.Second
)

// comeAlong waits until no path is left, while there is progress.
func comeAlong(ctx context.Context, changed <-chan struct{}, left func() []string, rack func() *aircopy.Snapshot, show func(left int)) error {
	look := time.NewTicker(registerLook)
	defer look.Stop()
	var before aircopy.Work
	shown, since := -1, time.Now()
	for {
		paths, now := left(), rack()
		if len(paths) == 0 {
			return nil
		}
		if len(paths) != shown {
			shown, since = len(paths), time.Now()
			show(shown)
		}
		if w := now.Work; w.Waiting != before.Waiting || w.Silent != before.Silent || !slices.Equal(w.Current, before.Current) {
			before, since = w, time.Now()
		}
		if time.Since(since) >= registerPatience {
			return fmt.Errorf("made, but not yet in the library (%d files, first %s): %s: %w",
				len(paths), paths[0], cmp.Or(now.Problem, "no progress for "+registerPatience.String()), station.ErrUnavailable)
		}
		select {
		case <-changed:
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// decided reports that a path may be planned, or never will.
func (p *Production) decided(path string) bool {
	s := p.deck.Snapshot()
	if _, ok := s.Find(path); ok || p.content.Hidden()[path] {
		return true
	}
	for _, q := range s.Quarantined {
		if q.Path == path {
			return true
		}
	}
	_, known := p.lib.Snapshot().Find(path)
	return !known // removed meanwhile
}
