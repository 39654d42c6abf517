package onlive

import (
	"context"
	"net/http"
	"strings"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/node/relay"
)

// Parts are the live processes of this node, which the control plane asks over the bus.
func Parts(sockets string) map[string]http.RoundTripper {
	return map[string]http.RoundTripper{
		doors.Desk:  innerhttp.Transport(doors.PartSocket(sockets, doors.Desk)),
		doors.WHIP:  innerhttp.Transport(doors.PartSocket(sockets, doors.WHIP)),
		doors.Relay: innerhttp.Transport(doors.PartSocket(sockets, doors.Relay)),
	}
}

// Admitting has the relay ask the control plane about encoders that come by RTMP, and tell
// it which of them publish.
func Admitting(cfg *config.Config, o relay.Options) relay.Options {
	control := askControl(cfg)
	o.Admit = func(ctx context.Context, e relay.Encoder) (bool, string, error) {
		a, err := control.Admit(ctx, live.Credentials{Protocol: live.RTMP, User: e.Name, Secret: e.Password, Mount: e.Path(), Address: e.From, Again: e.Again})
		return a.Allowed, a.Detail, err
	}
	o.Roll = func(ctx context.Context, all []relay.Encoder) (map[relay.Encoder]string, error) {
		roll, sessions := live.Roll{Protocol: live.RTMP, Senders: []live.Arrival{}}, map[string]relay.Encoder{}
		for _, e := range all[:min(len(all), live.MostSenders)] {
			roll.Senders, sessions[rtmpSession(e)] = append(roll.Senders, arrival(cfg, e)), e
		}
		answer, err := control.Roll(ctx, roll)
		refused := map[relay.Encoder]string{}
		for session, why := range answer.Refused {
			if e, ours := sessions[session]; ours {
				refused[e] = why
			}
		}
		return refused, err
	}
	o.Published = func(ctx context.Context, e relay.Encoder) error {
		_, err := control.Arrived(ctx, arrival(cfg, e))
		return err
	}
	o.Ended = func(ctx context.Context, e relay.Encoder) error {
		return control.Left(ctx, live.Leaving{Publisher: e.Name, Session: rtmpSession(e), Why: "the encoder disconnected", Broke: true})
	}
	return o
}

func arrival(cfg *config.Config, e relay.Encoder) live.Arrival {
	return live.Arrival{Protocol: live.RTMP, URL: rtmpOwn(cfg) + e.Path(), Publisher: e.Name, Session: rtmpSession(e)}
}

// rtmpSession names one connection of an encoder. Neither part has a slash.
func rtmpSession(e relay.Encoder) string { return rtmpPrefix + e.Name + "/" + e.ID }

const rtmpPrefix = "rtmp/"

// rtmpConnection is what rtmpSession has named.
func rtmpConnection(session string) (name, id string) {
	name, id, _ = strings.Cut(strings.TrimPrefix(session, rtmpPrefix), "/")
	return name, id
}
