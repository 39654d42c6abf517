// Package app wires the parts into roles. Each role has one function here, which runs
// until its context ends. It is the only package that imports all parts and says
// which run side by side.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/onlive"
	"github.com/athir-radio/athir/internal/app/onsocial"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/procs"
	"github.com/athir-radio/athir/internal/node/relay"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

// Relay runs the HLS relay until ctx ends.
func Relay(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
	n, err := newNode(cfg, log)
	if err != nil {
		return err
	}
	r, err := relay.New(onlive.Admitting(cfg, n.relayOptions()))
	if err != nil {
		return err
	}
	var spare sync.WaitGroup
	defer spare.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	spare.Go(func() { procs.Spare(ctx) })
	return r.Run(ctx)
}

// Player serves the web player until ctx ends.
func Player(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
	return doors.Serve(ctx, doors.NewServer(cfg.Public(cfg.Ports.Player), front.Handler(front.Options{
		Log: log, Pages: pages.Handler(pages.Player, pages.Chat, pages.Social), Describe: onsocial.OnFront(cfg.Name),
		Control: cfg.ControlAddress(), Relay: config.Local(cfg.Ports.HLS),
		Events: front.Events(log, config.Local(cfg.Ports.Chat)), Token: cfg.BusToken(),
	})), doors.NewBound(cfg, log))
}

// errNoControl refuses a remote node without the control plane's addresses.
var errNoControl = errors.New("node.remote: set bus.url and bus.control, the addresses of the bus and of the control plane's HTTP")

// Node supervises the broadcast node until ctx ends.
func Node(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
	if cfg.Node.Remote && (cfg.Bus.URL == "" || cfg.Bus.Control == "") {
		return errNoControl
	}
	if cfg.Node.Remote {
		if err := os.MkdirAll(cfg.Node.Cache, 0o755); err != nil {
			return fmt.Errorf("node.cache: %w: choose a writable folder, with the same path on both machines", err)
		}
	}
	st, err := openStation(ctx, cfg, log, false)
	if err != nil {
		return err
	}
	defer st.close()
	grp, ctx := errgroup.WithContext(ctx)
	grp.Go(func() error { return st.run(ctx) })
	grp.Go(func() error { return st.announce(ctx, func(context.Context, time.Duration) {}) })
	return grp.Wait()
}
