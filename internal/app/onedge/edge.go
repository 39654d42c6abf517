// Package onedge wires what listeners reach that keeps nothing of the station: edges of events,
// and the player.
package onedge

import (
	"context"
	"crypto/rand"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/handover"
	"github.com/athir-radio/athir/internal/app/onface"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

// Edge runs one chat server until ctx ends; there may be many.
func Edge(ctx context.Context, r role.Role) error {
	cfg, log := r.Config, r.Log
	b, err := role.JoinBus(cfg, log, config.BusChat)
	if err != nil {
		return err
	}
	defer b.Close()
	mirror := events.NewFollower(log, b)
	path := handover.EdgePath(cfg.DataDir, cfg.Ports.Chat)
	name, process := cfg.Bus.Edge(), rand.Text()
	desk := edge.Remote{Bus: b, Edge: name, Refused: api.Refused}
	hls := newHLS(ctx, cfg, log)
	e := edge.New(edge.Options{
		Log: log, Source: mirror, Desk: desk, Refused: api.Refused,
		Staff: edge.AskOperator(ctx, desk),
		Present: func(p edge.Presence) {
			edge.TellPresence(b, name, process, p, hls.report())
		},
		Socket: SocketOptions(cfg, log), Saved: handover.ReturnMirror(log, path, mirror, time.Now()),
	})
	worn := onface.Follow(ctx, cfg, log)
	relay := config.Local(cfg.Ports.HLS)
	if cfg.Bus.Control != "" && !cfg.Node.Remote {
		relay = "" // the relay runs beside the control plane
	}
	srv := doors.NewServer(cfg.Public(cfg.Ports.Chat), front.Handler(front.Options{
		Log: log, Made: worn.Pages("/", pages.Player, pages.Chat, pages.Social, pages.History, pages.Podcasts, pages.Embed), Control: cfg.ControlAddress(),
		Relay: relay, HLS: hls.handler(), Events: e.Handler(), Token: cfg.EdgeToken, Ends: ctx.Done(), Problem: b.Problem,
	}))
	return r.Run(ctx, role.Work{Well: role.Reached(cfg.Ports.Chat, front.LivePath), Run: func(ctx context.Context) error {
		grp, ctx := errgroup.WithContext(ctx)
		grp.Go(func() error { return doors.Named("events from the station", mirror.Run(ctx)) })
		grp.Go(func() error { return doors.Named("events", e.Run(ctx)) })
		grp.Go(func() error { return doors.Named("HLS", hls.run(ctx)) })
		grp.Go(func() error { return doors.Named("the station's face", worn.Run(ctx)) })
		grp.Go(func() error {
			return doors.Named("chat port", doors.Serve(ctx, srv, doors.NewBound(cfg, log), r.Handover))
		})
		if err := grp.Wait(); err != nil {
			return err
		}
		handover.Leave(log, path, mirror, e, time.Now())
		return nil
	}})
}
