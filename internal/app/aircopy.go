package app

import (
	"context"
	"log/slog"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/media"
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

// openRack opens the on-air copies.
func openRack(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, lib *media.Library, m *mastering.Master, hold func(context.Context) error,
) (*aircopy.Rack, error) {
	profiles, err := cfg.Library.ProfileOf()
	if err != nil {
		return nil, err
	}
	return aircopy.Open(ctx, db, aircopy.Options{
		Root: cfg.MediaDir(), Dir: cfg.MasteredDir(), Registry: inMedia{lib}, Master: m, Preview: m.Preview,
		Profile:  mastering.PerCategory(profiles).Name,
		Disabled: !cfg.Library.Mastering, Log: log, Hold: hold,
	})
}

// inMedia shows the library to the on-air copies.
type inMedia struct{ lib *media.Library }

func (r inMedia) Tracks() []station.Track { return r.lib.Snapshot().Tracks }

func (r inMedia) Subscribe() (<-chan struct{}, func()) { return r.lib.Subscribe() }
