package app

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/app/onnode"
	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/relay"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/web/streams"
)

// openTelemetry counts the listeners of the relay, of /stream and of the streaming
// server, which is asked only while listening returns nil.
func openTelemetry(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, holder *onnode.Holder, view func() *scheduler.View, fan *streams.Streams,
	listening func(context.Context) error, tell func(event string, payload any), reached func(telemetry.Milestone),
	atEdges func() (ids []string, sent uint64),
) (*telemetry.Telemetry, error) {
	relay := "athir"
	if cfg.HLS.MediaMTX != "" {
		relay = "mediamtx"
	}
	return telemetry.Open(ctx, telemetry.Options{
		Log: log, DB: db, Zone: cfg.Timezone.Location, Now: time.Now, Tell: tell, Reached: reached,
		HLS:     telemetry.Source{Name: relay, Ask: askRelay(func() string { return holder.At(cfg.Ports.Paths) }, atEdges)},
		Icecast: telemetry.Source{Name: "icecast", Ask: askIcecast(cfg, holder, fan, listening)},
		Stream:  telemetry.Source{Name: "stream", Ask: askStream(fan)},
		Air:     func() []telemetry.Airing { return airings(view()) },
	})
}

// askRelay counts the sessions of the main path, and those that edges serve themselves.
func askRelay(at func() string, atEdges func() ([]string, uint64)) func(context.Context) (telemetry.Reading, error) {
	client := &http.Client{Timeout: 2 * time.Second}
	return func(ctx context.Context) (telemetry.Reading, error) {
		p, err := relay.ReadMainPath(ctx, client, at())
		ids, sent := atEdges()
		for _, reader := range p.Readers {
			ids = append(ids, reader.ID)
		}
		return telemetry.Reading{Listeners: len(ids), IDs: ids, BytesSent: p.BytesSent + sent}, err
	}
}

// askStream counts the listeners of /stream, which this process serves.
func askStream(fan *streams.Streams) func(context.Context) (telemetry.Reading, error) {
	return func(context.Context) (telemetry.Reading, error) {
		s := fan.Stats()
		return telemetry.Reading{Listeners: s.Listeners, Begun: s.Served, BytesSent: s.BytesOut}, nil
	}
}

// askIcecast counts the listeners of the streaming server, without our own parts,
// whose listeners are counted elsewhere. The bytes per listener are those that the
// /stream fan-out received.
func askIcecast(cfg *config.Config, holder *onnode.Holder, fan *streams.Streams, listening func(context.Context) error) func(context.Context) (telemetry.Reading, error) {
	client, o := &http.Client{Timeout: 2 * time.Second}, icecastOptions(cfg)
	return func(ctx context.Context) (telemetry.Reading, error) {
		o.Host = holder.Host()
		if err := listening(ctx); err != nil {
			return telemetry.Reading{}, err
		}
		all, err := icecast.Listeners(ctx, client, o)
		if err != nil {
			return telemetry.Reading{}, err
		}
		r := telemetry.Reading{IDs: []string{}, BytesEach: fan.Main.Stats().BytesIn}
		for _, l := range all {
			if !l.Ours() && !(cfg.Node.Remote && l.NamedAsOurs()) {
				r.IDs = append(r.IDs, l.ID)
			}
		}
		r.Listeners = len(r.IDs)
		return r, nil
	}
}

// airings returns what is and was on air, newest first.
func airings(v *scheduler.View) []telemetry.Airing {
	var out []telemetry.Airing
	for _, a := range append([]scheduler.OnAir{v.OnAir}, v.Past...) {
		if a.StartedAt.IsZero() || a.Kind == scheduler.Boot {
			continue
		}
		out = append(out, telemetry.Airing{
			ID: a.ID(), Path: a.Track.Path, Title: a.Track.Title, Artist: a.Track.Artist,
			Category: string(a.Track.Category), Type: cmp.Or(a.Type, "music"), Kind: string(a.Kind), StartedAt: a.StartedAt,
		})
	}
	return out
}
