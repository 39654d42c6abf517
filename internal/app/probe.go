package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/node/relay"
)

// dial reports whether something listens.
func dial(ctx context.Context, addr string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return conn.Close()
}

// listening reports whether a port of this machine is being served, without a
// connection to it.
func listening(number int) error {
	if !port.Listening(number) {
		return fmt.Errorf("nothing listens on port %d", number)
	}
	return nil
}

// hlsReady reports whether the relay has a playlist to give.
func hlsReady(cfg *config.Config) func(context.Context) error {
	client := &http.Client{Timeout: 2 * time.Second}
	return func(ctx context.Context) error {
		p, err := relay.ReadMainPath(ctx, client, config.Local(cfg.Ports.Paths))
		if err == nil && !p.Ready {
			err = errors.New("HLS is not ready")
		}
		return err
	}
}
