// Package app is the application that the published test suites of the two
// protocols talk to, and so do the checks of ours beside it.
package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/web/socket"
	"github.com/athir-radio/athir/internal/web/socket/engine"
)

// App serves both protocols.
type App struct {
	http.Handler
	echo    *engine.Server
	sockets *socket.Server
}

// New makes it. Its times are the suites': a heartbeat every 300 ms, 200 ms to
// answer it, 1 s to join a namespace.
func New(log *slog.Logger) *App {
	opts := engine.Options{
		PingInterval: 300 * time.Millisecond, PingTimeout: 200 * time.Millisecond,
		AllowOrigin: func(string) bool { return true }, Logger: log,
	}
	a := &App{
		echo:    engine.New(opts, func(s *engine.Session, _ *http.Request) engine.Receiver { return echo{s} }),
		sockets: socket.New(socket.Options{Options: opts, ConnectTimeout: time.Second}),
	}
	for _, name := range []string{"/", "/custom"} {
		n := a.sockets.Of(name)
		n.OnConnect(greet)
		n.On("message", func(s *socket.Socket, e *socket.Event) { _ = s.Emit("message-back", unwrap(e)...) })
		n.On("message-with-ack", func(_ *socket.Socket, e *socket.Event) { _ = e.Ack(unwrap(e)...) })
	}
	mux := http.NewServeMux()
	mux.Handle("/engine.io/", a.echo)
	mux.Handle("/socket.io/", a.sockets)
	a.Handler = mux
	return a
}

// Run serves until ctx ends.
func (a *App) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.echo.Run(ctx) })
	group.Go(func() error { return a.sockets.Run(ctx) })
	return group.Wait()
}

type echo struct{ session *engine.Session }

func (e echo) Message(data []byte, binary bool) {
	if binary {
		e.session.Send(engine.Binary(data))
	} else {
		e.session.Send(engine.Text(data))
	}
}

func (echo) Closed(engine.Reason) {}

// greet tells the client what it said at the door. The published suite listens
// for one message after the other, and in Node misses the second of two that
// arrive in one piece: hence the pause.
func greet(s *socket.Socket) error {
	auth := s.Handshake().Auth
	if auth == nil {
		auth = json.RawMessage("{}")
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = s.Emit("auth", auth) })
	return nil
}

// unwrap puts attachments where they were.
func unwrap(e *socket.Event) []any {
	out := make([]any, len(e.Args))
	for i, arg := range e.Args {
		out[i] = arg
		if data, ok := e.Bytes(i); ok {
			out[i] = data
		}
	}
	return out
}
