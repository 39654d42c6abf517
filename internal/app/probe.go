package app

import (
	"context"
	"fmt"
	"net"

	"github.com/athir-radio/athir/internal/kit/port"
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
		return fmt.Errorf("nobody listens on port %d", number)
	}
	return nil
}
