package app

import (
	"context"
	"errors"
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

// openMastering opens the mastering desk whose records are the station's.
func openMastering(ctx context.Context, db *store.DB, log *slog.Logger) (*masters, error) {
	ledger, err := mastering.OpenLedger(ctx, db)
	if err != nil {
		return nil, err
	}
	return &masters{mastering.New(mastering.Options{Ledger: ledger, Log: log}), ledger}, nil
}

// masters is the station's mastering desk and its ledger.
type masters struct {
	*mastering.Master
	ledger *mastering.Ledger
}

// openRack opens the on-air copies. inUse may be asked from the first moment on.
func openRack(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, lib *media.Library, m *masters, inUse func(abs string) bool,
) (*aircopy.Rack, error) {
	profiles, err := cfg.Library.ProfileOf()
	if err != nil {
		return nil, err
	}
	return aircopy.Open(ctx, db, aircopy.Options{
		Root: cfg.MediaDir(), Dir: cfg.MasteredDir(), Registry: inMedia{lib}, Master: copyDesk{m},
		Profile: func(c station.Category) string {
			if name, ok := profiles[c]; ok {
				return name
			}
			return mastering.Station
		},
		InUse: inUse, Disabled: !cfg.Library.Mastering, Log: log,
	})
}

// inMedia is the registry as the on-air copies know it.
type inMedia struct{ lib *media.Library }

func (r inMedia) Tracks() []station.Track { return r.lib.Snapshot().Tracks }

func (r inMedia) Subscribe() (<-chan struct{}, func()) { return r.lib.Subscribe() }

// copyDesk is the mastering desk as the on-air copies know it.
type copyDesk struct{ *masters }

func (d copyDesk) Master(ctx context.Context, in, out, profile string, room func() error, progress func(float64)) (aircopy.Outcome, error) {
	p, err := mastering.Named(profile)
	if err != nil {
		return aircopy.Outcome{}, err
	}
	rec, err := d.Do(ctx, mastering.Job{In: in, Out: out, Profile: p, Replace: true, Trim: true, KeepFit: true, Room: room}, progress)
	var no *mastering.RefusedError
	switch {
	case errors.As(err, &no) && no.Reason == mastering.Changed:
		return aircopy.Outcome{}, aircopy.ErrChanged
	case errors.As(err, &no):
		return aircopy.Outcome{}, &aircopy.RefusedError{Reason: no.Text}
	}
	return aircopy.Outcome{
		AsIs: rec.Fit, Duration: rec.Duration, CueIn: rec.CueIn, CueOut: rec.CueOut, Trimmed: rec.TrimmedIn + rec.TrimmedOut,
		LUFS: rec.Integrated, DBTP: rec.TruePeak, Gain: rec.Gain, Method: string(rec.Method),
	}, err
}

func (d copyDesk) Forget(ctx context.Context, out string) error { return d.ledger.Forget(ctx, out) }

// planned reports that a track is on air, was last, or is to come. It is asked
// of thousands of copies in a row.
func planned(v *scheduler.View, rel string) bool {
	if v.OnAir.Track.Path == rel || len(v.Past) > 0 && v.Past[0].Track.Path == rel {
		return true
	}
	return slices.ContainsFunc(v.Left(), func(e rotation.Entry) bool { return e.Track.Path == rel })
}
