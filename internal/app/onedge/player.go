package onedge

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/onface"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

// Player serves the web player until ctx ends.
func Player(ctx context.Context, r role.Role) error {
	cfg, log := r.Config, r.Log
	worn := onface.Follow(ctx, cfg, log)
	srv := doors.NewServer(cfg.Public(cfg.Ports.Player), front.Handler(front.Options{
		Log: log, Made: worn.Pages("/", pages.Player, pages.Chat, pages.Social, pages.History, pages.Podcasts, pages.Embed),
		Control: cfg.ControlAddress(), Relay: config.Local(cfg.Ports.HLS),
		Events: front.Events(log, config.Local(cfg.Ports.Chat)), Token: cfg.EdgeToken, Ends: ctx.Done(),
	}))
	return r.Run(ctx, role.Work{
		Run: func(ctx context.Context) error {
			grp, ctx := errgroup.WithContext(ctx)
			grp.Go(func() error { return doors.Named("the station's face", worn.Run(ctx)) })
			grp.Go(func() error {
				return doors.Named("player port", doors.Serve(ctx, srv, doors.NewBound(cfg, log), r.Handover))
			})
			return grp.Wait()
		},
		Well: role.Reached(cfg.Ports.Player, front.LivePath),
	})
}
