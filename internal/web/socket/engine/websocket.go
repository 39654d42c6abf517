package engine

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"unicode/utf8"

	"github.com/gobwas/ws"
)

// closeFrame closes a WebSocket.
func closeFrame(status ws.StatusCode) *Packet {
	return framed(ws.OpClose, "", binary.BigEndian.AppendUint16(nil, uint16(status)))
}

// wireError is a breach of the WebSocket protocol, or of a limit. The session ends
// with reason and status.
type wireError struct {
	reason Reason
	status ws.StatusCode
	text   string
}

func (e *wireError) Error() string { return e.text }

// wire reads messages from a WebSocket. A small message costs one read; a large one
// gets memory as it arrives, not as it is announced.
type wire struct {
	conn    net.Conn
	limit   int
	room    room                                     // of the present message
	control func(op ws.OpCode, payload []byte) error // called for each control frame; an error ends the reading
	allowed func() bool                              // called for each frame; false ends the reading

	r, w   int
	header [ws.MaxHeaderSize]byte
	buffer [224]byte // held by every session at rest, hence small
}

func (s *Session) newWire(conn net.Conn, early []byte) *wire {
	w := &wire{conn: conn, limit: s.server.opts.MaxPayload, room: room{session: s}}
	if len(early) > 0 {
		w.conn = &prefixed{conn, early}
	}
	return w
}

// prefixed is a connection whose first bytes have been read already.
type prefixed struct {
	net.Conn
	early []byte
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.early) == 0 {
		return p.Conn.Read(b)
	}
	n := copy(b, p.early)
	if p.early = p.early[n:]; len(p.early) == 0 {
		p.early = nil
	}
	return n, nil
}

// Read reads from the buffer; large reads bypass it.
func (w *wire) Read(p []byte) (int, error) {
	if w.r == w.w {
		if len(p) >= len(w.buffer) {
			return w.conn.Read(p)
		}
		n, err := w.conn.Read(w.buffer[:])
		if n == 0 {
			return 0, err
		}
		w.r, w.w = 0, n
	}
	n := copy(p, w.buffer[w.r:w.w])
	w.r += n
	return n, nil
}

// message reads the next message, and the control frames between its fragments.
func (w *wire) message() (data []byte, isBinary bool, err error) {
	state := ws.StateServerSide
	for {
		h, err := ws.ReadHeaderBuffer(w, w.header[:])
		if err != nil {
			return nil, false, err
		}
		if err := ws.CheckHeader(h, state); err != nil {
			return nil, false, &wireError{ReasonTransportError, ws.StatusProtocolError, err.Error()}
		}
		if !w.allowed() {
			return nil, false, errOver
		}
		if h.OpCode.IsControl() {
			if err := w.controlFrame(h); err != nil {
				return nil, false, err
			}
			continue
		}
		if h.Length > int64(w.limit-len(data)) {
			return nil, false, &wireError{ReasonTooBig, ws.StatusMessageTooBig, "message too big"}
		}
		if h.OpCode != ws.OpContinuation {
			isBinary = h.OpCode == ws.OpBinary
			state = state.Set(ws.StateFragmented)
		}
		if data, err = w.payload(data, h); err != nil {
			return nil, false, err
		}
		if h.Fin {
			if !isBinary && !utf8.Valid(data) {
				return nil, false, &wireError{ReasonParseError, ws.StatusInvalidFramePayloadData, "invalid UTF-8"}
			}
			return data, isBinary, nil
		}
	}
}

// payload appends a frame's payload to data, unmasked.
func (w *wire) payload(data []byte, h ws.Header) ([]byte, error) {
	begin := len(data)
	for left := int(h.Length); left > 0; {
		var roomy bool
		if data, roomy = w.room.grow(data, left, w.limit); !roomy {
			return nil, &wireError{ReasonBusy, ReasonBusy.status(), "too much data is in transit"}
		}
		at := len(data)
		n := min(left, cap(data)-at)
		data = data[:at+n]
		if _, err := io.ReadFull(w, data[at:]); err != nil {
			return nil, err
		}
		left -= n
	}
	ws.Cipher(data[begin:], h.Mask, 0)
	return data, nil
}

func (w *wire) controlFrame(h ws.Header) error {
	var room [ws.MaxControlFramePayloadSize]byte
	payload := room[:h.Length]
	if _, err := io.ReadFull(w, payload); err != nil {
		return err
	}
	ws.Cipher(payload, h.Mask, 0)
	return w.control(h.OpCode, payload)
}

// errOver ends the reading: the session has ended, or its client closed it.
var errOver = errors.New("over")

// openWebSocket answers a handshake over WebSocket.
func (s *Server) openWebSocket(w http.ResponseWriter, r *http.Request) *refusal {
	if fault := checkUpgrade(r); fault != nil {
		return fault
	}
	session, fault := s.admit(r, true)
	if fault != nil {
		return fault
	}
	conn, early, err := s.hijack(w, r)
	if err != nil {
		session.End(ReasonTransportError)
		return nil
	}
	session.mu.Lock()
	over := session.state != open
	if !over {
		session.attach(conn)
		s.work.Add(1)
	}
	schedule := session.wantsWriter()
	session.mu.Unlock()
	if over {
		_ = conn.Close()
		return nil
	}
	if schedule {
		s.ready.push(session, session)
	}
	// In a goroutine, so that net/http's buffers are freed when this returns.
	go session.read(session.newWire(conn, early))
	return nil
}

// attach lets conn carry the session; mu is held.
func (s *Session) attach(conn net.Conn) {
	s.websocket, s.conn = true, conn
	if c, ok := conn.(syscall.Conn); ok {
		s.raw, _ = c.SyscallConn()
	}
	s.server.stats.pollers.Add(-1)
	s.server.stats.websockets.Add(1)
}

// checkUpgrade refuses a malformed WebSocket handshake, while an HTTP answer is
// still possible.
func checkUpgrade(r *http.Request) *refusal {
	if r.Method != http.MethodGet || r.ProtoMajor != 1 ||
		r.Header.Get("Sec-Websocket-Version") != "13" || r.Header.Get("Sec-Websocket-Key") == "" {
		return &refuseRequest
	}
	return nil
}

// hijack takes the connection over, and returns the bytes that were read already.
func (s *Server) hijack(w http.ResponseWriter, r *http.Request) (net.Conn, []byte, error) {
	upgrader := ws.HTTPUpgrader{Timeout: s.opts.PingTimeout}
	conn, buffered, _, err := upgrader.Upgrade(r, w)
	if err != nil {
		if conn != nil {
			_ = conn.Close()
		}
		return nil, nil, err
	}
	early := make([]byte, buffered.Reader.Buffered())
	_, _ = io.ReadFull(buffered.Reader, early)
	return conn, early, nil
}

// read receives messages until the connection ends, which ends the session.
func (s *Session) read(w *wire) {
	defer s.server.work.Done()
	defer s.vanish()
	w.control, w.allowed = s.control, s.allowed
	for {
		data, isBinary, err := w.message()
		if err != nil {
			s.readEnded(err, w)
			return
		}
		s.server.stats.bytesIn.Add(uint64(len(data)))
		more := s.receive(data, isBinary)
		w.room.free()
		if !more {
			s.await(w)
			return
		}
	}
}

// await discards what comes until the client has taken the farewell and closes too:
// closing a connection with unread bytes would lose what was sent. finish has set a
// deadline or closed the connection.
func (s *Session) await(w *wire) {
	var scrap [512]byte
	for left := 4 * s.server.opts.MaxPayload; left > 0; {
		n, err := w.conn.Read(scrap[:])
		if err != nil {
			return
		}
		left -= n
	}
}

// control answers pings and ends the session when the client closes it.
func (s *Session) control(op ws.OpCode, payload []byte) error {
	switch op {
	case ws.OpPing:
		s.Send(framed(ws.OpPong, "", payload))
	case ws.OpClose:
		s.End(ReasonTransportClose) // answers with a close frame
		return errOver
	}
	return nil
}

// readEnded ends the session for the error that ended the reading.
func (s *Session) readEnded(err error, w *wire) {
	w.room.free()
	broken := new(wireError)
	switch {
	case errors.As(err, &broken):
		s.end(farewell{reason: broken.reason, status: broken.status})
		s.await(w)
	case errors.Is(err, errOver):
		s.await(w)
	default:
		s.End(ReasonTransportClose)
	}
}

// halfClose closes the sending side, so that the client closes too.
func halfClose(conn net.Conn) {
	if c, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
}
