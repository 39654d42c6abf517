// Package engine is a server of Engine.IO protocol 4: sessions over WebSocket or
// HTTP long-polling, the upgrade from polling to WebSocket, heartbeats, and ordered
// messages of text or bytes.
//
// A message to many sessions is framed once and its bytes are shared. An idle
// session costs one goroutine over WebSocket and none over polling. A session's
// queue is bounded in bytes, and so are those of one client and of all together; a
// session that does not keep up, or has not taken its last heartbeat when the answer is
// due, is cut, and nothing waits for it.
//
// It refuses: protocol 3, JSONP, WebTransport, compression, and sessions that
// outlive their connection. It does not interpret messages.
package engine

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/rush"
)

// Options are the settings of a server; a zero field gets the default.
type Options struct {
	PingInterval   time.Duration // between heartbeats; 25 s
	PingTimeout    time.Duration // for the answer to one; 20 s
	UpgradeTimeout time.Duration // for a probe to become the session's connection; 10 s
	CloseTimeout   time.Duration // for the client to take a farewell; 3 s
	MaxPayload     int           // bytes of a message, and of a polling body; 1,000,000
	MaxPending     int           // bytes queued for one session; 1 MiB. A single message may be larger
	MaxIncoming    int           // bytes of all messages being received, beyond 16 KiB of each; 16 × MaxPayload. A client key has a quarter
	MaxOutgoing    int           // bytes of all messages that wait each for one session, beyond 16 KiB of each session; 64 × MaxPending. A client key has a quarter
	MaxPackets     int           // packets in one polling body; 1,024
	MaxSessions    int           // 20,000
	MaxPerClient   int           // sessions of one client key; 0 is no limit
	Guests         int           // sessions beyond those of all, see Session.Guest; an eighth of them beyond those of one client
	PacketRate     float64       // packets (over WebSocket: frames) a second a session may send for long; 0 is no limit
	PacketBurst    int           // packets at once; 10 × PacketRate. Beyond it the session is closed

	// ClientKey names the client of a request, for MaxPerClient. The empty key is
	// not limited.
	ClientKey func(*http.Request) string
	// Wider names the network that a key lies in, empty for none. All keys of one
	// network together have eight times MaxPerClient, and one client's part of
	// MaxIncoming and MaxOutgoing: an IPv6 site has any number of addresses. Nil: no key lies in one.
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
	o.MaxOutgoing = cmp.Or(o.MaxOutgoing, 64*o.MaxPending)
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

// Receiver gets the messages of a session. Its methods are called one at a time, by
// the goroutine that reads the session: while Message waits, nothing more of that
// session is read, heartbeats included.
type Receiver interface {
	// Message gets one message; the receiver may keep the bytes. Text is valid
	// UTF-8.
	Message(data []byte, binary bool)
	// Closed is called last, however the session ended.
	Closed(reason Reason)
}

// Server holds the sessions. It is an http.Handler for every path it is mounted
// at, and serves while Run runs.
type Server struct {
	opts     Options
	since    time.Time // zero of the server's clock
	open     func(*Session, *http.Request) Receiver
	ready    readyList
	work     sync.WaitGroup // all goroutines and requests of sessions
	stats    counters
	intake   budget
	outgoing budget
	rush     *rush.Watch

	mu       sync.Mutex
	running  bool
	sessions map[string]*Session
	clients  map[string]int

	ping, noop, probed, goodbye *Packet
}

// New makes a server. open is called for each new session before its client gets
// the handshake, and returns the session's receiver; what it sends follows the
// handshake. It may keep the request's header but not the request.
func New(opts Options, open func(*Session, *http.Request) Receiver) *Server {
	s := &Server{
		opts:     opts.withDefaults(),
		since:    time.Now(),
		open:     open,
		rush:     rush.New(nil),
		sessions: map[string]*Session{},
		clients:  map[string]int{},
		ping:     textPacket("2", nil).Shared(),
		noop:     textPacket("6", nil).Shared(),
		probed:   textPacket("3probe", nil).Shared(),
		goodbye:  textPacket("1", nil).Shared(),
	}
	s.ready.init()
	s.stats.init()
	s.intake.init(s.opts.MaxIncoming)
	s.outgoing.init(s.opts.MaxOutgoing)
	return s
}

// MaxPayload is the limit in force, in bytes.
func (s *Server) MaxPayload() int { return s.opts.MaxPayload }

// Run serves until ctx ends. Then it closes every session, answers the polls that
// are open or come within CloseTimeout, and returns when all sessions and
// goroutines have ended. The HTTP server must end after it. Before and after Run,
// new and unknown sessions get 503.
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

// find returns the session of that id, or the refusal that the client gets.
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

// guestShare is the part of all guests that one client may have, as a divisor.
const guestShare = 8

// crowded reports whether the session's client, or its network, has all the sessions
// that it may have and so many more. The caller holds mu.
func (s *Server) crowded(session *Session, more int) bool {
	most := s.opts.MaxPerClient
	return most > 0 && (s.clients[session.client] >= most+more || s.clients[session.wider] >= widerFactor*most+more)
}

// enter registers a new session, unless there are too many.
func (s *Server) enter(session *Session) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.running:
		return &refuseStopped
	case len(s.sessions) >= s.opts.MaxSessions+s.opts.Guests:
		s.stats.refused.Add(1)
		return &refuseFull
	case s.crowded(session, s.opts.Guests/guestShare):
		s.stats.refused.Add(1)
		return &refuseClient
	}
	session.guest = len(s.sessions) >= s.opts.MaxSessions || s.crowded(session, 0)
	s.sessions[session.id] = session
	for _, key := range []string{session.client, session.wider} {
		if key != "" {
			s.clients[key]++
		}
	}
	// One until leave, one until its Closed has returned.
	s.work.Add(2)
	return nil
}

// leave removes a session.
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
