// Package local delivers the rotation to an engine on this machine. It does not judge
// the list: the scheduler plans it, delivery checks it.
package local

import (
	"context"
	"errors"
	"log/slog"

	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// Delivery is the scheduler's delivery to this machine.
type Delivery struct {
	*delivery.Delivery
	log    *slog.Logger
	engine playout.Engine
}

// Open prepares the playlist file: a list that a kill left incomplete is repaired
// before anything reads it. size returns the size of a file that may air.
func Open(ctx context.Context, playlist string, size func(path string) int64, engine playout.Engine, log *slog.Logger) *Delivery {
	place := delivery.NewLocal(playlist, log)
	if err := place.Prepare(ctx); err != nil {
		log.Error("cannot prepare the playlist file", "err", err)
	}
	return &Delivery{delivery.New(place, size, log), log, engine}
}

// Push implements scheduler.Delivery.
func (d *Delivery) Push(ctx context.Context, items []playlist.Item) (int, error) {
	result, err := d.Delivery.Push(ctx, items)
	return Settle(ctx, result, err, items, d.engine, d.log)
}

// Settle turns the result of a push into the scheduler's answer: how many entries are
// in place, or which cannot be used. It tells an engine that watches a file that is no
// longer the playlist; the song on air goes on.
func Settle(ctx context.Context, result delivery.Result, err error, items []playlist.Item, engine playout.Engine, log *slog.Logger) (int, error) {
	var unusable *delivery.UnusableError
	if errors.As(err, &unusable) {
		missing := &scheduler.MissingError{}
		for _, u := range unusable.Items {
			missing.Paths = append(missing.Paths, items[u.Index].Path)
		}
		return 0, missing
	}
	if err != nil {
		return 0, err
	}
	if result.Replaced {
		log.Warn("playlist file was replaced or deleted by another program, and is put back")
		if err := engine.Rewatch(ctx); err != nil {
			log.Warn("cannot tell the playout engine at once, it looks again within seconds", "err", err)
		}
	}
	return result.Kept, nil
}
