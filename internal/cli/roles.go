package cli

import (
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/app"
	"github.com/athir-radio/athir/internal/app/onedge"
	"github.com/athir-radio/athir/internal/app/onlive"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
)

// role is the process of a role.
func (g globals) role(name string, cfg *config.Config, log *slog.Logger) role.Role {
	return role.Role{Name: name, Version: g.version, Config: cfg, Log: log, Handover: g.process.Handover, Thread: g.process.Thread}
}

type runCmd struct {
	dataFlags
	Demo bool `help:"Fill the media library with freely licensed music and generated imaging."`
}

// Run runs the whole station until it is told to stop.
func (c runCmd) Run(g globals) error {
	cfg, log, first, err := c.load("station")
	if err != nil {
		return err
	}
	if first {
		log.Info("first start, settings and random keys written", "file", cfg.File())
	}
	return app.Station(g.ctx, g.role("station", cfg, log), c.Demo, func(onAir time.Duration) { printScreen(g.out, cfg, onAir) })
}

type controlCmd struct{ dataFlags }

// Run runs the control plane until it is told to stop.
func (c controlCmd) Run(g globals) error {
	cfg, log, _, err := c.load("control")
	if err != nil {
		return err
	}
	return app.Control(g.ctx, g.role("control", cfg, log))
}

type nodeCmd struct{ dataFlags }

// Run supervises the broadcast node until it is told to stop.
func (c nodeCmd) Run(g globals) error {
	cfg, log, _, err := c.load("node")
	if err != nil {
		return err
	}
	return app.Node(g.ctx, g.role("node", cfg, log))
}

type relayCmd struct{ dataFlags }

// Run runs the HLS relay until it is told to stop.
func (c relayCmd) Run(g globals) error {
	cfg, log, _, err := c.load("relay")
	if err != nil {
		return err
	}
	return app.Relay(g.ctx, g.role("relay", cfg, log))
}

type playerCmd struct{ dataFlags }

// Run serves the web player until it is told to stop.
func (c playerCmd) Run(g globals) error {
	cfg, log, _, err := c.load("player")
	if err != nil {
		return err
	}
	return onedge.Player(g.ctx, g.role("player", cfg, log))
}

type chatCmd struct{ dataFlags }

// Run runs an edge until it is told to stop.
func (c chatCmd) Run(g globals) error {
	cfg, log, _, err := c.load("chat")
	if err != nil {
		return err
	}
	return onedge.Edge(g.ctx, g.role("chat", cfg, log))
}

type deskCmd struct {
	dataFlags
	RTMP string `name:"rtmp" help:"Where this machine's own RTMP ingest is played." placeholder:"HOST:PORT" hidden:""`
}

// Run runs the live desk until it is told to stop.
func (c deskCmd) Run(g globals) error {
	cfg, log, _, err := c.load("desk")
	if err != nil {
		return err
	}
	return onlive.Desk(g.ctx, g.role("desk", cfg, log), c.RTMP)
}

type whipCmd struct{ dataFlags }

// Run takes phones in until it is told to stop.
func (c whipCmd) Run(g globals) error {
	cfg, log, _, err := c.load("whip")
	if err != nil {
		return err
	}
	return onlive.WHIP(g.ctx, g.role("whip", cfg, log))
}
