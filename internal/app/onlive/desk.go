package onlive

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk"
	"github.com/athir-radio/athir/internal/live/desk/bus"
	"github.com/athir-radio/athir/internal/live/record"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/sound/rider"
)

const (
	// liveLoudness is what live voices are brought to, in LUFS (mission: Limits, loudness).
	liveLoudness = -14
	// recordingsLeave is what recordings leave of the disk, in bytes, for what the air needs.
	recordingsLeave = 1 << 30
)

// Desk mixes everything live for the engine until ctx ends. rtmp is where this
// machine's own ingest is played, "127.0.0.2:PORT"; empty: there is none.
func Desk(ctx context.Context, r role.Role, rtmp string) error {
	cfg, log := r.Config, r.Log
	sockets, err := doors.SocketDir(cfg)
	if err != nil {
		return err
	}
	networks, err := cfg.Live.NetworkList()
	if err != nil {
		return err
	}
	o := desk.Options{
		Log: log, HarborAddress: func() string { return config.Local(cfg.Ports.Harbor) }, HarborPassword: harborPassword(cfg),
		StudioPassword: cfg.Secret(config.SourcePassword), Control: askControl(cfg), Fetch: fetch.New(fetch.Options{Allow: networks}),
		RTMPOwn: rtmpOwn(cfg), RTMPPlay: rtmp, Rider: func() bus.Rider { return rider.New(live.Rate, liveLoudness) },
	}
	if cfg.Node.Remote {
		b, err := openBeds(cfg, log)
		if err != nil {
			return err
		}
		defer b.store.Close()
		o.Bed = b.Fetch
	}
	var keep *record.Recorder // nil: nothing is recorded
	if cfg.Live.Record {
		keep, err = record.Open(record.Options{
			Dir: cfg.RecordingsDir(), Log: log, MaxBytes: cfg.Live.RecordingsBytes(), ReserveBytes: recordingsLeave, Now: time.Now,
			MaxAge: time.Duration(cfg.Live.RecordingsDays * 24 * float64(time.Hour)),
		})
		if err != nil {
			return err
		}
		o.Recorder, o.Recordings = recorder{keep}, keep.Handler()
	}
	d := desk.New(o)
	door, err := r.Handover.Listen(ctx, "tcp", cfg.Public(cfg.Ports.Live))
	if err != nil {
		return fmt.Errorf("ports.live: %w", err)
	}
	return r.Run(ctx, role.Work{Well: role.PartReached(sockets, doors.Desk), Busy: sourcesConnected(d), Run: func(ctx context.Context) error {
		g, ctx := errgroup.WithContext(ctx)
		if keep != nil {
			g.Go(func() error { return doors.Named("recordings", keep.Run(ctx)) })
		}
		g.Go(func() error { return doors.Named("live desk", d.Run(ctx)) })
		g.Go(func() error { return doors.Named("encoders", d.Ingest(ctx, doors.NewBound(cfg, log).Listener(door))) })
		g.Go(func() error {
			return doors.Named("inner socket", innerhttp.Serve(ctx, doors.PartSocket(sockets, doors.Desk), answering(d.Handler(), nil), r.Handover))
		})
		return g.Wait()
	}})
}

// harborPassword is that of the engine that runs here, which has one of its own: the source
// password may have been replaced since it was started.
func harborPassword(cfg *config.Config) func() string {
	file := playout.Options{Dir: cfg.NodeDir()}.PasswordFile()
	return func() string {
		text, err := os.ReadFile(file) //nolint:gosec // our own
		if err != nil {
			return cfg.Secret(config.SourcePassword).Current()
		}
		return string(text)
	}
}

// rtmpOwn is where the addresses of the node's own RTMP ingest begin, as the registry has
// them.
func rtmpOwn(cfg *config.Config) string { return "rtmp://" + config.Local(cfg.Ports.RTMP) + "/" }

// recorder adapts recordings to the desk.
type recorder struct{ *record.Recorder }

// Begin implements desk.Recorder.
func (r recorder) Begin(s live.Source, mode live.Mode) {
	r.Recorder.Begin(record.Meta{Stream: s.ID, Title: s.Title, Creator: s.Creator, Mode: mode})
}

// Report implements desk.Recorder.
func (r recorder) Report() *live.RecordingReport { return r.Current() }
