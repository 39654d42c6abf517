// Package innerhttp is HTTP between the processes of one machine and one user, over Unix
// sockets: who may open the socket's file may ask.
//
// It knows nothing of what is asked, but reads and writes it as JSON.
package innerhttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/athir-radio/athir/internal/kit/reexec"
)

// Serve answers on a Unix socket, which only this user can open, until ctx ends. A file
// that is there is a leftover: the caller holds the lock of the folder. Whoever asks while
// another program takes over by handover waits; nil: there is none.
func Serve(ctx context.Context, socket string, h http.Handler, handover *reexec.Handover) error {
	if !handover.Inherited("unix", socket) {
		if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove old socket: %w", err)
		}
	}
	l, err := handover.Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("open socket %s: %w", socket, err)
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		return errors.Join(fmt.Errorf("protect socket %s: %w", socket, err), l.Close())
	}
	base, cancel := context.WithCancel(context.WithoutCancel(ctx)) // ends what streams
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return base }}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		cancel()
		_ = srv.Close()
	})
	err = srv.Serve(l)
	cancel()
	if !stop() {
		<-stopped
	}
	if handover != nil && !handover.Leaving() {
		_ = os.Remove(socket) // a handover keeps the file
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve socket %s: %w", socket, err)
	}
	return nil
}

// Transport reaches the server at a socket, whatever host a request names. It has no
// limit of time of its own: the request's context has.
func Transport(socket string) *http.Transport {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &http.Transport{DialContext: dial, MaxIdleConns: 4, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second}
}
