package engine

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/gobwas/ws"
)

// state of a session.
//
//	open ── End ──► ending ── farewell taken, refused or overdue ──► gone
//
// Once it is ending, it neither receives nor sends messages. Its id stays known
// until it is gone.
type state uint8

const (
	open state = iota
	ending
	gone
)

// Session is one client's connection, over WebSocket or polling.
type Session struct {
	id       string
	client   string
	wider    string // network of client, empty for none
	server   *Server
	guest    bool // fixed once it has entered
	receiver Receiver
	done     chan struct{}

	recv sync.Mutex // held while the receiver is called

	mu        sync.Mutex
	state     state
	websocket bool
	probing   chan struct{} // a WebSocket asks to carry the session; closed when it does or cannot
	upgrading bool          // the probe has been answered: polls get only noops
	posting   bool          // a polling body is being read
	pinged    bool          // a heartbeat waits for its answer
	unasked   bool          // and is itself still in the queue
	due       time.Duration // what the timer waits for, by the server's clock
	writing   bool          // a writer has the session, or it is on the ready list
	poll      chan struct{} // wakes the open poll
	answering bool          // an answer to a poll is being written
	queue     []*Packet
	pending   int // bytes in the queue and being written
	own       int // memory of those that no other session shares
	held      int // bytes of MaxOutgoing
	last      *Packet
	conn      net.Conn
	raw       syscall.RawConn // of conn; nil if it has none
	probe     net.Conn
	timer     *time.Timer // heartbeat; after the end, CloseTimeout
	next      *Session    // in the ready list

	bucket bucket
}

// nobody is the receiver of a session whose open panicked.
type nobody struct{}

func (nobody) Message([]byte, bool) {}
func (nobody) Closed(Reason)        {}

func newSession(server *Server, client string) *Session {
	id := make([]byte, 15)
	_, _ = rand.Read(id) // never fails
	s := &Session{
		id:     base64.RawURLEncoding.EncodeToString(id),
		client: client,
		wider:  server.opts.Wider(client),
		server: server,
		done:   make(chan struct{}),

		receiver: nobody{},
		bucket:   bucket{tokens: float64(server.opts.PacketBurst)},
	}
	s.due = server.clock() + server.opts.PingInterval
	s.timer = time.AfterFunc(server.opts.PingInterval, s.tick)
	return s
}

// ID is the session's secret name: 120 random bits.
func (s *Session) ID() string { return s.id }

// Client is the key the session is counted under.
func (s *Session) Client() string { return s.client }

// Guest reports whether the session was beyond the limits when it began: it is to take
// the place of one whose connection has broken unseen, or to be ended.
func (s *Session) Guest() bool { return s.guest }

// Done is closed when the session ends, before the receiver hears of it.
func (s *Session) Done() <-chan struct{} { return s.done }

// WebSocket reports whether a WebSocket carries the session now.
func (s *Session) WebSocket() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.websocket
}

// handshake is the packet that opens a session.
func (s *Session) handshake(upgrades ...string) *Packet {
	data, _ := json.Marshal(map[string]any{
		"sid": s.id, "upgrades": append([]string{}, upgrades...),
		"pingInterval": s.server.opts.PingInterval.Milliseconds(),
		"pingTimeout":  s.server.opts.PingTimeout.Milliseconds(),
		"maxPayload":   s.server.opts.MaxPayload,
	})
	return textPacket("0", data)
}

// Send queues packets, with none between them. It does not wait. A session that has
// ended drops them.
func (s *Session) Send(packets ...*Packet) {
	var b Batch
	b.Send(s, packets)
	b.Flush()
}

// enqueue reports whether the session has to be put on the ready list.
func (s *Session) enqueue(packets []*Packet) (schedule bool) {
	size := 0
	for _, p := range packets {
		size += p.size()
	}
	s.mu.Lock()
	if s.state != open {
		s.mu.Unlock()
		return false
	}
	if s.pending > 0 && s.pending+size > s.server.opts.MaxPending || !s.charge(s.own+ownOf(packets)) {
		s.mu.Unlock()
		s.End(ReasonSlow)
		return false
	}
	s.queue = append(s.queue, packets...)
	s.pending += size
	schedule = s.wantsWriter()
	s.wake()
	s.mu.Unlock()
	return schedule
}

// wantsWriter claims the session for a writer; mu is held.
func (s *Session) wantsWriter() bool {
	if !s.websocket || s.writing || len(s.queue) == 0 || s.state == gone {
		return false
	}
	s.writing = true
	return true
}

// wake tells the open poll to look; mu is held.
func (s *Session) wake() {
	select {
	case s.poll <- struct{}{}:
	default: // no poll is open, or it is awake already
	}
}

// Idle reports whether the queue is empty and a packet would go out at once.
func (s *Session) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == open && s.pending == 0 && (s.websocket || s.poll != nil && !s.upgrading)
}

// Exclusive calls f in a goroutine of its own, never during a call of the receiver.
// Once the session has ended it returns false and does not call f: the receiver
// gets Closed instead.
func (s *Session) Exclusive(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != open {
		return false
	}
	s.server.work.Go(func() {
		s.recv.Lock()
		defer s.recv.Unlock()
		s.guard(f)
	})
	return true
}

// guard turns a panic of the receiver into the end of the session.
func (s *Session) guard(f func()) {
	defer func() {
		if fault := recover(); fault != nil {
			s.server.opts.Logger.Error("socket receiver panicked", "panic", fault, "stack", string(debug.Stack()))
			s.End(ReasonFault)
		}
	}()
	f()
}

// deliver hands a message to the receiver.
func (s *Session) deliver(data []byte, binary bool) {
	s.recv.Lock()
	defer s.recv.Unlock()
	select {
	case <-s.done:
	default:
		s.guard(func() { s.receiver.Message(data, binary) })
	}
}

// receive handles one packet; it returns false once the session has ended.
func (s *Session) receive(packet []byte, binary bool) bool {
	s.server.stats.packetsIn.Add(1)
	if binary {
		s.deliver(packet, true)
		return s.isOpen()
	}
	if len(packet) == 0 {
		s.End(ReasonParseError)
		return false
	}
	switch packet[0] {
	case '4':
		s.deliver(packet[1:], false)
	case '3':
		s.pong()
	case '1':
		s.end(farewell{reason: ReasonTransportClose, packet: s.server.noop, status: ws.StatusNormalClosure})
	case '5', '6': // late packets of an upgrade, ignored
	default:
		s.End(ReasonParseError)
	}
	return s.isOpen()
}

func (s *Session) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == open
}

// pong handles the answer to a heartbeat. One that the client has not even taken is not
// answered: who sends pongs without reading would keep its queue for ever.
func (s *Session) pong() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pinged && !s.unasked && s.state == open {
		s.pinged = false
		s.due = s.server.clock() + s.server.opts.PingInterval
		s.timer.Reset(s.server.opts.PingInterval)
	}
}

// tick runs when the timer fires: a heartbeat is due, its answer is overdue, or
// nobody fetched the farewell.
func (s *Session) tick() {
	s.mu.Lock()
	switch {
	case s.state != open:
		overdue := s.last != nil && s.poll == nil
		s.mu.Unlock()
		if overdue {
			s.vanish()
		}
	case s.pinged:
		s.mu.Unlock()
		s.End(ReasonPingTimeout)
	default:
		s.pinged, s.unasked = true, true
		// A timer that is a little late does not give more time; one that is
		// very late, after a standstill of the machine's, does.
		now := s.server.clock()
		s.due = max(s.due, now-20*time.Millisecond) + s.server.opts.PingTimeout
		s.timer.Reset(s.due - now)
		s.mu.Unlock()
		s.Send(s.server.ping)
	}
}

// farewell is how a session ends.
type farewell struct {
	reason Reason
	packet *Packet       // over polling
	status ws.StatusCode // over WebSocket
	now    bool          // neither is sent: the client is gone
}

// End ends the session, once: the queue and a farewell are sent if the client still
// takes them. It does not wait.
func (s *Session) End(reason Reason) {
	s.end(farewell{reason, s.server.goodbye, reason.status(), reason.abrupt()})
}

func (s *Session) end(f farewell) {
	s.mu.Lock()
	if s.state != open {
		s.mu.Unlock()
		return
	}
	s.state = ending
	s.server.stats.ended(f.reason) // before anybody can see it
	close(s.done)
	s.timer.Stop()
	websocket, schedule := s.websocket, false
	switch {
	case f.now:
		s.queue = nil
	case websocket:
		s.queue = append(s.queue, closeFrame(f.status))
		schedule = s.wantsWriter()
	case s.poll != nil:
		s.last = f.packet
	case f.reason.lingers() && !s.upgrading:
		s.last = f.packet
		s.timer.Reset(s.server.opts.CloseTimeout)
	default:
		f.now = true
	}
	s.wake()
	s.mu.Unlock()

	if schedule {
		s.server.ready.push(s, s)
	}
	// In a goroutine, because the caller may hold locks that the receiver needs, or
	// may be the receiver.
	go s.finish(f.reason, f.now, websocket)
}

// finish closes what carries the session and calls the receiver's Closed. It
// releases one of the session's two counts in the server's work.
func (s *Session) finish(reason Reason, now, websocket bool) {
	defer s.server.work.Done()
	s.mu.Lock()
	conn, probe := s.conn, s.probe
	s.mu.Unlock()
	if probe != nil {
		_ = probe.Close()
	}
	switch {
	case websocket && now:
		_ = conn.Close() // its reader fails and makes the session vanish
	case websocket:
		_ = conn.SetReadDeadline(time.Now().Add(s.server.opts.CloseTimeout))
	case now:
		s.vanish()
	}
	s.recv.Lock()
	defer s.recv.Unlock()
	s.guard(func() { s.receiver.Closed(reason) })
}

// vanish releases all that the session holds, once.
func (s *Session) vanish() {
	s.mu.Lock()
	if s.state == gone {
		s.mu.Unlock()
		return
	}
	s.state = gone
	s.timer.Stop()
	s.queue, s.last = nil, nil
	s.charge(0)
	conn := s.conn
	s.wake()
	s.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
		s.server.stats.websockets.Add(-1)
	} else {
		s.server.stats.pollers.Add(-1)
	}
	s.server.leave(s)
}
