// Package doors has the servers of the station's own roles: their deadlines, their bounds and
// where their private sockets are.
package doors

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/crowd"
	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/kit/httpend"
	"github.com/athir-radio/athir/internal/kit/reexec"
)

// NewBound limits the connections of one address to a port of ours.
func NewBound(cfg *config.Config, log *slog.Logger) *crowd.Bound {
	exempt, _ := cfg.Connections.ExemptList() // validated
	return crowd.New(crowd.Options{Most: cfg.Connections.PerAddress, Key: counted(exempt), Wider: client.Wider, Log: log})
}

// counted returns whose connection it is. It is empty, and the connection is not
// counted, for exempt addresses and for this machine's own.
func counted(exempt []netip.Prefix) func(net.Addr) string {
	return func(remote net.Addr) string {
		if tcp, ok := remote.(*net.TCPAddr); ok {
			from := tcp.AddrPort().Addr().Unmap().WithZone("")
			if slices.ContainsFunc(exempt, func(p netip.Prefix) bool { return p.Contains(from) }) {
				return ""
			}
		}
		return client.Peer(remote)
	}
}

const (
	bodyTime   = 15 * time.Second
	answerTime = time.Minute // not for streams, which set their own deadlines
	// lastAnswers is how long requests under way are answered at the end.
	lastAnswers = 2 * time.Second
)

// NewServer makes a server whose timeouts end idle clients.
func NewServer(address string, h http.Handler) *http.Server {
	return &http.Server{
		Addr: address, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		Handler: deadline.Handler(h, bodyTime, answerTime), ConnContext: crowd.Context,
	}
}

// Serve listens within bound until ctx ends, then gives open requests two seconds. It
// speaks TLS where the server has a configuration for it. The socket is handed over to the
// program that takes over, if one does.
func Serve(ctx context.Context, srv *http.Server, bound *crowd.Bound, handover *reexec.Handover) error {
	l, err := handover.Listen(ctx, "tcp", srv.Addr)
	if err != nil {
		return err
	}
	counted := httpend.Of(srv)
	socket := l
	stop := context.AfterFunc(ctx, func() { _ = socket.Close() })
	l = bound.Listener(l)
	if srv.TLSConfig != nil {
		l = tls.NewListener(l, srv.TLSConfig)
	}
	if err = counted.Serve(l); stop() {
		return err // by itself
	}
	counted.End(lastAnswers)
	return nil
}

// Named puts the name of a part before its error.
func Named(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
