package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/rescue"
	"github.com/athir-radio/athir/internal/node/standby"
	"github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/web/api"
)

// deadAir is the dead-air guard; its Guard is nil if it is switched off. It runs in
// the control plane, which owns the rotation and the database, and judges what the node
// hears of its output. The node has its own protection without it: standby audio,
// emergency audio, and the watchdogs of its programs.
type deadAir struct{ *guard.Guard }

func openGuard(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB,
	onair *scheduler.Scheduler, node *link, nodePath func(rel string) string, shed func(), tell func(event string, payload any),
) (*deadAir, error) {
	if !cfg.Guard.Enabled {
		return &deadAir{}, nil
	}
	heard := func(ctx context.Context) (guard.Report, error) {
		told, err := node.report(ctx)
		if err == nil {
			return told.forGuard()
		}
		return guard.Report{}, err
	}
	air := rescue.New(rescue.Options{OnAir: onair, Engine: node.player, File: nodePath, Shed: shed})
	g, err := guard.Open(ctx, guard.Options{
		Log: log, DB: db, Node: heard, Air: air,
		Level: cfg.Guard.LevelDBFS, Silence: inSeconds(cfg.Guard.SilenceSeconds), LiveSilence: inSeconds(cfg.Guard.LiveSilenceSeconds),
		OnAir: func() guard.Source { return rescue.SourceOf(onair.View().OnAir.Kind) }, Beginning: func() bool { return onair.View().Beginning },
		Intact: func(ctx context.Context) bool {
			ok, err := node.intact(ctx)
			// Before the first rotation there is nothing to compare with, and the
			// guard cannot repair an unreadable disk.
			return ok || err != nil || len(onair.View().Rotation.Entries) == 0
		},
		Tell: tell,
	})
	return &deadAir{g}, err
}

// run guards until ctx ends.
func (d *deadAir) run(ctx context.Context) error {
	if d.Guard == nil {
		return nil
	}
	return d.Run(ctx)
}

// atStart is the alert published when the control plane starts: it clears what was
// raised before a crash. The guard has heard nothing yet, and raises its own.
func (d *deadAir) atStart(now time.Time) guard.Alert {
	a := guard.Alert{State: "cleared", Text: "no alarm", At: now.UnixMilli()}
	if d.Guard != nil {
		if last := d.Status().LastAlarm; last != nil {
			a.Kind = last.Kind
		}
	}
	return a
}

// standing returns how the guard stands; not on: it is switched off.
func (d *deadAir) standing() (s guard.Standing, on bool) {
	if d.Guard == nil {
		return s, false
	}
	return d.Status(), true
}

// shown returns the guard for the API; nil if it is switched off.
func (d *deadAir) shown() api.DeadAir {
	if d.Guard == nil {
		return nil
	}
	return d
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// standbyPatience is how long making the standby audio waits for a starting station
// to be on air: it takes CPU from programs that are needed sooner.
const standbyPatience = 20 * time.Second

// standby feeds the streaming server's standby mount until ctx ends.
func (n *node) standby(ctx context.Context) error {
	ice, engine := icecastOptions(n.cfg), n.engineOptions()
	files := []string{engine.EmergencyFile()}
	if engine.Emergency != "" {
		files = append([]string{engine.Emergency}, files...)
	}
	return standby.Run(ctx, standby.Options{
		Log: n.log, Dir: n.cfg.NodeDir(), Files: files, Port: n.cfg.Ports.Icecast, Mount: ice.StandbyMount(), Password: n.cfg.Secret(config.SourcePassword).Current,
		Begin: func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, standbyPatience)
			defer cancel()
			_ = retry.Until(ctx, func(ctx context.Context) error { return icecast.OnAir(ctx, n.http, ice) })
		},
	})
}
