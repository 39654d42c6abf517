package onlive

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/live/desk"
	"github.com/athir-radio/athir/internal/live/whip"
	"github.com/athir-radio/athir/internal/web/front"
)

// wellPart returns what asks a live process at its own socket.
func wellPart(sockets, part string) func(context.Context) error {
	client := &http.Client{Timeout: 3 * time.Second, Transport: innerhttp.Transport(doors.PartSocket(sockets, part))}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://node"+front.LivePath, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		client.CloseIdleConnections()
		return resp.Body.Close()
	}
}

// sourcesConnected says why the desk may not be replaced: whoever is live would be cut off.
func sourcesConnected(d *desk.Desk) func() string {
	return func() string {
		if n := d.Connected(); n > 0 {
			return fmt.Sprintf("%d live sources are connected or on the air", n)
		}
		return ""
	}
}

// phonesConnected says why the server of phones may not be replaced.
func phonesConnected(s *whip.Server) func() string {
	return func() string {
		if n := s.Connected(); n > 0 {
			return fmt.Sprintf("%d phones are connected", n)
		}
		return ""
	}
}
