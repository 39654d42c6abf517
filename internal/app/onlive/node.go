package onlive

import (
	"context"
	"net/http"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/node/relay"
)

// Parts are the live processes of this node, which the control plane asks over the bus.
func Parts(sockets string) map[string]http.RoundTripper {
	return map[string]http.RoundTripper{
		doors.Desk: innerhttp.Transport(doors.PartSocket(sockets, doors.Desk)),
		doors.WHIP: innerhttp.Transport(doors.PartSocket(sockets, doors.WHIP)),
	}
}

// Admitting has the relay ask the control plane about encoders that come by RTMP, and tell
// it which of them publish.
func Admitting(cfg *config.Config, o relay.Options) relay.Options {
	control := askControl(cfg)
	o.Admit = func(ctx context.Context, e relay.Encoder) (bool, string, error) {
		a, err := control.Admit(ctx, live.Credentials{Protocol: live.RTMP, User: e.Name, Secret: e.Password, Mount: e.Path(), Address: e.From})
		return a.Allowed, a.Detail, err
	}
	o.Published = func(ctx context.Context, e relay.Encoder) error { return published(ctx, cfg, control, e) }
	o.Ended = func(ctx context.Context, e relay.Encoder) error {
		return control.Left(ctx, live.Leaving{Publisher: e.Name, Session: rtmpSession(e), Why: "the encoder disconnected", Broke: true})
	}
	return o
}

func published(ctx context.Context, cfg *config.Config, control wire.Control, e relay.Encoder) error {
	_, err := control.Arrived(ctx, live.Arrival{
		Protocol: live.RTMP, URL: rtmpOwn(cfg) + e.Path(), Publisher: e.Name, Session: rtmpSession(e),
	})
	return err
}

// rtmpSession names one connection of an encoder.
func rtmpSession(e relay.Encoder) string { return "rtmp/" + e.Name + "/" + e.ID }
