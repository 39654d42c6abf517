package app

import (
	"context"
	"fmt"
	"net"
	"time"

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

// until repeats try, ever more slowly, until it returns nil or ctx ends.
func until(ctx context.Context, try func(context.Context) error) error {
	for pause := 25 * time.Millisecond; ; pause = min(pause*5/4, 500*time.Millisecond) {
		err := try(ctx)
		if err == nil {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}
