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

// dial returns nil if something listens at addr.
func dial(ctx context.Context, addr string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return conn.Close()
}

// listening returns nil if something listens on a port of this machine. It opens no
// connection.
func listening(number int) error {
	if !port.Listening(number) {
		return fmt.Errorf("nothing listens on port %d", number)
	}
	return nil
}

// hlsReady returns a check that is nil once the relay serves a playlist.
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
