package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/node/relay"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

type controlCmd struct{ dataFlags }

// Run runs the control plane until it is told to stop.
func (c controlCmd) Run(g globals) error {
	cfg, log, _, err := c.load("control")
	if err != nil {
		return err
	}
	return control(g.ctx, cfg, log, g.version)
}

type relayCmd struct{ dataFlags }

// Run runs the HLS relay until it is told to stop.
func (c relayCmd) Run(g globals) error {
	cfg, log, _, err := c.load("relay")
	if err != nil {
		return err
	}
	n, err := newNode(cfg, log)
	if err != nil {
		return err
	}
	r, err := relay.New(n.relayOptions())
	if err != nil {
		return err
	}
	return r.Run(g.ctx)
}

type playerCmd struct{ dataFlags }

// Run serves the web player until it is told to stop.
func (c playerCmd) Run(g globals) error {
	cfg, log, _, err := c.load("player")
	if err != nil {
		return err
	}
	return serve(g.ctx, newServer(cfg.Public(cfg.Ports.Player), front.Handler(front.Options{
		Log: log, Pages: pages.Handler(pages.Player, pages.Chat),
		Control: cfg.ControlAddress(), Relay: config.Local(cfg.Ports.HLS),
		Events: front.Events(log, config.Local(cfg.Ports.Chat)), Token: cfg.BusToken(),
	})), newBound(cfg, log))
}

// errNoControl tells an operator what a node elsewhere needs.
var errNoControl = errors.New("node.remote: the node needs bus.url and bus.control, where it finds the bus and the control plane's HTTP")

type nodeCmd struct{ dataFlags }

// Run supervises the broadcast node until it is told to stop.
func (c nodeCmd) Run(g globals) error {
	cfg, log, _, err := c.load("node")
	if err != nil {
		return err
	}
	if cfg.Node.Remote && (cfg.Bus.URL == "" || cfg.Bus.Control == "") {
		return errNoControl
	}
	if cfg.Node.Remote {
		if err := os.MkdirAll(cfg.Node.Cache, 0o755); err != nil {
			return fmt.Errorf("node.cache: %w: name a folder that can be written, the same on both machines", err)
		}
	}
	st, err := openStation(g.ctx, cfg, log, false)
	if err != nil {
		return err
	}
	defer st.close()
	grp, ctx := errgroup.WithContext(g.ctx)
	grp.Go(func() error { return st.run(ctx) })
	grp.Go(func() error { return st.announce(ctx, func(context.Context, time.Duration) {}) })
	return grp.Wait()
}
