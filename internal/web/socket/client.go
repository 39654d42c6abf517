package socket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/web/socket/engine"
)

// Handshake is what a client said when it connected.
type Handshake struct {
	Auth       json.RawMessage // the object given to the namespace; nil without
	Header     http.Header     // of the first request; not to be changed
	Query      string          // of the first request
	RemoteAddr string
	ClientKey  string // what Options.ClientKey answered
	Foreign    bool   // what Options.Foreign answered
	Time       time.Time
}

// client is one session with its sockets, one for each namespace. It is the
// session's receiver: one goroutine at a time uses all but its atomic fields.
type client struct {
	server    *Server
	session   *engine.Session
	handshake Handshake
	sockets   []*Socket
	known     bool // it has been in a namespace
	timer     *time.Timer
	joined    atomic.Bool

	mostBinary  int     // bytes of an event with attachments
	partial     *packet // waits for its attachments
	attachments [][]byte
	size        int // bytes of partial and attachments
	held        int // bytes taken by hold
}

// maxAuth is the longest object a client may give as it connects, in bytes: it
// is kept for as long as the client stays.
const maxAuth = 8 << 10

var (
	errTooBig = errors.New("event and its attachments are too big")
	errBusy   = errors.New("too much data is in transit")
)

// Message takes what the session received.
func (c *client) Message(data []byte, binary bool) {
	switch err := c.take(data, binary); {
	case errors.Is(err, errTooBig):
		c.session.End(engine.ReasonTooBig)
	case errors.Is(err, errBusy):
		c.session.End(engine.ReasonBusy)
	case err != nil:
		c.session.End(engine.ReasonParseError)
	}
}

func (c *client) take(data []byte, binary bool) error {
	if binary != (c.partial != nil) {
		return errPacket
	}
	if c.size += len(data); c.size > c.server.maxPayload || binary && c.size > c.mostBinary {
		return errTooBig
	}
	if binary {
		if !c.hold(len(data)) {
			return errBusy
		}
		c.attachments = append(c.attachments, data)
		if len(c.attachments) < c.partial.attachments {
			return nil
		}
		p, attachments := c.partial, c.attachments
		defer c.session.Free(c.held)
		c.partial, c.attachments, c.size, c.held = nil, nil, 0, 0
		return c.dispatch(*p, attachments)
	}
	p, err := decode(data)
	if err != nil {
		return err
	}
	if p.attachments > 0 {
		return c.await(p)
	}
	c.size = 0
	return c.dispatch(p, nil)
}

// await keeps an event until its attachments have come.
func (c *client) await(p packet) error {
	switch {
	case !c.known: // no socket would get it
		return errPacket
	case c.size > c.mostBinary:
		return errTooBig
	}
	if !c.hold(len(p.data)) {
		return errBusy
	}
	p.data = bytes.Clone(p.data) // does not keep the whole body in memory
	c.partial = &p
	return nil
}

// hold asks for n more bytes to keep until the event is complete; false when there
// is no room.
func (c *client) hold(n int) bool {
	if !c.session.Hold(n) {
		return false
	}
	c.held += n
	return true
}

func (c *client) dispatch(p packet, attachments [][]byte) error {
	if p.kind == kindConnect {
		return c.connect(p)
	}
	i := slices.IndexFunc(c.sockets, func(s *Socket) bool { return s.namespace.name == p.namespace })
	if i < 0 {
		if c.known { // its socket may have been disconnected while this was on its way
			return nil
		}
		return errPacket
	}
	s := c.sockets[i]
	switch p.kind {
	case kindDisconnect:
		s.leave(ReasonClientLeft)
		s.tellGone()
		return nil
	case kindEvent, kindBinaryEvent:
		name, args, err := p.event()
		if err != nil {
			return err
		}
		c.server.eventsIn.Add(1)
		s.handle(&Event{Name: name, Args: args, Attachments: attachments, socket: s, id: p.id, wanted: p.hasID})
		return nil
	default:
		args, err := p.args()
		if err != nil {
			return err
		}
		c.server.eventsIn.Add(1)
		s.answered(p.id, Answer{args, attachments})
		return nil
	}
}

// connect takes the client into a namespace.
func (c *client) connect(p packet) error {
	n := c.server.namespaces[p.namespace]
	if n == nil {
		c.refuse(p.namespace, &ConnectError{Message: "Invalid namespace"})
		return nil
	}
	if slices.ContainsFunc(c.sockets, func(s *Socket) bool { return s.namespace == n }) {
		return errPacket
	}
	if len(p.data) > maxAuth {
		c.refuse(p.namespace, &ConnectError{Message: fmt.Sprintf("auth is longer than %d bytes", maxAuth)})
		return nil
	}
	s := newSocket(n, c, bytes.Clone(p.data))
	if err := c.ask(s); err != nil {
		s.leave(engine.ReasonForced)
		c.refuse(p.namespace, err)
		return nil
	}
	switch in, guest := c.admit(s); {
	case guest:
		s.leave(engine.ReasonBusy)
		c.session.End(engine.ReasonBusy)
		return nil
	case !in:
		c.refuse(p.namespace, &ConnectError{Message: "disconnected"})
		return nil
	}
	c.sockets = append(c.sockets, s)
	c.known = true
	c.joined.Store(true)
	c.stopTimer()
	return nil
}

// stopTimer drops the timer, which would keep the client in memory.
func (c *client) stopTimer() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// ask calls OnConnect, if there is one.
func (c *client) ask(s *Socket) (err error) {
	if s.namespace.onConnect == nil {
		return nil
	}
	defer func() {
		if fault := recover(); fault != nil {
			c.server.log.Error("socket handler panicked", "event", "connect", "panic", fault, "stack", string(debug.Stack()))
			err = &ConnectError{Message: "internal error"}
		}
	}()
	return s.namespace.onConnect(s)
}

// ConnectError is what OnConnect returns to say why a client is not taken in:
// the client's connect_error has the message, and the data if there is any.
type ConnectError struct {
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *ConnectError) Error() string { return "refuse connection: " + e.Message }

// refuse sends the client a ConnectError's message. Other errors were not written
// for strangers: the client learns only that there was one.
func (c *client) refuse(namespace string, err error) {
	var said *ConnectError
	if !errors.As(err, &said) {
		c.server.log.Warn("socket connection refused", "namespace", namespace, "err", err)
		said = &ConnectError{Message: "connection refused"}
	}
	c.session.Send(encodeObject(namespace, kindConnectError, said))
}

// Closed disconnects the sockets of a session that has ended.
func (c *client) Closed(reason engine.Reason) {
	c.stopTimer()
	c.session.Free(c.held)
	c.partial, c.attachments, c.held = nil, nil, 0
	for _, s := range slices.Clone(c.sockets) {
		s.leave(reason)
		s.tellGone()
	}
}
