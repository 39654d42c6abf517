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
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// player is the playout engine, wherever the node is: playout.Client has the
// contract.
type player interface {
	Status(ctx context.Context) (playout.Status, error)
	Skip(ctx context.Context) error
	SkipFrom(ctx context.Context, entered int) error
	DropPrefetched(ctx context.Context) error
	Reload(ctx context.Context) error
	DisconnectLive(ctx context.Context) error
	Emergency(ctx context.Context, on bool) error
}

// supervisor keeps the node's programs running: supervise.Client has the contract.
type supervisor interface {
	Programs(ctx context.Context) ([]supervise.Status, error)
	Restart(ctx context.Context, name string) error
	Kill(ctx context.Context, name string) error
}

// link is the broadcast node as the control plane has it: on this machine, or at
// the other end of the bus.
type link struct {
	player   player
	programs supervisor
	delivery scheduler.Delivery
	// intact reports that the playlist file is what was put there.
	intact func(ctx context.Context) (bool, error)
	// rel is the track that a path of the engine's means.
	rel func(abs string) (rel string, ok bool)
	// listening is nil once connections do the streaming server no harm.
	listening func(ctx context.Context) error
	// when is our time of a time of the node's.
	when func(time.Time) time.Time
	run  func(ctx context.Context) error
	end  func()
}

func openLink(ctx context.Context, cfg *config.Config, log *slog.Logger, rack *aircopy.Rack, b *bus.Bus) (*link, error) {
	if cfg.Node.Remote {
		return remoteLink(ctx, cfg, log, rack, b)
	}
	sockets, err := socketDir(cfg)
	if err != nil {
		return nil, err
	}
	node := supervise.NewClient(filepath.Join(sockets, nodeSocket))
	return &link{
		player:    playout.Client{Socket: playout.Options{Dir: cfg.NodeDir(), SocketDir: sockets}.Socket()},
		programs:  node,
		delivery:  newDelivery(ctx, cfg, log, rack, node),
		intact:    delivery.NewLocal(cfg.Playlist(), log).Intact,
		rel:       rack.Rel,
		listening: func(context.Context) error { return listening(cfg.Ports.Icecast) },
		when:      func(at time.Time) time.Time { return at },
		run:       func(context.Context) error { return nil },
		end:       node.Close,
	}, nil
}

// errNoHost tells an operator what a node elsewhere needs.
var errNoHost = errors.New("node.remote: the control plane needs node.host, where it finds the node's Icecast and relay")

// completed is the scheduler's word on markers, which come in the node's time.
func (l *link) completed(take func(context.Context, scheduler.Marker) (string, error)) func(context.Context, scheduler.Marker) (string, error) {
	return func(ctx context.Context, m scheduler.Marker) (string, error) {
		if m.At.UnixMilli() != 0 { // a boot has none
			m.At = l.when(m.At)
		}
		return take(ctx, m)
	}
}
