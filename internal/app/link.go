package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/node/local"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/remote"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/press"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// link is the broadcast node as the control plane has it: on this machine, or at
// the other end of the bus.
type link struct {
	player   playout.Engine
	programs supervise.Node
	delivery scheduler.Delivery
	// intact reports that the playlist file is what was put there.
	intact func(ctx context.Context) (bool, error)
	// rel is the track that a path of the engine's means.
	rel func(abs string) (rel string, ok bool)
	// listening is nil once connections do the streaming server no harm.
	listening func(ctx context.Context) error
	// when is our time of a time of the node's: markers come in that.
	when func(time.Time) time.Time
	run  func(ctx context.Context) error
	end  func()
}

func openLink(ctx context.Context, cfg *config.Config, log *slog.Logger, rack *aircopy.Rack, b *bus.Bus) (*link, error) {
	if cfg.Node.Remote {
		if cfg.Node.Host == "" {
			return nil, errNoHost
		}
		far := remote.Open(ctx, remote.Options{Log: log, Bus: b, Cache: cfg.Node.Cache, Playlist: cfg.Playlist(), Rack: rack})
		return &link{
			player: far.Engine, programs: far.Programs, delivery: far.Delivery, intact: far.Intact, rel: far.Rel,
			listening: far.Listening, when: far.Clock.Here, run: far.Clock.Run, end: func() {},
		}, nil
	}
	sockets, err := socketDir(cfg)
	if err != nil {
		return nil, err
	}
	node := supervise.NewClient(filepath.Join(sockets, nodeSocket))
	return &link{
		player:    playout.Client{Socket: playout.Options{Dir: cfg.NodeDir(), SocketDir: sockets}.Socket()},
		programs:  node,
		delivery:  local.Open(ctx, cfg.Playlist(), rack.Size, node, log),
		intact:    delivery.NewLocal(cfg.Playlist(), log).Intact,
		rel:       rack.Rel,
		listening: func(context.Context) error { return listening(cfg.Ports.Icecast) },
		when:      func(at time.Time) time.Time { return at },
		run:       func(context.Context) error { return nil },
		end:       node.Close,
	}, nil
}

// errNoHost tells an operator what a node elsewhere needs.
var errNoHost = errors.New("node.remote: set node.host, the address of the node's Icecast and relay")

// presses is the playout engine as the presses of Skip and Play need it.
type presses struct{ playout.Engine }

// State implements press.Player.
func (p presses) State(ctx context.Context) (press.State, error) {
	st, err := p.Status(ctx)
	out := press.State{
		Sight: scheduler.Sight{Engine: st.Engine, Edition: st.Edition}, Rotation: st.OnAir == playout.KindRotation,
		OnAir: st.OnAir, Prepared: st.Prepared, Entered: st.Entered,
	}
	if st.Last != nil {
		out.Last, out.Seq = st.Last.File, uint64(max(st.Last.Seq, 0)) //nolint:gosec // not negative
	}
	return out, err
}
