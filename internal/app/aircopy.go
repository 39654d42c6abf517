package app

import (
	"context"
	"log/slog"
	"slices"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// openMastering opens a Master that keeps its records in the station's database.
func openMastering(ctx context.Context, db *store.DB, log *slog.Logger) (*mastering.Master, error) {
	ledger, err := mastering.OpenLedger(ctx, db)
	if err != nil {
		return nil, err
	}
	return mastering.New(mastering.Options{Ledger: ledger, Log: log}), nil
}

// openRack opens the on-air copies. inUse may be asked from the first moment on.
func openRack(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, lib *media.Library, m *mastering.Master, inUse func(abs string) bool,
) (*aircopy.Rack, error) {
	profiles, err := cfg.Library.ProfileOf()
	if err != nil {
		return nil, err
	}
	return aircopy.Open(ctx, db, aircopy.Options{
		Root: cfg.MediaDir(), Dir: cfg.MasteredDir(), Registry: inMedia{lib}, Master: m,
		Profile: mastering.PerCategory(profiles).Name,
		InUse:   inUse, Disabled: !cfg.Library.Mastering, Log: log,
	})
}

// inMedia is the registry as the on-air copies know it.
type inMedia struct{ lib *media.Library }

func (r inMedia) Tracks() []station.Track { return r.lib.Snapshot().Tracks }

func (r inMedia) Subscribe() (<-chan struct{}, func()) { return r.lib.Subscribe() }

// planned reports that a track is on air, was last, or is to come. It is asked
// of thousands of copies in a row.
func planned(v *scheduler.View, rel string) bool {
	if v.OnAir.Track.Path == rel || len(v.Past) > 0 && v.Past[0].Track.Path == rel {
		return true
	}
	return slices.ContainsFunc(v.Left(), func(e rotation.Entry) bool { return e.Track.Path == rel })
}
