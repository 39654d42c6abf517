// Package rescue lets the dead-air guard examine the programs behind the audio and act
// on them: it queries engine, streaming server and supervisor, and carries out the
// guard's steps. It decides nothing: onair/guard does.
package rescue

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/station"
)

// SourceOf returns the guard's name for what is on air.
func SourceOf(k scheduler.Kind) guard.Source {
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

// sightPatience is how long a healthy program may take to answer.
const sightPatience = time.Second

// Options are the programs that an Air examines and acts on.
type Options struct {
	OnAir     *scheduler.Scheduler
	Engine    playout.Engine
	Programs  supervise.Node
	Listening func(ctx context.Context) error // nil once the streaming server can take connections
	Server    icecast.Options                 // the streaming server, reached from this machine
	File      func(rel string) string         // path of a track
}

// Air implements guard.Air.
type Air struct {
	Options
	http *http.Client
}

// New makes an Air.
func New(o Options) *Air {
	return &Air{o, &http.Client{Timeout: sightPatience, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// Sight implements guard.Air.
func (a *Air) Sight(ctx context.Context) guard.Sight {
	ctx, cancel := context.WithTimeout(ctx, sightPatience)
	defer cancel()
	var wg sync.WaitGroup
	var out guard.Sight
	var engine, server error
	var programs []supervise.Status
	wg.Go(func() {
		var st playout.Status
		if st, engine = a.Engine.Status(ctx); engine == nil {
			out.OnAir = SourceOf(scheduler.Kind(st.OnAir))
		}
	})
	wg.Go(func() {
		var st icecast.Status
		if server = a.Listening(ctx); server != nil {
			return
		}
		if st, server = icecast.ReadStatus(ctx, a.http, a.Server); server == nil {
			_, out.Feed = st.Source(station.MainChannel)
		}
	})
	wg.Go(func() { programs, _ = a.Programs.Programs(ctx) }) // a node that does not answer has none
	wg.Wait()
	out.Engine, out.Server = health(engine, programs, playout.Program), health(server, programs, icecast.Program)
	return out
}

// health judges a program by its answer and by the supervisor's report.
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
func (a *Air) Take(ctx context.Context, s guard.Step) error {
	switch s {
	case guard.DropLive:
		return a.Engine.DisconnectLive(ctx)
	case guard.Skip:
		return a.Engine.Skip(ctx)
	case guard.Repush:
		st, err := a.Engine.Status(ctx)
		if err == nil && st.OnAir == playout.KindEmergency {
			return errors.Join(a.OnAir.Rebuild(ctx), a.Engine.Emergency(ctx, false))
		}
		return a.OnAir.Skip(ctx)
	case guard.Rewrite:
		return errors.Join(a.OnAir.Rebuild(ctx), a.Engine.Emergency(ctx, false))
	case guard.RestartEngine:
		return a.Programs.Kill(ctx, playout.Program)
	case guard.RestartServer:
		return a.Programs.Kill(ctx, icecast.Program)
	case guard.AirEmergency:
		return a.Engine.Emergency(ctx, true)
	case guard.Wait, guard.WaitFeed:
		return nil
	}
	return fmt.Errorf("no such step: %s", s)
}

// Release implements guard.Air. The emergency audio ends even if the rotation cannot be
// rebuilt: an old rotation is better than none.
func (a *Air) Release(ctx context.Context) error {
	return errors.Join(a.OnAir.Rebuild(ctx), a.Engine.Emergency(ctx, false))
}

const (
	// before and after bound the part of the recording on air that is judged, around
	// the present moment.
	before  = 20 * time.Second
	after   = 10 * time.Second
	decoder = 10 // niceness
)

// Original implements guard.Air.
func (a *Air) Original(ctx context.Context) (pcm []int16, now int, err error) {
	air := a.OnAir.View().OnAir
	if air.Kind != scheduler.Rotation || air.Track.Path == "" {
		return nil, 0, fmt.Errorf("no recording is on air: %w", station.ErrConflict)
	}
	at := time.Since(air.StartedAt)
	dropped := 0
	most := int((before + after).Seconds()) * guard.Rate
	err = ffmpeg.Decode(ctx, a.File(air.Track.Path), ffmpeg.Decoding{Rate: guard.Rate, Channels: 1, First: at + after, Nice: decoder}, func(part []float32) error {
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
