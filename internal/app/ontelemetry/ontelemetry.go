// Package ontelemetry wires the counting of listeners: which servers are asked, and what is
// known of whom they tell of.
package ontelemetry

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/relay"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/streams"
)

// Options of Open.
type Options struct {
	Config *config.Config
	Log    *slog.Logger
	DB     *store.DB
	Atlas  *census.Atlas // nil: countries are unknown

	// Host is that of the node that has the air, empty for this machine.
	Host func() string
	// Paths is the address of its list of paths.
	Paths func() string
	// Icecast is the streaming server, which is asked only while Listening returns nil.
	Icecast   icecast.Options
	Listening func(context.Context) error
	Streams   *streams.Streams
	// AtEdges are the listeners that edges serve HLS.
	AtEdges func() (ids []string, sent uint64, crowd census.Crowd)

	View func() *scheduler.View
	// Find returns a track of the library by its path; nil: there is none.
	Find    func(path string) (station.Track, bool)
	Tell    func(event string, payload any)
	Reached func(telemetry.Milestone)
}

// Open counts the listeners of the relay, of /stream and of the streaming server.
func Open(ctx context.Context, o Options) (*telemetry.Telemetry, error) {
	name := "athir"
	if o.Config.HLS.MediaMTX != "" {
		name = "mediamtx"
	}
	opt := telemetry.Options{
		Log: o.Log, DB: o.DB, Zone: o.Config.Timezone.Location, Now: time.Now, Tell: o.Tell, Reached: o.Reached,
		HLS:     telemetry.Source{Name: name, Ask: o.askRelay()},
		Icecast: telemetry.Source{Name: "icecast", Ask: o.askIcecast()},
		Stream:  telemetry.Source{Name: "stream", Ask: o.askStream},
		Air:     func() []telemetry.Airing { return Airings(o.View()) },
	}
	if o.Find != nil {
		opt.Known = func(path, title, artist string) (telemetry.Release, bool) {
			t, there := o.Find(path)
			return releaseOf(t), there && t.Title == title && t.Artist == artist
		}
	}
	return telemetry.Open(ctx, opt)
}

// askRelay counts the sessions of the main path, and those that edges serve themselves.
func (o Options) askRelay() func(context.Context) (telemetry.Reading, error) {
	client := &http.Client{Timeout: 2 * time.Second}
	return func(ctx context.Context) (telemetry.Reading, error) {
		p, err := relay.ReadMainPath(ctx, client, o.Paths())
		ids, sent, crowd := o.AtEdges()
		for _, reader := range p.Readers {
			ids = append(ids, reader.ID)
		}
		crowd.Join(p.Crowd.Fit(len(p.Readers)))
		return telemetry.Reading{Listeners: len(ids), IDs: ids, BytesSent: p.BytesSent + sent, Crowd: crowd}, err
	}
}

// askStream counts the listeners of /stream, which this process serves.
func (o Options) askStream(context.Context) (telemetry.Reading, error) {
	s := o.Streams.Stats()
	return telemetry.Reading{Listeners: s.Listeners, Begun: s.Served, BytesSent: s.BytesOut, Crowd: s.Crowd}, nil
}

// askIcecast counts the listeners of the streaming server, without our own parts, whose
// listeners are counted elsewhere. The bytes per listener are those that the /stream fan-out
// received.
func (o Options) askIcecast() func(context.Context) (telemetry.Reading, error) {
	client, at := &http.Client{Timeout: 2 * time.Second}, o.Icecast
	known := map[string]census.Who{} // by ID: each is classified once, while the server's ids are those of before
	return func(ctx context.Context) (telemetry.Reading, error) {
		before := known
		known = nil // a server that was away may give its ids to others
		at.Host = o.Host()
		if err := o.Listening(ctx); err != nil {
			return telemetry.Reading{}, err
		}
		all, err := icecast.Listeners(ctx, client, at)
		if err != nil {
			return telemetry.Reading{}, err
		}
		r := telemetry.Reading{IDs: []string{}, BytesEach: o.Streams.Main.Stats().BytesIn}
		now, kinds := make(map[string]census.Who, len(all)), census.Count{}
		for _, l := range all {
			if l.Ours() || o.Config.Node.Remote && l.NamedAsOurs() {
				continue
			}
			r.IDs = append(r.IDs, l.ID)
			who, there := before[l.ID]
			if !there {
				who = l.Who(o.Atlas)
			}
			now[l.ID] = who
			kinds[who]++
		}
		known = now
		r.Listeners, r.Crowd = len(r.IDs), kinds.Crowd()
		return r, nil
	}
}

// Airings returns what is and was on air, newest first.
func Airings(v *scheduler.View) []telemetry.Airing {
	var out []telemetry.Airing
	for _, a := range append([]scheduler.OnAir{v.OnAir}, v.Past...) {
		if a.StartedAt.IsZero() || a.Kind == scheduler.Boot {
			continue
		}
		var lasts time.Duration
		if a.Kind == scheduler.Rotation {
			lasts = a.Track.Duration
		}
		out = append(out, telemetry.Airing{
			ID: a.ID(), Path: a.Track.Path, Title: a.Track.Title, Artist: a.Track.Artist,
			Category: string(a.Track.Category), Type: cmp.Or(a.Type, "music"), Kind: string(a.Kind), StartedAt: a.StartedAt, Lasts: lasts, Release: releaseOf(a.Track),
		})
	}
	return out
}

func releaseOf(t station.Track) telemetry.Release {
	return telemetry.Release{Album: t.Album, ISRC: t.ISRC, Label: t.Label, Composer: t.Composer}
}
