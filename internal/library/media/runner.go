package media

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"
)

const (
	refreshEvery = 2 * time.Second  // look for what other processes wrote
	retryAfter   = 10 * time.Second // a failed scan
	pollEvery    = 15 * time.Second // where not every folder can be watched
)

// runner is the loop of Run.
type runner struct {
	lib    *Library
	watch  *watch
	waited map[string]fileStamp // files being written, as last seen
	failed bool                 // the last pass failed
	polls  bool                 // whole scans stand in for the watch
	logged string               // the last problem logged
}

func (r *runner) loop(ctx context.Context) {
	refresh := time.NewTicker(refreshEvery)
	defer refresh.Stop()
	wake := time.NewTimer(0)
	defer wake.Stop()
	whole := time.Now() // when the next whole scan is due
	for {
		select {
		case <-ctx.Done():
			return
		case <-refresh.C:
			r.problem(ctx, r.lib.refresh(ctx))
			continue
		case <-r.watch.wake:
		case <-wake.C:
		}
		now := time.Now()
		everything := !whole.After(now)
		scopes, moved := r.watch.due(now, everything)
		for _, rel := range r.lib.late.due(now) {
			if !slices.ContainsFunc(scopes, func(scope string) bool { return within(rel, scope) }) {
				scopes = append(scopes, rel)
			}
		}
		r.watch.forget(moved)
		switch {
		case everything, len(scopes) > 0 && scopes[0] == overview:
			whole = time.Now().Add(r.whole(ctx))
		case len(scopes) > 0 && !r.part(ctx, scopes):
			whole = time.Now().Add(retryAfter)
		}
		next := whole
		for _, at := range []time.Time{r.watch.next(), r.lib.late.next()} {
			if !at.IsZero() && at.Before(next) {
				next = at
			}
		}
		wake.Reset(max(0, time.Until(next)))
	}
}

// whole scans everything and returns the time until the next such scan.
func (r *runner) whole(ctx context.Context) time.Duration {
	if r.failed { // the folder may be another one: a disk mounted in its place
		r.watch.forget([]string{overview})
	}
	r.watch.setLimit(false)
	report, unsettled, err := r.lib.scanAll(ctx, r.waited, nil, r.watch.enter)
	r.failed = err != nil
	clear(r.waited)
	r.await(unsettled)
	r.problem(ctx, err)
	if err != nil {
		return min(retryAfter, r.lib.opt.Rescan)
	}
	if len(report.Problems) == 0 {
		r.logged = ""
	}
	r.log(ctx, report, slog.LevelInfo)
	if r.polls = r.notePolling(r.watch.polling()); r.polls {
		return min(r.lib.opt.Rescan, max(pollEvery, 20*report.Took))
	}
	return r.lib.opt.Rescan
}

// part looks at what events named; false asks for a whole scan soon.
func (r *runner) part(ctx context.Context, scopes []string) bool {
	report, unsettled, err := r.lib.rescan(ctx, scopes, r.waited, r.watch.enter)
	for path := range r.waited {
		for _, s := range scopes {
			if within(path, s) {
				delete(r.waited, path)
				break
			}
		}
	}
	r.await(unsettled)
	r.problem(ctx, err)
	r.failed = r.failed || err != nil
	if err == nil {
		level := slog.LevelDebug // a file at a time: a copied album would fill the log
		if report.Quarantined > 0 {
			level = slog.LevelInfo
		}
		r.log(ctx, report, level)
		r.polls = r.notePolling(r.watch.polling())
	}
	return err == nil
}

// await comes back to files that were being written.
func (r *runner) await(unsettled map[string]fileStamp) {
	maps.Copy(r.waited, unsettled)
	for path := range unsettled {
		r.watch.mark(path, time.Now(), r.lib.opt.Settle, false)
	}
}

func (r *runner) notePolling(polls bool) bool {
	switch {
	case polls && !r.polls && r.watch.n != nil:
		r.lib.opt.Log.Warn("too many folders to watch: scanning the media folder at intervals instead; "+
			"raise the limit with 'sysctl fs.inotify.max_user_watches=524288'", "every", pollEvery)
	case !polls && r.polls:
		r.lib.opt.Log.Info("watching all media folders again")
	}
	return polls
}

func (r *runner) log(ctx context.Context, report Report, level slog.Level) {
	if report.Added+report.Updated+report.Removed+report.Quarantined > 0 {
		r.lib.opt.Log.Log(ctx, level, "media library changed", "tracks", len(r.lib.Snapshot().Tracks), "added", report.Added, "updated", report.Updated,
			"removed", report.Removed, "quarantined", report.Quarantined, "took", report.Took.Round(time.Millisecond))
	}
	for _, problem := range report.Problems {
		r.problem(context.Background(), errors.New(problem))
	}
}

// problem logs an error once, however often it comes back.
func (r *runner) problem(ctx context.Context, err error) {
	if err = errOf(ctx, err); err == nil {
		return
	}
	if text := err.Error(); text != r.logged {
		r.logged = text
		r.lib.opt.Log.Error("cannot keep the media library up to date", "err", err)
	}
}
