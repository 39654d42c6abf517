// Package onnode wires what a broadcast node and a control plane on two machines know of
// each other: which node has the air, which stands by, and where each is found.
package onnode

import (
	"context"
	"errors"
	"net/http"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/station"
)

// Seeing looks whether the streaming server of the node at a host answers. It ends with all
// of a node's programs, and one that answers is heard: if not by the engine then by its
// standby audio.
func Seeing(cfg *config.Config) func(ctx context.Context, host string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return func(ctx context.Context, host string) error {
		err := icecast.Ready(ctx, client, icecast.Options{Host: host, Port: cfg.Ports.Icecast})
		if errors.Is(err, station.ErrFull) {
			return nil
		}
		return err
	}
}
