package engine

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// refusal is an error answer, in the form the protocol's own server gives.
type refusal struct {
	status  int
	Code    int    `json:"code"`
	Message string `json:"message"`
}

var (
	refuseTransport = refusal{http.StatusBadRequest, 0, "Transport unknown"}
	refuseSession   = refusal{http.StatusBadRequest, 1, "Session ID unknown"}
	refuseMethod    = refusal{http.StatusBadRequest, 2, "Bad handshake method"}
	refuseRequest   = refusal{http.StatusBadRequest, 3, "Bad request"}
	refuseOrigin    = refusal{http.StatusForbidden, 4, "Forbidden"}
	refuseVersion   = refusal{http.StatusBadRequest, 5, "Unsupported protocol version"}
	refuseTooBig    = refusal{http.StatusRequestEntityTooLarge, 3, "Payload too large"}
	refuseRate      = refusal{http.StatusTooManyRequests, 3, "Too many packets"}
	refuseClient    = refusal{http.StatusTooManyRequests, 4, "Too many connections"}
	refuseBusy      = refusal{http.StatusServiceUnavailable, 3, "Too much data is in transit"}
	refuseFull      = refusal{http.StatusServiceUnavailable, 4, "Server full"}
	refuseStopped   = refusal{http.StatusServiceUnavailable, 4, "Server not running"}
)

func (f *refusal) write(w http.ResponseWriter) {
	body, _ := json.Marshal(f)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(f.status)
	_, _ = w.Write(body)
}

// ServeHTTP serves handshakes, polls, polling bodies and upgrades.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.origin(w, r) {
		refuseOrigin.write(w)
		return
	}
	if r.Method == http.MethodOptions {
		preflight(w, r)
		return
	}
	if fault := s.route(w, r); fault != nil {
		s.discard(w, r)
		fault.write(w)
	}
}

// discard reads the rest of a refused body, up to the longest that is allowed: a
// connection closed with bytes unread is reset, and the client loses the answer.
func (s *Server) discard(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.opts.CloseTimeout))
	_, _ = io.CopyN(io.Discard, r.Body, int64(s.opts.MaxPayload))
}

// route answers the request, or returns a refusal.
func (s *Server) route(w http.ResponseWriter, r *http.Request) *refusal {
	query := r.URL.Query()
	transport, id := query.Get("transport"), query.Get("sid")
	if transport != "polling" && transport != "websocket" {
		return &refuseTransport
	}
	if query.Get("EIO") != "4" {
		return &refuseVersion
	}
	websocket := transport == "websocket"
	if websocket != isUpgrade(r) {
		return &refuseRequest
	}
	if id == "" {
		if r.Method != http.MethodGet {
			return &refuseMethod
		}
		if websocket {
			return s.openWebSocket(w, r)
		}
		return s.openPolling(w, r)
	}
	session, fault := s.find(id)
	switch {
	case fault != nil:
		return fault
	case websocket:
		return session.serveProbe(w, r)
	case r.Method == http.MethodGet:
		return session.servePoll(w, r)
	case r.Method == http.MethodPost:
		return session.servePost(w, r)
	}
	return &refuseRequest
}

// origin reports whether the request's origin is allowed, and sets the CORS headers.
func (s *Server) origin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	w.Header().Add("Vary", "Origin")
	if from, err := url.Parse(origin); err == nil && from.Host != "" && strings.EqualFold(from.Host, r.Host) {
		return true
	}
	if !s.opts.AllowOrigin(origin) {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Set("Access-Control-Allow-Credentials", "true")
	return true
}

// preflight answers a CORS preflight from an allowed origin.
func preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// isUpgrade reports whether the request asks for a WebSocket.
func isUpgrade(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// admit makes a session for the request, registers it, queues its handshake and
// attaches its receiver.
func (s *Server) admit(r *http.Request, websocket bool) (*Session, *refusal) {
	session := newSession(s, s.opts.ClientKey(r))
	session.recv.Lock() // the receiver is called only after open
	defer session.recv.Unlock()
	if fault := s.enter(session); fault != nil {
		session.timer.Stop()
		return nil, fault
	}
	s.stats.opened.Add(1)
	s.rush.Arrived()
	s.stats.pollers.Add(1)
	if websocket {
		session.Send(session.handshake())
	} else {
		session.Send(session.handshake("websocket"))
	}
	session.guard(func() { session.receiver = s.open(session, r) })
	return session, nil
}
