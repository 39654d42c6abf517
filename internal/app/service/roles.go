package service

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
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
	return answers(config.Local(cfg.Ports.Control), "/ping"), nil
}

// Chat asks the edge.
func Chat(cfg *config.Config) (Probe, error) {
	return answers(config.Local(cfg.Ports.Chat), front.LivePath), nil
}

// Player asks the player.
func Player(cfg *config.Config) (Probe, error) {
	return answers(config.Local(cfg.Ports.Player), front.LivePath), nil
}

// WHIP asks the server of phones at its socket: its port may speak TLS under another name.
func WHIP(cfg *config.Config) (Probe, error) {
	dir, err := doors.SocketDir(cfg)
	if err != nil {
		return nil, err
	}
	return ask(&http.Client{Timeout: patience, Transport: innerhttp.Transport(doors.PartSocket(dir, doors.WHIP))}, "http://node"+front.LivePath), nil
}

func answers(address, path string) Probe {
	return ask(&http.Client{Timeout: patience}, "http://"+address+path)
}

func ask(client *http.Client, url string) Probe {
	return func(ctx context.Context) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return "", err
		}
		resp, err := client.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		if resp.StatusCode != http.StatusOK {
			return "", fmt.Errorf("%s answered %s", url, resp.Status)
		}
		return "serving", nil
	}
}
