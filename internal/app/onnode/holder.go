package onnode

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/node/remote"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/web/front"
)

// Holder is the node that has the air, as the control plane finds it: on this machine, or on
// the one of two others that has the lease. It is there before anything else is open, since
// the stream is.
type Holder struct {
	cfg   *config.Config
	log   *slog.Logger
	far   atomic.Pointer[remote.Node] // nil before Open, and for a node on this machine
	moved signal.Changes
}

// NewHolder finds the node where it was last.
func NewHolder(cfg *config.Config, log *slog.Logger) *Holder { return &Holder{cfg: cfg, log: log} }

func (h *Holder) leaseFile() string { return filepath.Join(h.cfg.NodeDir(), "holder.json") }

// Open opens the link to a node on another machine.
func (h *Holder) Open(ctx context.Context, b *bus.Bus, rack remote.Copies) *remote.Node {
	far := remote.Open(ctx, remote.Options{
		Log: h.log, Bus: b, Cache: h.cfg.Node.Cache, Playlist: h.cfg.Playlist(), Lease: h.leaseFile(), Rack: rack,
		Places: h.places(), See: Seeing(h.cfg),
	})
	h.far.Store(far)
	return far
}

func (h *Holder) places() remote.Places {
	return remote.Places{Host: h.cfg.Node.Host, Spare: h.cfg.Node.Spare}
}

// Host is where the node is; empty: on this machine.
func (h *Holder) Host() string {
	switch far := h.far.Load(); {
	case !h.cfg.Node.Remote:
		return ""
	case far != nil:
		return far.Lease.Host()
	}
	return h.places().LastHost(h.leaseFile())
}

// At is where a port of the node is found, host:port.
func (h *Holder) At(port int) string {
	if host := h.Host(); host != "" {
		return net.JoinHostPort(host, strconv.Itoa(port))
	}
	return config.Local(port)
}

// Moved signals that another node has the air.
func (h *Holder) Moved() (moved <-chan struct{}, cancel func()) { return h.moved.Subscribe() }

// HLS passes on to the relay of the node that has the air.
func (h *Holder) HLS(log *slog.Logger) http.Handler {
	at := map[string]http.Handler{}
	for _, host := range []string{h.Host(), h.cfg.Node.Host, h.cfg.Node.Spare} {
		relay, token := config.Local(h.cfg.Ports.HLS), (func() string)(nil)
		if host != "" {
			relay, token = net.JoinHostPort(host, strconv.Itoa(h.cfg.Ports.HLS)), h.cfg.BusToken
		}
		at[host] = front.HLS(log, relay, token)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { at[h.Host()].ServeHTTP(w, r) })
}

// Programme is the rotation, as what follows the node needs it.
type Programme interface {
	View() *scheduler.View
	Coming() []playlist.Item
	Subscribe() (changed <-chan struct{}, cancel func())
	Rebuild(ctx context.Context) error
}

// Run keeps the spare's copy, and goes on with the spare once it has the air, until ctx ends.
func (h *Holder) Run(ctx context.Context, air Programme) error {
	far := h.far.Load()
	if far == nil || far.Copy == nil {
		<-ctx.Done()
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		changed, cancel := air.Subscribe()
		defer cancel()
		return far.Copy.Run(ctx, air.Coming, changed)
	})
	g.Go(func() error { return h.follow(ctx, far.Lease, air) })
	return g.Wait()
}

// firstMarker is how long the rotation waits, after a change, for what the other node has
// begun, so that it is planned from there.
const firstMarker = 10 * time.Second

// follow tells who reads from the node of each change, and has the rotation built from what
// the other one has begun.
func (h *Holder) follow(ctx context.Context, lease *remote.Lease, air Programme) error {
	changed, cancel := lease.Changes()
	defer cancel()
	fence := lease.Standing().Fence
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		h.moved.Tell()
		now := lease.Standing().Fence
		if fence == 0 || now == fence {
			fence = now
			continue
		}
		fence = now
		if !h.begun(ctx, air) {
			return nil
		}
		if err := air.Rebuild(ctx); err != nil && ctx.Err() == nil {
			h.log.Warn("the rotation could not be built anew for the node that has the air now: it plays the list that it holds", "err", err)
		}
	}
}

// begun waits for the first marker of another engine; false when ctx ended.
func (h *Holder) begun(ctx context.Context, air Programme) bool {
	before := air.View().OnAir.Engine
	changed, cancel := air.Subscribe()
	defer cancel()
	late := time.NewTimer(firstMarker)
	defer late.Stop()
	for air.View().OnAir.Engine == before {
		select {
		case <-ctx.Done():
			return false
		case <-late.C:
			return true
		case <-changed:
		}
	}
	return true
}
