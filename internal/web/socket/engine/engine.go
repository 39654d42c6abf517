// Package engine is a server of Engine.IO protocol 4: sessions over WebSocket
// or HTTP long-polling, the way up from the second to the first, heartbeat, and
// messages of text or bytes in order.
//
// A message that goes to many is framed once and its bytes are shared. A session
// at rest costs one goroutine over WebSocket and none over polling. What a
// session has yet to be sent is bounded in bytes; one that does not take it is
// cut, never waited for.
//
// It refuses: protocol 3, JSONP, WebTransport, compression, and sessions that
// outlive their connection. Messages mean nothing to it.
package engine

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"time"
)

// Options are the settings of a server; what is left zero gets the default.
type Options struct {
	PingInterval   time.Duration // between heartbeats; 25 s
	PingTimeout    time.Duration // for the answer to one; 20 s
	UpgradeTimeout time.Duration // for a probe to become the session's connection; 10 s
	CloseTimeout   time.Duration // for the other end to take a farewell; 3 s
	MaxPayload     int           // bytes of a message, and of a polling body; 1,000,000
	MaxPending     int           // bytes a session may have yet to be sent; 1 MiB. A single message may be larger
	MaxIncoming    int           // bytes of all messages on their way, beyond 16 KiB of each; 16 × MaxPayload. A client key has a quarter
	MaxPackets     int           // packets in one polling body; 1,024
	MaxSessions    int           // 20,000
	MaxPerClient   int           // sessions of one client key; 0 is no limit
	PacketRate     float64       // packets (over WebSocket: frames) a second a session may send for long; 0 is no limit
	PacketBurst    int           // and at once; 10 × PacketRate. Beyond it the session is closed

	// ClientKey names who asks, for MaxPerClient. The empty key is not limited.
	ClientKey func(*http.Request) string
	// Wider names the network that a key lies in, empty for none. All keys of one
	// have eight times MaxPerClient, and one client's part of MaxIncoming, together:
	// an IPv6 site has as many addresses as it wants. Nil: there are none.
	Wider func(key string) string
	// AllowOrigin reports whether pages of another origin may connect. Requests
	// without an Origin, and of the same host, always may. Nil allows no other.
	AllowOrigin func(origin string) bool

	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.PingInterval = cmp.Or(o.PingInterval, 25*time.Second)
	o.PingTimeout = cmp.Or(o.PingTimeout, 20*time.Second)
	o.UpgradeTimeout = cmp.Or(o.UpgradeTimeout, 10*time.Second)
	o.CloseTimeout = cmp.Or(o.CloseTimeout, 3*time.Second)
	o.MaxPayload = cmp.Or(o.MaxPayload, 1_000_000)
	o.MaxPending = cmp.Or(o.MaxPending, 1<<20)
	o.MaxIncoming = cmp.Or(o.MaxIncoming, 16*o.MaxPayload)
	o.MaxPackets = cmp.Or(o.MaxPackets, 1024)
	o.MaxSessions = cmp.Or(o.MaxSessions, 20_000)
	o.PacketBurst = cmp.Or(o.PacketBurst, int(10*o.PacketRate))
	if o.ClientKey == nil {
		o.ClientKey = func(*http.Request) string { return "" }
	}
	if o.Wider == nil {
		o.Wider = func(string) string { return "" }
	}
	if o.AllowOrigin == nil {
		o.AllowOrigin = func(string) bool { return false }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Receiver takes what a session receives. Its methods are never called at the
// same time as each other. They run where the session is read: while Message
// waits, nothing more of that session is taken in, heartbeats included.
type Receiver interface {
	// Message hands over one message; the bytes are the receiver's to keep.
	// Text is valid UTF-8.
	Message(data []byte, binary bool)
	// Closed is the last call, whatever ended the session.
	Closed(reason Reason)
}

// Server holds the sessions. It is an http.Handler for every path it is mounted
// at, and serves while Run runs.
type Server struct {
	opts   Options
	since  time.Time // its clock's zero
	open   func(*Session, *http.Request) Receiver
	ready  readyList
	work   sync.WaitGroup // all that sessions keep busy
	stats  counters
	intake intake

	mu       sync.Mutex
	running  bool
	sessions map[string]*Session
	clients  map[string]int

	ping, noop, probed, goodbye *Packet
}

// New makes a server. open is called for each new session before the other end
// hears of it, and answers who receives; what it sends is sent after the
// handshake. It may keep the request's header but not the request.
func New(opts Options, open func(*Session, *http.Request) Receiver) *Server {
	s := &Server{
		opts:     opts.withDefaults(),
		since:    time.Now(),
		open:     open,
		sessions: map[string]*Session{},
		clients:  map[string]int{},
		ping:     textPacket("2", nil),
		noop:     textPacket("6", nil),
		probed:   textPacket("3probe", nil),
		goodbye:  textPacket("1", nil),
	}
	s.ready.init()
	s.stats.init()
	s.intake.init(s.opts.MaxIncoming, s.opts.MaxIncoming/4)
	return s
}

// MaxPayload is the limit in force, in bytes.
func (s *Server) MaxPayload() int { return s.opts.MaxPayload }

// Run serves until ctx ends. Then it says goodbye to every session, answers the
// polls that are open or come within CloseTimeout, and returns when all sessions
// and all goroutines are gone. Let the HTTP server end after it. Before and
// after, new sessions and unknown ones are answered 503.
func (s *Server) Run(ctx context.Context) error {
	var writers sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		writers.Go(s.write)
	}
	s.mu.Lock()
	s.running = true
	s.mu.Unlock()

	<-ctx.Done()

	s.mu.Lock()
	s.running = false
	left := make([]*Session, 0, len(s.sessions))
	for _, session := range s.sessions {
		left = append(left, session)
	}
	s.mu.Unlock()
	for _, session := range left {
		session.End(ReasonShutdown)
	}
	s.work.Wait()
	s.ready.close()
	writers.Wait()
	return nil
}

func (s *Server) clock() time.Duration { return time.Since(s.since) }

// find answers the session of that id, or why there is none.
func (s *Server) find(id string) (*Session, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch session := s.sessions[id]; {
	case session != nil:
		return session, nil
	case !s.running:
		return nil, &refuseStopped
	}
	return nil, &refuseSession
}

// widerFactor is how many clients a wider network counts for.
const widerFactor = 8

// enter counts a new session in, unless there are too many.
func (s *Server) enter(session *Session) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.running:
		return &refuseStopped
	case len(s.sessions) >= s.opts.MaxSessions:
		s.stats.refused.Add(1)
		return &refuseFull
	case s.opts.MaxPerClient > 0 && (s.clients[session.client] >= s.opts.MaxPerClient || s.clients[session.wider] >= widerFactor*s.opts.MaxPerClient):
		s.stats.refused.Add(1)
		return &refuseClient
	}
	s.sessions[session.id] = session
	for _, key := range []string{session.client, session.wider} {
		if key != "" {
			s.clients[key]++
		}
	}
	// One for the session's place here, one for its Closed.
	s.work.Add(2)
	return nil
}

// leave counts a session out.
func (s *Server) leave(session *Session) {
	s.mu.Lock()
	delete(s.sessions, session.id)
	for _, key := range []string{session.client, session.wider} {
		if n := s.clients[key]; n > 1 {
			s.clients[key] = n - 1
		} else {
			delete(s.clients, key)
		}
	}
	s.mu.Unlock()
	s.work.Done()
}
