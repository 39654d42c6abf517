package cli

import (
	"context"
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/app"
	"github.com/athir-radio/athir/internal/app/onedge"
	"github.com/athir-radio/athir/internal/app/onlive"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/app/service"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/systemd"
)

// role is the process of a role.
func (g globals) role(name string, cfg *config.Config, log *slog.Logger) role.Role {
	return role.Role{Name: name, Version: g.version, Config: cfg, Log: log, Handover: g.process.Handover, Thread: g.process.Thread}
}

// serve runs a role until it is told to stop, and tells the service manager, where there
// is one, how it fares.
func (g globals) serve(r role.Role, probe func(*config.Config) (service.Probe, error), run func(context.Context, role.Role) error) error {
	manager := systemd.Find()
	if manager == nil {
		return run(g.ctx, r)
	}
	ask, err := probe(r.Config)
	if err != nil {
		return err
	}
	return service.Run(g.ctx, r.Log, manager, ask, func(ctx context.Context) error { return run(ctx, r) })
}

type runCmd struct {
	dataFlags
	Demo bool `help:"Fill the media library with freely licensed music and generated imaging."`
}

// Run runs the whole station until it is told to stop.
func (c runCmd) Run(g globals) error {
	cfg, log, first, err := c.load(g, "station")
	if err != nil {
		return err
	}
	if first {
		log.Info("first start, settings and random keys written", "file", cfg.File())
	}
	return g.serve(g.role("station", cfg, log), service.Supervisor, func(ctx context.Context, r role.Role) error {
		return app.Station(ctx, r, c.Demo, func(onAir time.Duration) { g.screen(log, cfg, onAir) })
	})
}

type controlCmd struct{ dataFlags }

// Run runs the control plane until it is told to stop.
func (c controlCmd) Run(g globals) error {
	cfg, log, _, err := c.load(g, "control")
	if err != nil {
		return err
	}
	return g.serve(g.role("control", cfg, log), service.Control, app.Control)
}

type nodeCmd struct{ dataFlags }

// Run supervises the broadcast node until it is told to stop.
func (c nodeCmd) Run(g globals) error {
	cfg, log, _, err := c.load(g, "node")
	if err != nil {
		return err
	}
	return g.serve(g.role("node", cfg, log), service.Supervisor, app.Node)
}

type relayCmd struct{ dataFlags }

// Run runs the HLS relay until it is told to stop.
func (c relayCmd) Run(g globals) error {
	cfg, log, _, err := c.load(g, "relay")
	if err != nil {
		return err
	}
	return app.Relay(g.ctx, g.role("relay", cfg, log))
}

type playerCmd struct{ dataFlags }

// Run serves the web player until it is told to stop.
func (c playerCmd) Run(g globals) error {
	cfg, log, _, err := c.load(g, "player")
	if err != nil {
		return err
	}
	return g.serve(g.role("player", cfg, log), service.Player, onedge.Player)
}

type chatCmd struct{ dataFlags }

// Run runs an edge until it is told to stop.
func (c chatCmd) Run(g globals) error {
	cfg, log, _, err := c.load(g, "chat")
	if err != nil {
		return err
	}
	return g.serve(g.role("chat", cfg, log), service.Chat, onedge.Edge)
}

type deskCmd struct {
	dataFlags
	RTMP string `name:"rtmp" help:"Where this machine's own RTMP ingest is played." placeholder:"HOST:PORT" hidden:""`
}

// Run runs the live desk until it is told to stop.
func (c deskCmd) Run(g globals) error {
	cfg, log, _, err := c.load(g, "desk")
	if err != nil {
		return err
	}
	return onlive.Desk(g.ctx, g.role("desk", cfg, log), c.RTMP)
}

type whipCmd struct{ dataFlags }

// Run takes phones in until it is told to stop.
func (c whipCmd) Run(g globals) error {
	cfg, log, _, err := c.load(g, "whip")
	if err != nil {
		return err
	}
	return g.serve(g.role("whip", cfg, log), service.WHIP, onlive.WHIP)
}
