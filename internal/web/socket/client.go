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
	Time       time.Time
}

// client is one session: the sockets it has, one a namespace. It is the
// session's receiver, so that all but its atomic fields is used by one goroutine
// at a time.
type client struct {
	server    *Server
	session   *engine.Session
	handshake Handshake
	sockets   []*Socket
	known     bool // it was in a namespace before
	timer     *time.Timer
	joined    atomic.Bool

	mostBinary  int     // bytes of an event with attachments
	partial     *packet // waits for its attachments
	attachments [][]byte
	size        int // of both, in bytes
	held        int // of these, asked for
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
	case !c.known: // nobody would hear it
		return errPacket
	case c.size > c.mostBinary:
		return errTooBig
	}
	if !c.hold(len(p.data)) {
		return errBusy
	}
	p.data = bytes.Clone(p.data) // without what came in the same body
	c.partial = &p
	return nil
}

// hold asks for n bytes more, to be kept until all of an event is there.
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
		if c.known { // it may not know yet that it has been put out
			return nil
		}
		return errPacket
	}
	s := c.sockets[i]
	switch p.kind {
	case kindDisconnect:
		s.leave(ReasonClientLeft)
		s.tell()
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
	if !s.welcome() {
		c.refuse(p.namespace, &ConnectError{Message: "disconnected"})
		return nil
	}
	c.sockets = append(c.sockets, s)
	c.known = true
	c.joined.Store(true)
	c.stopTimer()
	return nil
}

// stopTimer lets go of the timer, which would hold on to the client.
func (c *client) stopTimer() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// ask lets the application decide.
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

// refuse tells the client a ConnectError's message. Of other errors, which were
// not written for strangers, it hears only that there was one.
func (c *client) refuse(namespace string, err error) {
	var said *ConnectError
	if !errors.As(err, &said) {
		c.server.log.Warn("socket connection refused", "namespace", namespace, "err", err)
		said = &ConnectError{Message: "connection refused"}
	}
	c.session.Send(encodeObject(namespace, kindConnectError, said))
}

// Closed is the session's last word.
func (c *client) Closed(reason engine.Reason) {
	c.stopTimer()
	c.session.Free(c.held)
	c.partial, c.attachments, c.held = nil, nil, 0
	for _, s := range slices.Clone(c.sockets) {
		s.leave(reason)
		s.tell()
	}
}
