package app

import (
	"context"
	"errors"
	"log/slog"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// localDelivery is delivery to this machine, as the scheduler wants it.
type localDelivery struct {
	*delivery.Delivery
	log  *slog.Logger
	node supervisor
}

func newDelivery(ctx context.Context, cfg *config.Config, log *slog.Logger, rack *aircopy.Rack, node supervisor) *localDelivery {
	local := delivery.NewLocal(cfg.Playlist(), log)
	// A list that a kill cut short is put right before anyone reads it.
	if err := local.Prepare(ctx); err != nil {
		log.Error("prepare the playlist file", "err", err)
	}
	return &localDelivery{delivery.New(local, rack.Size, log), log, node}
}

// Push implements scheduler.Delivery.
func (d *localDelivery) Push(ctx context.Context, items []playlist.Item) (int, error) {
	result, err := d.Delivery.Push(ctx, items)
	var unusable *delivery.UnusableError
	if errors.As(err, &unusable) {
		missing := &scheduler.MissingError{}
		for _, u := range unusable.Items {
			missing.Paths = append(missing.Paths, u.Path)
		}
		return 0, missing
	}
	if err != nil {
		return 0, err
	}
	if result.Replaced {
		d.log.Warn("the playlist file had been replaced: restarting the playout engine, which watches the old one")
		if err := d.node.Restart(ctx, programEngine); err != nil {
			d.log.Error("restart the playout engine", "err", err)
		}
	}
	return result.Kept, nil
}
