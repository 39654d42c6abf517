package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/standby"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
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
		Air: &airGuarded{
			cfg: cfg, onair: onair, link: node, nodePath: nodePath,
			http: &http.Client{Timeout: sightPatience, Transport: &http.Transport{DisableKeepAlives: true}},
		},
		OnAir: func() guard.Source { return sourceOf(onair.View().OnAir.Kind) },
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
	a := guard.Alert{State: "cleared", Text: "no alarm is on", At: now.UnixMilli()}
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

func sourceOf(k scheduler.Kind) guard.Source {
	switch k {
	case scheduler.Rotation:
		return guard.Rotation
	case scheduler.Live:
		return guard.Live
	case scheduler.Emergency:
		return guard.EmergencySource
	case scheduler.Boot:
	}
	return guard.Nothing
}

// sightPatience is how long a program that is well may take to answer.
const sightPatience = time.Second

// airGuarded is what the guard looks at and acts on.
type airGuarded struct {
	cfg      *config.Config
	onair    *scheduler.Scheduler
	link     *link
	nodePath func(rel string) string
	http     *http.Client
}

// Sight implements guard.Air.
func (a *airGuarded) Sight(ctx context.Context) guard.Sight {
	ctx, cancel := context.WithTimeout(ctx, sightPatience)
	defer cancel()
	var wg sync.WaitGroup
	var out guard.Sight
	var engine, server error
	var programs []supervise.Status
	wg.Go(func() {
		var st playout.Status
		if st, engine = a.link.player.Status(ctx); engine == nil {
			out.OnAir = sourceOf(scheduler.Kind(st.OnAir))
		}
	})
	wg.Go(func() {
		var st icecast.Status
		if server = a.link.listening(ctx); server != nil {
			return
		}
		if st, server = icecast.ReadStatus(ctx, a.http, icecastOfNode(a.cfg)); server == nil {
			_, out.Feed = st.Source(station.MainChannel)
		}
	})
	wg.Go(func() { programs, _ = a.link.programs.Programs(ctx) }) // a node that is away has none
	wg.Wait()
	out.Engine, out.Server = health(engine, programs, playout.Program), health(server, programs, icecast.Program)
	return out
}

// health is how a program is that gave that answer.
func health(answer error, programs []supervise.Status, name string) guard.Health {
	if answer == nil {
		return guard.Well
	}
	for _, p := range programs {
		if p.Name == name && p.State == supervise.Running.String() {
			return guard.Wedged
		}
	}
	return guard.Away
}

// Take implements guard.Air.
func (a *airGuarded) Take(ctx context.Context, s guard.Step) error {
	switch s {
	case guard.DropLive:
		return a.link.player.DisconnectLive(ctx)
	case guard.Skip:
		return a.link.player.Skip(ctx)
	case guard.Repush:
		st, err := a.link.player.Status(ctx)
		if err == nil && st.OnAir == playout.KindEmergency {
			return errors.Join(a.onair.Rebuild(ctx), a.link.player.Emergency(ctx, false))
		}
		return a.onair.Skip(ctx)
	case guard.Rewrite:
		return errors.Join(a.onair.Rebuild(ctx), a.link.player.Emergency(ctx, false))
	case guard.RestartEngine:
		return a.link.programs.Kill(ctx, playout.Program)
	case guard.RestartServer:
		return a.link.programs.Kill(ctx, icecast.Program)
	case guard.AirEmergency:
		return a.link.player.Emergency(ctx, true)
	case guard.Wait, guard.WaitFeed:
		return nil
	}
	return fmt.Errorf("no such step: %s", s)
}

// Release implements guard.Air. A rotation that cannot be renewed is better than none.
func (a *airGuarded) Release(ctx context.Context) error {
	return errors.Join(a.onair.Rebuild(ctx), a.link.player.Emergency(ctx, false))
}

const (
	// before and after are how much of the recording on air is judged, around the
	// present moment.
	before  = 20 * time.Second
	after   = 10 * time.Second
	decoder = 10 // niceness
)

// Original implements guard.Air.
func (a *airGuarded) Original(ctx context.Context) (pcm []int16, now int, err error) {
	air := a.onair.View().OnAir
	if air.Kind != scheduler.Rotation || air.Track.Path == "" {
		return nil, 0, fmt.Errorf("no recording is on air: %w", station.ErrConflict)
	}
	at := time.Since(air.StartedAt)
	dropped := 0
	most := int((before + after).Seconds()) * guard.Rate
	err = ffmpeg.Decode(ctx, a.nodePath(air.Track.Path), ffmpeg.Decoding{Rate: guard.Rate, Channels: 1, First: at + after, Nice: decoder}, func(part []float32) error {
		for _, v := range part {
			pcm = append(pcm, int16(32767*max(-1, min(1, v))))
		}
		if drop := len(pcm) - most; drop > most {
			pcm, dropped = append(pcm[:0], pcm[drop:]...), dropped+drop
		}
		return nil
	})
	now = int(at.Seconds()*guard.Rate) - dropped
	return pcm, max(0, min(now, len(pcm))), err
}

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
