package production

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/imaging"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// inventory is the registry as the content pipeline knows it.
type inventory struct{ p *Production }

func (i inventory) Tracks() []station.Track {
	if i.p.noted != nil {
		return i.p.noted()
	}
	return i.p.lib.Snapshot().Tracks
}

func (i inventory) Broken() map[string]string {
	out := map[string]string{}
	for _, q := range i.p.lib.Snapshot().Quarantined {
		out[q.Path] = q.Reason
	}
	return out
}

func (i inventory) Refused() map[string]string {
	out := map[string]string{}
	for _, r := range i.p.rack.Snapshot().Refused {
		out[r.Path] = r.Reason
	}
	return out
}

// Scan registers what changed. When it returns, removed files are no longer planned.
// It does not wait until new files are found fit and may be planned: a run places
// many.
func (i inventory) Scan(ctx context.Context, paths ...string) error {
	return i.p.deck.Scan(ctx, paths...)
}

// lookPatience bounds asking the engine for what it has prepared.
const lookPatience = time.Second

// airing is what is on air as the content pipeline knows it.
type airing struct {
	rack     *aircopy.Rack
	onair    *scheduler.Scheduler
	prepared func(context.Context) ([]string, error)
}

func (a airing) Protected(ctx context.Context) ([]string, error) {
	v := a.onair.View()
	out := v.Protected(time.Now())
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	prepared, err := a.prepared(ctx)
	if err != nil {
		// An engine that does not answer may come back with any entry of the
		// current list.
		for _, it := range v.Items() {
			out = append(out, it.Track.Path)
		}
		return out, nil
	}
	for _, abs := range prepared {
		if rel, ok := a.rack.Rel(abs); ok {
			out = append(out, rel)
		}
	}
	return out, nil
}

func (a airing) Holding(ctx context.Context, paths []string) ([]string, error) {
	return a.onair.Holding(ctx, paths)
}

func (a airing) Rebuild(ctx context.Context) error { return a.onair.Rebuild(ctx) }

func (a airing) Plays(ctx context.Context) (map[string]int, error) { return a.onair.Plays(ctx) }

// imagery is the imaging generator as the content pipeline knows it.
type imagery struct{ p *Production }

func (i imagery) Old(context.Context) ([]string, error) { return imaging.Old(i.p.root) }

// Make returns once what it made may be planned: the old files are then archived.
func (i imagery) Make(ctx context.Context, hold func(context.Context) error, progress func(done, total int, detail string)) (int, []error, error) {
	r, err := i.p.image(ctx, UsualImaging(), func(now jobs.Progress) {
		progress(now.Done, now.Total, now.Detail)
		_ = hold(ctx) // between two files; a cancelled refresh ends by itself
	})
	failed := failures(r.Failed)
	if err == nil && len(r.Failed) > len(r.Made) {
		err = fmt.Errorf("only %d of %d files were made: the present set stays", len(r.Made), len(r.Failed)+len(r.Made))
	}
	if err != nil {
		return len(r.Made), failed, err
	}
	return len(r.Made), failed, i.p.register(ctx, pathsOf(r.Made), func(ready int) {
		progress(ready, len(r.Made), "made; waiting for the library")
	})
}

// failures tells what could not be made, as one error for each kind and reason.
func failures(all []imaging.Failure) []error {
	var out []error
	counts := map[string]int{}
	for _, f := range all {
		counts[failure(f)]++
	}
	for _, f := range all {
		if n := counts[failure(f)]; n > 0 {
			out = append(out, fmt.Errorf("%d of %s not made: %w", n, cmp.Or(f.Design, string(f.Kind)), f.Err))
			counts[failure(f)] = 0
		}
	}
	return out
}

func failure(f imaging.Failure) string { return string(f.Kind) + f.Design + f.Err.Error() }

// catalog is the names and queries that the content pipeline looks for.
type catalog struct{ owner *policy.Owner }

func (c catalog) Singers() map[station.Category][]string { return c.owner.Current().Singers }

func (c catalog) Queries() map[station.Category][]string { return c.owner.Current().Queries }
