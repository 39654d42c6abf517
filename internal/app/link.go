package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/onnode"
	"github.com/athir-radio/athir/internal/app/onsocial"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/node/local"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/remote"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// link connects the control plane to the broadcast node, on this machine or over the
// bus.
type link struct {
	player   playout.Engine
	programs supervise.Node
	// report returns what the node hears of its output and knows of itself.
	report   func(ctx context.Context) (nodeReport, error)
	delivery scheduler.Delivery
	// intact reports that the playlist file holds what was last written.
	intact func(ctx context.Context) (bool, error)
	// rel turns a path of the engine into that of the library; false for a foreign one.
	rel func(abs string) (rel string, ok bool)
	// listening returns nil once the streaming server accepts connections.
	listening func(ctx context.Context) error
	// when converts a time of the node's clock, as in markers, to ours.
	when func(time.Time) time.Time
	// admit refuses the markers of a node that does not have the station; nil where
	// there can be no other node.
	admit func(node string, fence uint64) error
	// inner reaches the HTTP of a live process of the node: doors.Desk, WHIP or Relay. The most
	// that one answer holds is in bytes; 0: there is no bound. With news it is a way beside all
	// others, for one who asks for news.
	inner     func(part string, news bool) http.RoundTripper
	innerMost int64
	run       func(ctx context.Context) error
	end       func()
}

func openLink(ctx context.Context, cfg *config.Config, log *slog.Logger, airs *onsocial.Airing, b *bus.Bus, holder *onnode.Holder) (*link, error) {
	if cfg.Node.Remote {
		if cfg.Node.Host == "" {
			return nil, errNoHost
		}
		far := holder.Open(ctx, b, airs)
		return &link{
			player: far.Engine, programs: far.Programs, report: reportOf(far.Programs), delivery: far.Delivery, intact: far.Intact, rel: far.Rel,
			listening: far.Listening, when: far.Clock.Here, admit: far.Lease.Admit, run: far.Run, end: func() {},
			inner: far.Inner, innerMost: remote.MostInner,
		}, nil
	}
	sockets, err := doors.SocketDir(cfg)
	if err != nil {
		return nil, err
	}
	node := supervise.NewClient(filepath.Join(sockets, nodeSocket))
	player := playout.Client{Socket: playout.Options{Dir: cfg.NodeDir(), SocketDir: sockets}.Socket()}
	return &link{
		player:    player,
		programs:  node,
		report:    reportOf(node),
		delivery:  local.Open(ctx, cfg.Playlist(), airs.Size, player, log),
		intact:    delivery.NewLocal(cfg.Playlist(), log).Intact,
		rel:       airs.Rel,
		listening: func(context.Context) error { return listening(cfg.Ports.Icecast) },
		when:      func(at time.Time) time.Time { return at },
		run:       func(context.Context) error { return nil },
		end:       node.Close,
		inner: func(part string, _ bool) http.RoundTripper {
			return innerhttp.Transport(doors.PartSocket(sockets, part))
		},
	}, nil
}

// reportOf returns how a node is asked for its report.
func reportOf(node supervise.Node) func(ctx context.Context) (nodeReport, error) {
	return func(ctx context.Context) (r nodeReport, err error) {
		err = node.Report(ctx, &r)
		return r, err
	}
}

// errNoHost refuses a remote node without an address.
var errNoHost = errors.New("node.remote: set node.host, the address of the node's Icecast and relay")
