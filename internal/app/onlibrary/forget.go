package onlibrary

import (
	"context"
	"maps"
	"time"

	"github.com/athir-radio/athir/internal/kit/wallclock"
)

const (
	forgetEvery = time.Hour
	// sure is for how long the clock has to go on before anything is removed for its age.
	sure = 6 * time.Hour
	// unnamed is how long a picture is kept that nothing names yet.
	unnamed = 24 * time.Hour
)

// forget removes, once a day until ctx ends, what is said of tracks no longer: old deeds, and
// the pictures that none names.
func (l *Library) forget(ctx context.Context) error {
	var clock wallclock.Steady
	var last time.Time
	ticks := time.NewTicker(forgetEvery)
	defer ticks.Stop()
	for {
		now := time.Now()
		if clock.Look(now, forgetEvery) >= sure && now.Sub(last).Abs() >= 24*time.Hour {
			last = now
			if err := l.Forget(ctx, now); err != nil && ctx.Err() == nil {
				l.log.Warn("cannot remove old deeds and pictures: it is tried again tomorrow", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// Forget does so once.
func (l *Library) Forget(ctx context.Context, now time.Time) error {
	if err := l.Notes.Forget(ctx); err != nil {
		return err
	}
	if err := l.Lists.Forget(ctx); err != nil {
		return err
	}
	named, err := l.Notes.Covers(ctx)
	if err != nil {
		return err
	}
	inFiles, err := l.Art.Covers(ctx)
	if err != nil {
		return err
	}
	maps.Copy(named, inFiles)
	removed, err := l.Covers.Sweep(named, now.Add(-unnamed))
	if removed > 0 {
		l.log.Info("pictures that nothing names any more are removed", "pictures", removed)
	}
	return err
}
