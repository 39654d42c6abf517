// Package socket is a server of Socket.IO protocol 5 over Engine.IO 4, so that
// any socket.io-client of version 3 or 4 is its client: namespaces, rooms,
// acknowledgements both ways, binary attachments.
//
// What goes to many is marshalled, encoded and framed once. Nothing waits for a
// client: one that does not keep up is cut. The package knows nothing of what is
// said over it.
//
// It refuses: connection state recovery (whoever reconnects is a new socket),
// namespaces made on demand, broadcasts that collect acknowledgements, and other
// parsers than the default one.
package socket

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/web/socket/engine"
)

// Options are the settings of a server; what is left zero gets the default.
type Options struct {
	// Options are the engine's. MaxPayload bounds an event with all its attachments.
	engine.Options
	// ConnectTimeout is what a session is given to join its first namespace; 45 s.
	ConnectTimeout time.Duration
}

// Reason says why a socket is gone.
type Reason = engine.Reason

// The reasons a socket has of its own; the others are the engine's.
const (
	ReasonClientLeft Reason = "client namespace disconnect" // the client left the namespace
	ReasonServerLeft Reason = "server namespace disconnect" // Disconnect was called
)

// Server is an http.Handler, to be mounted at /socket.io and /socket.io/.
type Server struct {
	engine         *engine.Server
	connectTimeout time.Duration
	maxPayload     int
	log            *slog.Logger
	namespaces     map[string]*Namespace // fixed once Run runs

	eventsIn, eventsOut atomic.Uint64
}

// New makes a server. Namespaces and handlers are given before Run.
func New(opts Options) *Server {
	s := &Server{
		connectTimeout: cmp.Or(opts.ConnectTimeout, 45*time.Second),
		log:            opts.Logger,
		namespaces:     map[string]*Namespace{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.engine = engine.New(opts.Options, s.accept)
	s.maxPayload = s.engine.MaxPayload()
	return s
}

// Of is the namespace of that name, made if need be. "" is "/".
func (s *Server) Of(name string) *Namespace {
	name = cmp.Or(name, "/")
	if s.namespaces[name] == nil {
		s.namespaces[name] = newNamespace(s, name)
	}
	return s.namespaces[name]
}

// ServeHTTP answers every path it is mounted at.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.engine.ServeHTTP(w, r) }

// Run serves until ctx ends. Then clients are told, in the way that makes them
// reconnect elsewhere, and it returns when every socket and goroutine is gone.
func (s *Server) Run(ctx context.Context) error { return s.engine.Run(ctx) }

// Stats is what the server has done, and whom it serves now.
type Stats struct {
	engine.Stats
	Sockets   int    // members of namespaces now; a session may be in several
	EventsIn  uint64 // events and acknowledgements received
	EventsOut uint64 // deliveries: a broadcast to 100 counts 100
}

// Stats answers the figures of now.
func (s *Server) Stats() Stats {
	out := Stats{Stats: s.engine.Stats(), EventsIn: s.eventsIn.Load(), EventsOut: s.eventsOut.Load()}
	for _, n := range s.namespaces {
		out.Sockets += n.Len()
	}
	return out
}

// accept attaches a client to a new session, before the session hears of us.
func (s *Server) accept(session *engine.Session, r *http.Request) engine.Receiver {
	c := &client{
		server:  s,
		session: session, mostBinary: s.maxPayload,
		handshake: Handshake{
			Header: r.Header, Query: r.URL.RawQuery, RemoteAddr: r.RemoteAddr,
			ClientKey: session.Client(), Time: time.Now(),
		},
	}
	c.timer = time.AfterFunc(s.connectTimeout, func() {
		if !c.joined.Load() {
			session.End(engine.ReasonForced)
		}
	})
	return c
}
