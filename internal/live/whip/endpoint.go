package whip

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip/playout"
	"github.com/athir-radio/athir/internal/live/whip/sdp"
	"github.com/athir-radio/athir/internal/station"
)

const (
	sdpType  = "application/sdp"
	fragType = "application/trickle-ice-sdpfrag"
	// bodyWait is for how long a body may take to come.
	bodyWait = 10 * time.Second
	// admitWait bounds the question to the control plane, negotiateWait the answer's making.
	admitWait, negotiateWait = 6 * time.Second, 5 * time.Second
	// mostToken bounds a key, in bytes.
	mostToken = 512
)

// endpoint is the WHIP endpoint (RFC 9725, sections 4.1 and 4.2).
func (s *Server) endpoint(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		s.publish(w, r)
	case http.MethodOptions:
		w.Header().Set("Accept-Post", sdpType)
		w.Header().Set("Allow", "OPTIONS, GET, HEAD, POST")
		// Minting credentials at each preflight of a browser would be for nothing (4.6).
		preflight := r.Header.Get("Access-Control-Request-Method") != ""
		if !preflight || strings.Contains(strings.ToLower(r.Header.Get("Access-Control-Request-Headers")), "link") {
			s.links(w.Header(), r)
		}
		w.WriteHeader(http.StatusOK)
	case http.MethodGet, http.MethodHead:
		w.WriteHeader(http.StatusNoContent) // it has no representation (4.1)
	default:
		notAllowed(w, "OPTIONS, GET, HEAD, POST")
	}
}

// within takes one of what a key may do in a time; false: it was refused.
func within(w http.ResponseWriter, limits *client.Limits, key, detail string) bool {
	var limit *client.LimitError
	if err := limits.Take(key); errors.As(err, &limit) {
		retryAfter(w, limit.RetryAfter)
		refuse(w, http.StatusTooManyRequests, problem{Detail: detail})
		return false
	}
	return true
}

// publisherKey is the key that a request brings, in its two halves; false: it was refused.
func publisherKey(w http.ResponseWriter, r *http.Request) (user, secret string, ok bool) {
	token := bearer(r)
	user, secret, ok = strings.Cut(token, ".")
	if !ok || user == "" || secret == "" || len(token) > mostToken {
		unauthorized(w, token != "", problem{Detail: "a publisher's key is needed, as a bearer token", Code: "unknown"})
		return "", "", false
	}
	return user, secret, true
}

// publish begins a session. What costs least is looked at first: a stranger meets the
// limit of addresses before anything of theirs is read, and the WebRTC stack last.
func (s *Server) publish(w http.ResponseWriter, r *http.Request) {
	address := client.Address(r)
	if !within(w, s.offers, address, "too many offers from your address") {
		return
	}
	user, secret, ok := publisherKey(w, r)
	if !ok {
		return
	}
	if !isType(r, sdpType) {
		w.Header().Set("Accept-Post", sdpType)
		refuse(w, http.StatusUnsupportedMediaType, problem{Detail: "the offer must be " + sdpType})
		return
	}
	body, ok := read(w, r, sdp.MostOffer)
	if !ok {
		return
	}
	offer, err := sdp.ReadOffer(body)
	if err != nil {
		unfit(w, err)
		return
	}
	who := live.Credentials{Protocol: live.WHIP, User: user, Secret: secret, Title: words(r.URL.Query().Get("title")), Address: address}
	admission, ok := s.admit(w, r, who)
	if !ok {
		return
	}
	said := r.URL.Query()
	one, err := s.begin(admission, who, offer, user+"."+secret, words(said.Get("name")), said.Get("push") == "1")
	if err != nil {
		s.full(w, err)
		return
	}
	s.created(w, r, one)
}

// read reads a body, or refuses it.
func read(w http.ResponseWriter, r *http.Request, most int64) ([]byte, bool) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyWait)) // not on every kind of connection
	defer func() { _ = rc.SetReadDeadline(time.Time{}) }()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, problem{Detail: "the body is too long"})
		return nil, false
	case err != nil:
		refuse(w, http.StatusBadRequest, problem{Detail: "the body did not come whole"})
		return nil, false
	}
	return body, true
}

// unfit answers a description that is not taken.
func unfit(w http.ResponseWriter, err error) {
	if errors.Is(err, sdp.ErrUnfit) {
		refuse(w, http.StatusUnprocessableEntity, problem{Detail: err.Error()})
		return
	}
	refuse(w, http.StatusBadRequest, problem{Detail: err.Error()})
}

// admit asks the control plane, or refuses.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, who live.Credentials) (live.Admission, bool) {
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	default:
		refuse(w, http.StatusServiceUnavailable, problem{Detail: "too many publishers at once"})
		return live.Admission{}, false
	}
	ctx, cancel := context.WithTimeout(r.Context(), admitWait)
	defer cancel()
	a, err := s.opt.Control.Admit(ctx, who)
	if err != nil {
		s.log.Warn("cannot ask the control plane whether a publisher may go live", "error", err)
		refuse(w, http.StatusServiceUnavailable, problem{Detail: "the station cannot check keys just now"})
		return a, false
	}
	if a.Allowed {
		s.known.admitted(who.User + "." + who.Secret)
		return a, true
	}
	s.known.refused(who.User + "." + who.Secret)
	p := problem{Detail: a.Detail, Code: a.Code, RetryAt: a.RetryAt}
	switch a.Code {
	case "unknown", "":
		unauthorized(w, true, p)
	case "limited":
		// By the control plane's clock alone: ours may be another.
		if wait := time.Duration(a.RetryAt-a.Now) * time.Millisecond; a.Now > 0 && wait > 0 {
			retryAfter(w, wait)
		}
		refuse(w, http.StatusTooManyRequests, p)
	default: // revoked, early, late
		refuse(w, http.StatusForbidden, p)
	}
	return a, false
}

// begin makes a session and starts it.
func (s *Server) begin(a live.Admission, who live.Credentials, offer sdp.Offer, token, name string, push bool) (*session, error) {
	one := &session{
		id: random(8), url: random(24), publisher: cmp.Or(a.Publisher.ID, who.User), name: cmp.Or(name, words(a.Publisher.Name)),
		title: cmp.Or(who.Title, words(a.Publisher.Show)), push: push, address: who.Address, token: sha256.Sum256([]byte(token)),
		since: time.Now(), server: s, patches: patchLimits(), offer: offer, nack: offer.Nack(), relays: offer.Relays,
		etag: newETag(), places: map[string]struct{}{}, player: playout.New(s.opt.Jitter), done: make(chan struct{}),
	}
	one.log = s.log.With("session", one.id, "publisher", one.publisher)
	pc, err := s.media.peer(one.bring, one.from)
	if err != nil {
		return nil, err
	}
	one.pc = pc
	one.listen()
	if err := s.enter(one); err != nil {
		one.end(endedServer, err.Error())
		return nil, errors.Join(err, pc.GracefulClose())
	}
	go one.run()
	return one, nil
}

// full answers what stands in the way of a session.
func (s *Server) full(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errBusy), errors.Is(err, errStopping):
		refuse(w, http.StatusServiceUnavailable, problem{Detail: err.Error()})
	case errors.Is(err, errAddress), errors.Is(err, errPublisher):
		refuse(w, http.StatusTooManyRequests, problem{Detail: err.Error()})
	default:
		s.log.Error("cannot begin a publisher's session", "error", err)
		refuse(w, http.StatusInternalServerError, problem{Detail: "something went wrong on our side"})
	}
}

// created answers 201 with the session's URL, its entity tag and its answer.
func (s *Server) created(w http.ResponseWriter, r *http.Request, one *session) {
	ctx, cancel := context.WithTimeout(r.Context(), negotiateWait)
	defer cancel()
	text, err := one.first(ctx)
	if err != nil {
		one.end(endedServer, "the offer could not be answered")
		if errors.Is(err, sdp.ErrUnfit) {
			unfit(w, err)
			return
		}
		s.log.Warn("cannot answer an offer", "error", station.Reason(err))
		refuse(w, http.StatusServiceUnavailable, problem{Detail: "the offer could not be answered"})
		return
	}
	one.log.Info("publisher connects", "address", one.address, "name", one.name)
	h := w.Header()
	s.links(h, r)
	h.Set("Location", "/whip/"+one.url)
	h.Set("ETag", one.etag)
	h.Set("Accept-Patch", fragType)
	h.Set("Content-Type", sdpType)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, text)
}
