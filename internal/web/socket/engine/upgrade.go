package engine

import (
	"net"
	"net/http"
	"time"

	"github.com/gobwas/ws"
)

// The way from polling to WebSocket, as the client drives it:
//
//	client: WebSocket with the session's sid
//	client: "2probe"     server: "3probe"; from here on polls get "6" only
//	client: (its poll has ended) "5"
//	server: the WebSocket carries the session; what was queued goes out over it
//
// A probe that does not finish within UpgradeTimeout changes nothing.

// serveProbe takes a WebSocket that wants to carry a polling session.
func (s *Session) serveProbe(w http.ResponseWriter, r *http.Request) *refusal {
	if fault := checkUpgrade(r); fault != nil {
		return fault
	}
	if !s.claimProbe() {
		// Refused over the WebSocket, as the protocol's reference server does: its
		// clients handle an HTTP error here badly.
		if conn, _, err := s.server.hijack(w, r); err == nil {
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = conn.Write(closeFrame(ws.StatusPolicyViolation).frame)
			_ = conn.Close()
		}
		return nil
	}
	conn, early, err := s.server.hijack(w, r)
	if err != nil {
		s.dropProbe(nil)
		s.server.work.Done()
		return nil
	}
	s.mu.Lock()
	over := s.state != open
	s.probe = conn
	s.mu.Unlock()
	if over {
		s.dropProbe(conn)
		s.server.work.Done()
		return nil
	}
	go s.readProbe(conn, s.newWire(conn, early))
	return nil
}

// claimProbe allows one probe at a time, and counts it in the server's work.
func (s *Session) claimProbe() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != open || s.websocket || s.probing != nil {
		return false
	}
	s.probing = make(chan struct{})
	s.server.work.Add(1)
	return true
}

// dropProbe ends a failed probe; polling goes on.
func (s *Session) dropProbe(conn net.Conn) {
	s.mu.Lock()
	s.settleProbe()
	s.wake()
	s.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
}

// settleProbe marks the probe as finished; mu is held.
func (s *Session) settleProbe() {
	close(s.probing)
	s.probing, s.upgrading, s.probe = nil, false, nil
}

// readProbe carries out the upgrade; then it becomes the session's reader.
func (s *Session) readProbe(conn net.Conn, w *wire) {
	if !s.passProbe(conn, w) {
		s.dropProbe(conn)
		s.server.work.Done()
		return
	}
	s.read(w)
}

func (s *Session) passProbe(conn net.Conn, w *wire) bool {
	frames := 0
	w.allowed = func() bool { frames++; return frames <= 16 } // the session's bucket belongs to the goroutine that reads its polls
	w.control = func(op ws.OpCode, payload []byte) error {
		if op == ws.OpClose {
			return errOver
		}
		if op == ws.OpPing {
			_, err := conn.Write(framed(ws.OpPong, "", payload).frame)
			return err
		}
		return nil
	}
	w.limit = 64 // both packets are short
	_ = conn.SetDeadline(time.Now().Add(s.server.opts.UpgradeTimeout))
	if data, isBinary, err := w.message(); err != nil || isBinary || string(data) != "2probe" {
		return false
	}
	s.mu.Lock()
	s.upgrading = true
	s.wake()
	s.mu.Unlock()
	if _, err := conn.Write(s.server.probed.frame); err != nil {
		return false
	}
	if data, isBinary, err := w.message(); err != nil || isBinary || string(data) != "5" {
		return false
	}
	w.limit = s.server.opts.MaxPayload
	_ = conn.SetDeadline(time.Time{})
	return s.switchTo(conn)
}

// switchTo lets the probe's connection carry the session.
func (s *Session) switchTo(conn net.Conn) bool {
	s.mu.Lock()
	if s.state != open {
		s.mu.Unlock()
		return false
	}
	s.attach(conn)
	s.settleProbe()
	schedule := s.wantsWriter()
	s.wake() // a poll that is open all the same is answered
	s.mu.Unlock()
	s.server.stats.upgraded.Add(1)
	if schedule {
		s.server.ready.push(s, s)
	}
	return true
}
