// Package socket is a server of Socket.IO protocol 5 over Engine.IO 4, for any
// socket.io-client of version 3 or 4: namespaces, rooms, acknowledgements both
// ways, binary attachments.
//
// A broadcast is marshalled, encoded and framed once. Nothing waits for a client:
// one that does not keep up is cut. The package does not interpret events.
//
// A client whose connection broke may take up where it was (Recovery).
//
// It refuses: namespaces made on demand, broadcasts that collect acknowledgements, and parsers
// other than the default one.
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

// Options are the settings of a server; a zero field gets the default.
type Options struct {
	// Options are the engine's. MaxPayload bounds an event with all its attachments.
	engine.Options
	// ConnectTimeout is how long a session may take to join its first namespace; 45 s.
	ConnectTimeout time.Duration
	// Foreign reports whether another site made a browser send the first request of a
	// session; Handshake.Foreign has its answer. Nil: none did.
	Foreign func(*http.Request) bool

	// RecoverFor is how long a client may be away and take up where it was, in a
	// namespace that allows Recovery; 2 min.
	RecoverFor time.Duration
	// MostKept is how many sockets that are away are kept, the newest ones; 20,000. One
	// client key has MostKeptPerClient of them; 0 is no limit.
	MostKept, MostKeptPerClient int
	MostKeptBytes               int // of all of them; 16 MiB
}

// Reason says why a socket is gone.
type Reason = engine.Reason

// The reasons that only sockets have; the others are the engine's.
const (
	ReasonClientLeft Reason = "client namespace disconnect" // the client left the namespace
	ReasonServerLeft Reason = "server namespace disconnect" // Disconnect was called
)

// Server is an http.Handler, to be mounted at /socket.io and /socket.io/.
type Server struct {
	engine         *engine.Server
	connectTimeout time.Duration
	foreign        func(*http.Request) bool
	maxPayload     int
	log            *slog.Logger
	namespaces     map[string]*Namespace // fixed once Run runs
	kept           shelf

	eventsIn, eventsOut, recovered atomic.Uint64
}

// New makes a server. Make namespaces and set handlers before Run.
func New(opts Options) *Server {
	s := &Server{
		connectTimeout: cmp.Or(opts.ConnectTimeout, 45*time.Second),
		foreign:        opts.Foreign,
		log:            opts.Logger,
		namespaces:     map[string]*Namespace{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	opts.RecoverFor, opts.MostKept = cmp.Or(opts.RecoverFor, 2*time.Minute), cmp.Or(opts.MostKept, 20_000)
	opts.MostKeptBytes = cmp.Or(opts.MostKeptBytes, 16<<20)
	s.kept.init(opts)
	s.engine = engine.New(opts.Options, s.accept)
	s.maxPayload = s.engine.MaxPayload()
	return s
}

// Of returns the namespace of that name, and makes it if need be. "" means "/".
func (s *Server) Of(name string) *Namespace {
	name = cmp.Or(name, "/")
	if s.namespaces[name] == nil {
		s.namespaces[name] = newNamespace(s, name)
	}
	return s.namespaces[name]
}

// ServeHTTP serves every path that the server is mounted at.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.engine.ServeHTTP(w, r) }

// Run serves until ctx ends. Then it ends every session in a way that makes clients
// reconnect, and returns when all sockets and goroutines have ended.
func (s *Server) Run(ctx context.Context) error { return s.engine.Run(ctx) }

// Stats counts what the server has done, and what it serves now.
type Stats struct {
	engine.Stats
	Sockets   int    // members of namespaces now; a session may be in several
	EventsIn  uint64 // events and acknowledgements received
	EventsOut uint64 // deliveries: a broadcast to 100 counts 100
	Kept      int    // sockets that are away and may come back
	Recovered uint64 // sockets that came back
}

// Stats returns the present figures.
func (s *Server) Stats() Stats {
	out := Stats{Stats: s.engine.Stats(), EventsIn: s.eventsIn.Load(), EventsOut: s.eventsOut.Load(), Kept: s.kept.len(), Recovered: s.recovered.Load()}
	for _, n := range s.namespaces {
		out.Sockets += n.Len()
	}
	return out
}

// accept attaches a client to a new session, before the handshake is sent.
func (s *Server) accept(session *engine.Session, r *http.Request) engine.Receiver {
	c := &client{
		server:  s,
		session: session, mostBinary: s.maxPayload,
		handshake: Handshake{
			Header: r.Header, Query: r.URL.RawQuery, RemoteAddr: r.RemoteAddr,
			ClientKey: session.Client(), Time: time.Now(), Foreign: s.foreign != nil && s.foreign(r),
		},
	}
	c.timer = time.AfterFunc(s.connectTimeout, func() {
		if !c.joined.Load() {
			session.End(engine.ReasonForced)
		}
	})
	return c
}
