package onlibrary

import (
	"context"
	"log/slog"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/sound/mastering"
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
func openRack(ctx context.Context, o Options, registry aircopy.Registry, m *mastering.Master) (*aircopy.Rack, error) {
	profiles, err := o.Config.Library.ProfileOf()
	if err != nil {
		return nil, err
	}
	return aircopy.Open(ctx, o.DB, aircopy.Options{
		Root: o.Config.MediaDir(), Dir: o.Config.MasteredDir(), Registry: registry, Master: m, Preview: m.Preview,
		Profile:  mastering.PerCategory(profiles).Name,
		Disabled: !o.Config.Library.Mastering, Log: o.Log, Hold: o.Hold,
	})
}
