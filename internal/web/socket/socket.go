package socket

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/athir-radio/athir/internal/web/socket/engine"
)

// ErrDisconnected ends a wait for an acknowledgement when the socket has left.
var ErrDisconnected = errors.New("socket is disconnected")

// A socket's life:
//
//	pending ── OnConnect agrees ──► connected ── either end, or the session's ──► left
//	   └────── OnConnect refuses ──────────────────────────────────────────────────►
//
// Messages to a pending socket wait until the client knows that it is connected.
const (
	pending uint32 = iota
	connected
	left
)

// Socket is one client in one namespace.
//
// OnConnect, event handlers and OnDisconnect of one session are called one after
// another, in order of arrival. A handler that waits for an acknowledgement from its
// own client must therefore do so in a goroutine.
type Socket struct {
	// Data is for the application; this package does not touch it. If set in
	// OnConnect, handlers read it without a lock.
	Data any

	id        string
	pid       string // by which the client is recovered; empty for one that is not
	owner     string // whose pid it is
	recovered bool
	settled   chan struct{} // closed when a socket that had a pid has left and is kept
	namespace *Namespace
	client    *client
	auth      json.RawMessage
	state     atomic.Uint32
	toldGone  bool // OnDisconnect was called
	reason    Reason

	rooms []string // guarded by the namespace's lock
	index int      // in the namespace's sockets; guarded by the namespace's lock

	mu      sync.Mutex
	held    []*engine.Packet
	acks    map[uint64]chan Answer
	nextAck uint64
}

func newSocket(n *Namespace, c *client, auth json.RawMessage) *Socket {
	id := make([]byte, 15)
	_, _ = rand.Read(id) // never fails
	if len(auth) == 0 {
		auth = nil
	}
	return &Socket{id: base64.RawURLEncoding.EncodeToString(id), namespace: n, client: c, auth: auth, index: -1}
}

// ID is the socket's public name; the session's id is a secret.
func (s *Socket) ID() string { return s.id }

// Namespace is where the socket is.
func (s *Socket) Namespace() *Namespace { return s.namespace }

// Handshake is what the client said when it connected.
func (s *Socket) Handshake() Handshake {
	h := s.client.handshake
	h.Auth = s.auth
	return h
}

// LimitBinary bounds an event with its attachments, in bytes, below MaxPayload. An
// event that stays incomplete takes memory for as long as its client stays. Call it
// in OnConnect.
func (s *Socket) LimitBinary(most int) { s.client.mostBinary = min(most, s.client.server.maxPayload) }

// WebSocket reports whether the client is connected by WebSocket, not by polling.
func (s *Socket) WebSocket() bool { return s.client.session.WebSocket() }

// Connected reports whether the socket was admitted and has not left.
func (s *Socket) Connected() bool { return s.state.Load() == connected }

// Emit sends an event; arguments as for Namespace.Message. A socket that has left
// gets nothing, which is no error.
func (s *Socket) Emit(event string, args ...any) error {
	packets, err := encodeEvent(s.namespace.name, nil, nil, event, args)
	if err != nil {
		return err
	}
	s.dispatch(packets)
	return nil
}

// Send sends a message of the socket's namespace.
func (s *Socket) Send(m *Message) error {
	if m.namespace != s.namespace {
		return ErrNamespace
	}
	s.dispatch(m.to(s))
	return nil
}

func (s *Socket) dispatch(packets []*engine.Packet) {
	var b engine.Batch
	if s.send(&b, packets) {
		s.namespace.server.eventsOut.Add(1)
	}
	b.Flush()
}

// send queues packets, or holds them until the client knows that it is connected. It
// reports whether they will be sent.
func (s *Socket) send(b *engine.Batch, packets []*engine.Packet) bool {
	switch s.state.Load() {
	case connected:
		b.Send(s.client.session, packets)
		return true
	case pending:
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.state.Load() == pending {
			s.held = append(s.held, packets...)
			return true
		}
		if s.state.Load() == connected {
			b.Send(s.client.session, packets)
			return true
		}
	}
	return false
}

// welcome tells the client that it is connected, and sends what was held meanwhile.
func (s *Socket) welcome() bool {
	names := map[string]string{"sid": s.id}
	if s.pid != "" {
		names["pid"] = s.pid
	}
	hello := encodeObject(s.namespace.name, kindConnect, names)
	s.namespace.mu.Lock()
	defer s.namespace.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Load() != pending {
		return false
	}
	if s.recovered {
		s.client.server.recovered.Add(1) // before the client can know
	}
	s.client.session.Send(append([]*engine.Packet{hello}, s.held...)...)
	s.held = nil
	s.namespace.add(s)
	s.state.Store(connected)
	return true
}

// Answer is what the client acknowledged with.
type Answer struct {
	Args        []json.RawMessage
	Attachments [][]byte
}

// EmitWithAck sends an event and waits for its acknowledgement, until ctx ends or
// the socket leaves (ErrDisconnected).
func (s *Socket) EmitWithAck(ctx context.Context, event string, args ...any) (Answer, error) {
	s.mu.Lock()
	if s.state.Load() == left {
		s.mu.Unlock()
		return Answer{}, ErrDisconnected
	}
	id, reply := s.nextAck, make(chan Answer, 1)
	s.nextAck++
	if s.acks == nil {
		s.acks = map[uint64]chan Answer{}
	}
	s.acks[id] = reply
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.acks, id)
		s.mu.Unlock()
	}()

	packets, err := encodeEvent(s.namespace.name, &id, nil, event, args)
	if err != nil {
		return Answer{}, err
	}
	s.dispatch(packets)
	select {
	case answer, ok := <-reply:
		if !ok {
			return Answer{}, ErrDisconnected
		}
		return answer, nil
	case <-s.client.session.Done():
		return Answer{}, ErrDisconnected
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

// answered hands an acknowledgement to the EmitWithAck that waits for it, if any.
func (s *Socket) answered(id uint64, answer Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reply, ok := s.acks[id]; ok {
		delete(s.acks, id)
		reply <- answer
	}
}

// handle calls the event's handler.
func (s *Socket) handle(e *Event) {
	if s.state.Load() != connected {
		return
	}
	handler := s.namespace.events[e.Name]
	if handler == nil {
		handler = s.namespace.other
	}
	if handler != nil {
		s.guard(e.Name, func() { handler(s, e) })
	}
}

// guard confines a handler's panic to its event.
func (s *Socket) guard(event string, f func()) {
	defer func() {
		if fault := recover(); fault != nil {
			s.namespace.server.log.Error("socket handler panicked", "event", event, "panic", fault, "stack", string(debug.Stack()))
		}
	}()
	f()
}

// Disconnect removes the client from the namespace; with session, it ends the whole
// connection. It does not wait for OnDisconnect.
func (s *Socket) Disconnect(session bool) {
	if s.leave(ReasonServerLeft) {
		s.client.session.Send(encodeObject(s.namespace.name, kindDisconnect, nil))
		s.client.session.Exclusive(s.tellGone) // if the session has ended, Closed does it
	}
	if session {
		s.client.session.End(engine.ReasonForced)
	}
}

// leave takes the socket out of its namespace, once; it reports whether it was
// connected.
func (s *Socket) leave(reason Reason) bool {
	was := s.part(reason)
	if was == connected && s.pid != "" {
		s.remember()
	}
	return was == connected
}

// part takes the socket out of its namespace and returns the state that it was in.
func (s *Socket) part(reason Reason) uint32 {
	s.namespace.mu.Lock()
	defer s.namespace.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.state.Load()
	if was == left {
		return left
	}
	s.state.Store(left)
	s.reason = reason
	s.held = nil
	for _, reply := range s.acks {
		close(reply)
	}
	s.acks = nil
	s.namespace.remove(s)
	return was
}

// tellGone calls OnDisconnect, once. It runs as the session's receiver.
func (s *Socket) tellGone() {
	if s.toldGone {
		return
	}
	s.toldGone = true
	s.client.sockets = slices.DeleteFunc(s.client.sockets, func(o *Socket) bool { return o == s })
	if f := s.namespace.onDisconnect; f != nil {
		s.guard("disconnect", func() { f(s, s.reason) })
	}
}

// Event is what a client sent.
type Event struct {
	Name        string
	Args        []json.RawMessage
	Attachments [][]byte // in the order their placeholders number them

	socket *Socket
	id     uint64
	wanted bool
	acked  atomic.Bool
}

// Bytes returns the i-th argument, if it is an attachment.
func (e *Event) Bytes(i int) ([]byte, bool) {
	if i < 0 || i >= len(e.Args) {
		return nil, false
	}
	var p placeholder
	if json.Unmarshal(e.Args[i], &p) != nil || !p.Is || p.Num == nil || *p.Num < 0 || *p.Num >= len(e.Attachments) {
		return nil, false
	}
	return e.Attachments[*p.Num], true
}

// Wanted reports whether the client asked for an acknowledgement.
func (e *Event) Wanted() bool { return e.wanted }

// Ack answers the client, once; arguments as for Namespace.Message. If the client
// asked for no acknowledgement, it does nothing. Any goroutine may call it, also
// after the handler has returned.
func (e *Event) Ack(args ...any) error { return e.AckAttached(nil, args...) }

// AckAttached is Ack with attachments that Placeholder refers to from within
// the arguments.
func (e *Event) AckAttached(attachments [][]byte, args ...any) error {
	if !e.wanted {
		return nil
	}
	packets, err := encodeArray(e.socket.namespace.name, kindAck, &e.id, attachments, args)
	if err != nil {
		return fmt.Errorf("encode acknowledgement: %w", err)
	}
	if e.acked.CompareAndSwap(false, true) {
		e.socket.dispatch(packets)
	}
	return nil
}
