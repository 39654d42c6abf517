package onedge

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/node/relay"
	"github.com/athir-radio/athir/internal/web/edge"
)

// cache is the HLS that an edge serves itself; it is nothing where the relay is asked for
// each listener.
type cache struct {
	*relay.Mirror
	atlas *census.Atlas
}

// firstPull bounds how long an edge waits for the relay before it serves listeners: those
// who are there find the playlist at once when its process was replaced.
const firstPull = 3 * time.Second

func newHLS(ctx context.Context, cfg *config.Config, log *slog.Logger) cache {
	if len(cfg.HLS.Relay) == 0 {
		return cache{}
	}
	atlas := census.OpenAtlas(log, cfg.GeoIPFile)
	m := relay.NewMirror(relay.MirrorOptions{
		Relays: cfg.HLS.Relay, Kept: filepath.Join(cfg.DataDir, fmt.Sprintf("hls-relay-%d.json", cfg.Ports.Chat)),
		Token: cfg.EdgeToken, Uncounted: !cfg.HLS.Sessions, Log: log,
		Who: atlas.Who,
	})
	bounded, cancel := context.WithTimeout(ctx, firstPull)
	defer cancel()
	_ = m.Pull(bounded) // Run says what is wrong
	return cache{m, atlas}
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
	listeners, crowd := c.Listening()
	return edge.HLS{Listeners: listeners, Bytes: c.Sent(), Crowd: crowd}
}

func (c cache) run(ctx context.Context) error {
	if c.Mirror == nil {
		return nil
	}
	grp, ctx := errgroup.WithContext(ctx)
	grp.Go(func() error { return c.Mirror.Run(ctx) })
	grp.Go(func() error { return c.atlas.Run(ctx) })
	return grp.Wait()
}
