package service

import (
	"context"
	"net/http"
	"strings"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/web/front"
)

// Supervisor asks a station or a node, which is ready once it supervises: whether each of
// its programs comes up is no reason to end the others, and is in the status.
func Supervisor(cfg *config.Config) (Probe, error) {
	dir, err := doors.SocketDir(cfg)
	if err != nil {
		return nil, err
	}
	node, web := supervise.NewClient(doors.PartSocket(dir, doors.Node)), &http.Client{Timeout: patience}
	mount := icecast.Options{Bind: cfg.Bind, Port: cfg.Ports.Icecast, Password: cfg.SourcePassword}
	return func(ctx context.Context) (string, error) {
		programs, err := node.Programs(ctx)
		if err != nil {
			return "", err
		}
		return line(icecast.OnAir(ctx, web, mount) == nil, programs), nil
	}, nil
}

// line is the status in one line: whether the stream has a source, and what does not run.
func line(onAir bool, programs []supervise.Status) string {
	var missing []string
	for _, p := range programs {
		if p.State != supervise.Running.String() {
			missing = append(missing, p.Name+" is "+p.State)
		}
	}
	text := "on air"
	if !onAir {
		text = "not on air"
	}
	if len(missing) > 0 {
		text += "; " + strings.Join(missing, ", ")
	}
	return text
}

// Control asks the control plane.
func Control(cfg *config.Config) (Probe, error) {
	return serving(role.Reached(cfg.Ports.Control, "/ping")), nil
}

// Chat asks the edge.
func Chat(cfg *config.Config) (Probe, error) {
	return serving(role.Reached(cfg.Ports.Chat, front.LivePath)), nil
}

// Player asks the player.
func Player(cfg *config.Config) (Probe, error) {
	return serving(role.Reached(cfg.Ports.Player, front.LivePath)), nil
}

// WHIP asks the server of phones.
func WHIP(cfg *config.Config) (Probe, error) {
	dir, err := doors.SocketDir(cfg)
	if err != nil {
		return nil, err
	}
	return serving(role.PartReached(dir, doors.WHIP)), nil
}

// serving is the status of a role that answers.
func serving(reached func(context.Context) error) Probe {
	return func(ctx context.Context) (string, error) {
		if err := reached(ctx); err != nil {
			return "", err
		}
		return "serving", nil
	}
}
