package production

import (
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

func (i inventory) Tracks() []station.Track { return i.p.lib.Snapshot().Tracks }

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

// Scan registers what changed. What is gone is planned no more when it returns.
// What is new may be planned once it is found fit, which is not waited for here:
// a run places many files.
func (i inventory) Scan(ctx context.Context) error { return i.p.deck.Scan(ctx) }

// lookPatience bounds the question what the engine has prepared.
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
		// An engine that is away, or does not answer, may come back with any
		// entry of the list that is in place.
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

// Make returns once what it made may be planned: the old leaves for it.
func (i imagery) Make(ctx context.Context, progress func(done, total int, detail string)) (int, error) {
	r, err := i.p.image(ctx, UsualImaging(), func(now jobs.Progress) { progress(now.Done, now.Total, now.Detail) })
	if err == nil && len(r.Failed) > len(r.Made) {
		err = fmt.Errorf("%d of %d files could not be made, first: %w", len(r.Failed), len(r.Failed)+len(r.Made), r.Failed[0].Err)
	}
	if err != nil {
		return len(r.Made), err
	}
	return len(r.Made), i.p.register(ctx, pathsOf(r.Made), func(ready int) {
		progress(ready, len(r.Made), "made; waiting for the library")
	})
}

// catalog is what to look for.
type catalog struct{ owner *policy.Owner }

func (c catalog) Singers() map[station.Category][]string { return c.owner.Current().Singers }

func (c catalog) Queries() map[station.Category][]string { return c.owner.Current().Queries }
