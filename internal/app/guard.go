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
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// deadAir is the dead-air guard, where it is wanted. It runs in the control
// plane: that owns what it steers (the rotation) and what it keeps, and hears
// what listeners hear wherever the node is. What must hold without it is the
// node's: the server's standby audio, the engine's emergency audio, the
// supervisor's restarts.
type deadAir struct{ *guard.Guard }

func openGuard(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB,
	onair *scheduler.Scheduler, node *link, nodePath func(rel string) string, tell func(event string, payload any),
) (*deadAir, error) {
	if !cfg.Guard.Enabled {
		return &deadAir{}, nil
	}
	g, err := guard.Open(ctx, guard.Options{
		Log: log, DB: db, URL: "http://" + cfg.OnNode(cfg.Ports.Icecast) + "/" + station.MainChannel,
		Standby: standby.Mark, Listening: func() bool { return node.listening(ctx) == nil },
		Level: cfg.Guard.LevelDBFS, Silence: inSeconds(cfg.Guard.SilenceSeconds), LiveSilence: inSeconds(cfg.Guard.LiveSilenceSeconds),
		Air: rescue.New(rescue.Options{
			OnAir: onair, Engine: node.player, Programs: node.programs, Listening: node.listening, Server: icecastOfNode(cfg), File: nodePath,
		}),
		OnAir: func() guard.Source { return rescue.SourceOf(onair.View().OnAir.Kind) },
		Intact: func(ctx context.Context) bool {
			ok, err := node.intact(ctx)
			// Before the first rotation there is nothing to compare with; a disk
			// that cannot be read is none of the guard's to mend.
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

// atStart is what is true of alarms when the control plane starts, whatever was
// told before it died: the guard has heard nothing yet, and raises its own.
func (d *deadAir) atStart(now time.Time) guard.Alert {
	a := guard.Alert{State: "cleared", Text: "no alarm", At: now.UnixMilli()}
	if d.Guard != nil {
		if last := d.Status().LastAlarm; last != nil {
			a.Kind = last.Kind
		}
	}
	return a
}

// shown is the guard as the API wants it; nil where it is switched off.
func (d *deadAir) shown() api.DeadAir {
	if d.Guard == nil {
		return nil
	}
	return d
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// standbyPatience is how long the standby audio leaves a station that starts to
// itself: making it takes time from programs that are wanted sooner.
const standbyPatience = 20 * time.Second

// standby feeds the streaming server's standby mount until ctx ends.
func (n *node) standby(ctx context.Context) error {
	ice, engine := icecastOptions(n.cfg), n.engineOptions()
	files := []string{engine.EmergencyFile()}
	if engine.Emergency != "" {
		files = append([]string{engine.Emergency}, files...)
	}
	return standby.Run(ctx, standby.Options{
		Log: n.log, Dir: n.cfg.NodeDir(), Files: files, Port: n.cfg.Ports.Icecast, Mount: ice.StandbyMount(), Password: n.cfg.SourcePassword,
		Begin: func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, standbyPatience)
			defer cancel()
			_ = retry.Until(ctx, func(ctx context.Context) error { return icecast.OnAir(ctx, n.http, ice) })
		},
	})
}
