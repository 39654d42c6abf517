package engine

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// openPolling answers a handshake over polling.
func (s *Server) openPolling(w http.ResponseWriter, r *http.Request) *refusal {
	session, fault := s.admit(r, false)
	if fault != nil {
		return fault
	}
	return session.servePoll(w, r)
}

// servePoll waits for something to send. Heartbeats bound the wait.
func (s *Session) servePoll(w http.ResponseWriter, r *http.Request) *refusal {
	s.awaitProbe(r)
	wake := s.openPoll()
	if wake == nil {
		return &refuseRequest
	}
	defer s.server.work.Done()
	control := http.NewResponseController(w)
	// The server's own deadlines would cut the wait short.
	_, _ = control.SetWriteDeadline(time.Time{}), control.SetReadDeadline(time.Time{})
	for {
		packets, last, some := s.collect()
		if some {
			err := s.answer(w, control, packets)
			s.answered(packets)
			if err != nil {
				s.end(farewell{reason: ReasonTransportClose, now: true})
			}
			if last {
				s.vanish()
			}
			return nil
		}
		select {
		case <-wake:
		case <-r.Context().Done():
			s.leavePoll(wake)
			return nil
		}
	}
}

// awaitProbe holds back a poll that comes while a probe is under way, because the
// upgrade may make it needless. Once the probe has been answered, a poll gets only
// a noop, and the client may poll again at once. The wait is bounded: some clients
// and proxies never finish the upgrade.
func (s *Session) awaitProbe(r *http.Request) {
	s.mu.Lock()
	probing, wait := s.probing, 20*time.Millisecond
	if s.upgrading {
		wait = 100 * time.Millisecond
	} else if len(s.queue) > 0 {
		wait = 0
	}
	s.mu.Unlock()
	if probing == nil || wait == 0 {
		return
	}
	select {
	case <-probing:
	case <-time.After(wait):
	case <-r.Context().Done():
	case <-s.done:
	}
}

// openPoll makes this the session's open poll, or returns nil. A second poll at the
// same time is a fault of the client, or another client's: it ends the session.
func (s *Session) openPoll() chan struct{} {
	s.mu.Lock()
	if s.state == gone || s.websocket || s.state == ending && (s.last == nil || s.poll != nil) {
		s.mu.Unlock()
		return nil
	}
	if s.pinged && s.server.clock() > s.due { // the timer is about to end the session
		s.mu.Unlock()
		s.End(ReasonPingTimeout)
		return nil
	}
	if s.poll != nil {
		s.mu.Unlock()
		s.End(ReasonParseError)
		return nil
	}
	wake := make(chan struct{}, 1)
	s.poll = wake
	// Safe while Run waits for work: the session counts in it until it is gone.
	s.server.work.Add(1)
	s.mu.Unlock()
	return wake
}

// collect takes the packets that answer the open poll. With last, the session is
// over; without some, the poll has to wait.
func (s *Session) collect() (packets []*Packet, last, some bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state == gone || s.state == ending && s.last == nil:
		packets, last = []*Packet{s.server.noop}, true
	case s.state == ending && len(s.queue) > 0:
		// The farewell waits for the next poll: a client drops the messages of an
		// answer that also closes the session.
		packets, s.queue = s.queue, nil
		s.charge(0)
		s.timer.Reset(s.server.opts.CloseTimeout)
	case s.state == ending:
		packets, last = []*Packet{s.last}, true
	case s.websocket || s.upgrading:
		packets = []*Packet{s.server.noop} // the queue goes over the WebSocket
	case len(s.queue) > 0 && !s.answering:
		packets = s.queue
		s.queue, s.pending = nil, 0
		s.answering = true
		s.taken(packets)
	default:
		return nil, false, false
	}
	s.poll = nil
	return packets, last, true
}

// answered notes that an answer was written, or could not be. Until then its packets count
// as waiting, and a further poll waits: whoever reads no answer gets no second one.
func (s *Session) answered(packets []*Packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.answering {
		return
	}
	s.answering = false
	s.charge(max(0, s.own-ownOf(packets)))
	s.wake()
}

// leavePoll ends the session whose client hung up while it polled.
func (s *Session) leavePoll(wake chan struct{}) {
	s.mu.Lock()
	if s.poll == wake {
		s.poll = nil
	}
	over := s.state == ending
	s.mu.Unlock()
	s.end(farewell{reason: ReasonTransportClose, now: true})
	if over {
		s.vanish()
	}
}

// answer writes the poll's answer under a deadline, so that a client that does not
// read it cannot block for long.
func (s *Session) answer(w http.ResponseWriter, control *http.ResponseController, packets []*Packet) error {
	body := encodePayload(packets)
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=UTF-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_ = control.SetWriteDeadline(time.Now().Add(s.server.opts.PingTimeout))
	if _, err := w.Write(body); err != nil { //nolint:gosec // plain text, and said to be
		return err
	}
	s.server.stats.packetsOut.Add(uint64(len(packets)))
	s.server.stats.bytesOut.Add(uint64(len(body)))
	if err := control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return control.SetWriteDeadline(time.Time{}) // the connection may carry other requests
}

// servePost receives a polling body.
func (s *Session) servePost(w http.ResponseWriter, r *http.Request) *refusal {
	s.mu.Lock()
	if s.state == ending && s.last != nil { // both ends are closing
		s.mu.Unlock()
		ok(w)
		return nil
	}
	if s.state != open || s.websocket {
		s.mu.Unlock()
		return &refuseRequest
	}
	if s.posting { // two bodies at a time would have no order
		s.mu.Unlock()
		s.End(ReasonParseError)
		return &refuseRequest
	}
	s.posting = true
	s.server.work.Add(1)
	s.mu.Unlock()
	defer s.server.work.Done()
	defer func() {
		s.mu.Lock()
		s.posting = false
		s.mu.Unlock()
	}()

	space := room{session: s}
	defer space.free()
	body, fault := s.readBody(w, r, &space)
	if fault != nil {
		return fault
	}
	if fault := s.takePayload(body); fault != nil {
		return fault
	}
	ok(w)
	return nil
}

func ok(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=UTF-8")
	h.Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, "ok")
}

// readBody reads a posted body, bounded in bytes and time.
func (s *Session) readBody(w http.ResponseWriter, r *http.Request, space *room) ([]byte, *refusal) {
	limit := s.server.opts.MaxPayload
	if r.ContentLength > int64(limit) {
		s.End(ReasonTooBig)
		return nil, &refuseTooBig
	}
	// The HTTP server's deadlines are too short for a large body over a slow line:
	// the answer, two bytes, is written when they may have passed.
	control := http.NewResponseController(w)
	_, _ = control.SetReadDeadline(time.Now().Add(s.server.opts.PingTimeout)), control.SetWriteDeadline(time.Time{})
	body, roomy, err := space.readAll(http.MaxBytesReader(w, r.Body, int64(limit)+1), r.ContentLength, limit)
	switch {
	case err != nil:
		s.End(ReasonTransportError)
		return nil, &refuseRequest
	case !roomy:
		s.End(ReasonBusy)
		return nil, &refuseBusy
	case len(body) > limit:
		s.End(ReasonTooBig)
		return nil, &refuseTooBig
	}
	s.server.stats.bytesIn.Add(uint64(len(body)))
	return body, nil
}

func (s *Session) takePayload(body []byte) *refusal {
	rated := true
	err := decodePayload(body, s.server.opts.MaxPackets, func(packet []byte, binary bool) bool {
		rated = s.allowed()
		return rated && s.receive(packet, binary)
	})
	switch {
	case errors.Is(err, errTooMany):
		s.End(ReasonTooBig)
		return &refuseTooBig
	case err != nil:
		s.End(ReasonParseError)
		return &refuseRequest
	case !rated:
		return &refuseRate
	}
	return nil
}
