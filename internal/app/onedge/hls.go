package onedge

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/node/relay"
	"github.com/athir-radio/athir/internal/web/edge"
)

// cache is the HLS that an edge serves itself; it is nothing where the relay is asked for
// each listener.
type cache struct{ *relay.Mirror }

// firstPull bounds how long an edge waits for the relay before it serves listeners: those
// who are there find the playlist at once when its process was replaced.
const firstPull = 3 * time.Second

func newHLS(ctx context.Context, cfg *config.Config, log *slog.Logger) cache {
	if len(cfg.HLS.Relay) == 0 {
		return cache{}
	}
	m := relay.NewMirror(relay.MirrorOptions{
		Relays: cfg.HLS.Relay, Kept: filepath.Join(cfg.DataDir, fmt.Sprintf("hls-relay-%d.json", cfg.Ports.Chat)),
		Token: cfg.EdgeToken, Uncounted: !cfg.HLS.Sessions, Log: log,
	})
	bounded, cancel := context.WithTimeout(ctx, firstPull)
	defer cancel()
	_ = m.Pull(bounded) // Run says what is wrong
	return cache{m}
}

func (c cache) handler() http.Handler {
	if c.Mirror == nil {
		return nil
	}
	return c.Handler()
}

func (c cache) report() edge.HLS {
	if c.Mirror == nil {
		return edge.HLS{}
	}
	return edge.HLS{Listeners: c.Listening(), Bytes: c.Sent()}
}

func (c cache) run(ctx context.Context) error {
	if c.Mirror == nil {
		return nil
	}
	return c.Run(ctx)
}
