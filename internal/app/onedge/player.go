package onedge

import (
	"context"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/onsocial"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

// Player serves the web player until ctx ends.
func Player(ctx context.Context, r role.Role) error {
	cfg, log := r.Config, r.Log
	srv := doors.NewServer(cfg.Public(cfg.Ports.Player), front.Handler(front.Options{
		Log: log, Pages: pages.Handler(pages.Player, pages.Chat, pages.Social), Describe: onsocial.OnFront(cfg.Name),
		Control: cfg.ControlAddress(), Relay: config.Local(cfg.Ports.HLS),
		Events: front.Events(log, config.Local(cfg.Ports.Chat)), Token: cfg.EdgeToken, Ends: ctx.Done(),
	}))
	return r.Run(ctx, role.Work{
		Run:  func(ctx context.Context) error { return doors.Serve(ctx, srv, doors.NewBound(cfg, log), r.Handover) },
		Well: role.Reached(cfg.Ports.Player, front.LivePath),
	})
}
