// Package app wires the parts into roles. Each role has one function here, which runs
// until its context ends. It is the only package that imports all parts and says
// which run side by side.
package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/onlive"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/procs"
	"github.com/athir-radio/athir/internal/node/relay"
)

// Relay runs the HLS relay until ctx ends.
func Relay(ctx context.Context, r role.Role) error {
	cfg := r.Config
	n, err := newNode(r)
	if err != nil {
		return err
	}
	o := n.relayOptions()
	o.Handover = r.Handover
	atlas := census.OpenAtlas(r.Log, cfg.GeoIPFile)
	o.Who = atlas.Who
	server, err := relay.New(onlive.Admitting(cfg, o))
	if err != nil {
		return err
	}
	var spare sync.WaitGroup
	defer spare.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	spare.Go(func() { procs.Spare(ctx) })
	spare.Go(func() { _ = atlas.Run(ctx) }) // fails never
	return r.Run(ctx, role.Work{Run: server.Run, Well: role.Reached(cfg.Ports.Paths, relay.PathListPath)})
}

// errNoControl refuses a remote node without the control plane's addresses.
var errNoControl = errors.New("node.remote: set bus.url and bus.control, the addresses of the bus and of the control plane's HTTP")

// Node supervises the broadcast node until ctx ends.
func Node(ctx context.Context, r role.Role) error {
	cfg := r.Config
	if cfg.Node.Remote && (cfg.Bus.URL == "" || cfg.Bus.Control == "") {
		return errNoControl
	}
	if cfg.Node.Remote {
		if err := os.MkdirAll(cfg.Node.Cache, 0o755); err != nil {
			return fmt.Errorf("node.cache: %w: choose a writable folder, with the same path on both machines", err)
		}
	}
	st, err := openStation(ctx, r, false)
	if err != nil {
		return err
	}
	defer st.close()
	grp, ctx := errgroup.WithContext(ctx)
	grp.Go(func() error { return r.Run(ctx, st.work()) })
	grp.Go(func() error { return st.announce(ctx, func(context.Context, time.Duration) {}) })
	return grp.Wait()
}
