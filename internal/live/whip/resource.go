package whip

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/athir-radio/athir/internal/live/whip/sdp"
)

// find returns the session of a request; nil where it was refused. Its URL is a secret,
// so a request need not carry the token again; one that carries another is refused.
func (s *Server) find(w http.ResponseWriter, r *http.Request, alsoEnded bool) *session {
	one := s.at(r.PathValue("session"))
	if one == nil || one.isOver() && !alsoEnded {
		noSession(w)
		return nil
	}
	if r.Header.Get("Authorization") != "" {
		sum := sha256.Sum256([]byte(bearer(r)))
		if subtle.ConstantTimeCompare(sum[:], one.token[:]) != 1 {
			unauthorized(w, true, problem{Detail: "this session is another publisher's"})
			return nil
		}
	}
	if !within(w, one.patches, "session", "too many requests for one session") {
		return nil
	}
	return one
}

func noSession(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, problem{Detail: "there is no such session, or it ended"})
}

// resource is the WHIP session (RFC 9725, sections 4.2 and 4.3).
func (s *Server) resource(w http.ResponseWriter, r *http.Request) {
	const allow = "OPTIONS, GET, HEAD, PATCH, DELETE"
	switch r.Method {
	case http.MethodOptions:
		w.Header().Set("Accept-Post", sdpType)
		w.Header().Set("Accept-Patch", fragType)
		w.Header().Set("Allow", allow)
		w.WriteHeader(http.StatusOK)
	case http.MethodGet, http.MethodHead:
		if s.find(w, r, false) != nil {
			w.WriteHeader(http.StatusNoContent) // it has no representation (4.1)
		}
	case http.MethodPatch:
		if one := s.find(w, r, false); one != nil {
			s.patch(w, r, one)
		}
	case http.MethodDelete:
		// An entity tag is ignored here (4.3.1).
		one := s.find(w, r, true)
		switch {
		case one == nil:
			return
		case !one.isOver():
			one.end("", endedByPublisher)
		case one.meant():
			s.seated("")
		default:
			noSession(w)
			return
		}
		w.WriteHeader(http.StatusOK)
	default:
		if s.find(w, r, false) != nil {
			notAllowed(w, allow)
		}
	}
}

// patch takes candidates, or begins a new ICE session (4.3).
func (s *Server) patch(w http.ResponseWriter, r *http.Request, one *session) {
	if !isType(r, fragType) {
		w.Header().Set("Accept-Patch", fragType)
		refuse(w, http.StatusUnsupportedMediaType, problem{Detail: "the body must be " + fragType})
		return
	}
	match := r.Header.Values("If-Match")
	if len(match) == 0 {
		refuse(w, http.StatusPreconditionRequired, problem{Detail: `If-Match is needed: the ETag of the ICE session, or "*" for an ICE restart`})
		return
	}
	body, ok := read(w, r, sdp.MostFragment)
	if !ok {
		return
	}
	f, err := sdp.ReadFragment(body)
	if err != nil {
		unfit(w, err)
		return
	}
	one.mu.Lock()
	etag := one.etag
	one.mu.Unlock()
	if !matches(match, etag) {
		refuse(w, http.StatusPreconditionFailed, problem{Detail: "that ICE session is over: restart ICE with If-Match: *"})
		return
	}
	who, mid := one.credentials()
	switch {
	case f.Mid != "" && f.Mid != mid:
		refuse(w, http.StatusUnprocessableEntity, problem{Detail: "no such mid was offered"})
	case f.Credentials == (sdp.Credentials{}) || f.Credentials == who:
		one.mu.Lock()
		one.relays = append(one.relays, f.Relays...)
		one.relays = one.relays[max(0, len(one.relays)-mostRelays):]
		one.mu.Unlock()
		w.WriteHeader(http.StatusNoContent) // without an ETag (4.3.2)
	default:
		s.restart(w, r, one, f)
	}
}

// mostRelays bounds what is remembered of a session's candidates.
const mostRelays = 64

// restart answers an ICE restart; one that fails leaves the session as it is (4.3.3).
func (s *Server) restart(w http.ResponseWriter, r *http.Request, one *session, f sdp.Fragment) {
	ctx, cancel := context.WithTimeout(r.Context(), negotiateWait)
	defer cancel()
	text, etag, err := one.restart(ctx, f.Credentials, f.Relays)
	if err != nil {
		one.log.Warn("cannot restart ICE", "error", err)
		refuse(w, http.StatusServiceUnavailable, problem{Detail: "ICE could not be restarted; try again"})
		return
	}
	one.log.Info("publisher restarted ICE")
	h := w.Header()
	h.Set("ETag", etag)
	h.Set("Content-Type", fragType)
	h.Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, text)
}

// matches compares strongly (RFC 9110, section 13.1.1): a weak tag matches nothing.
func matches(lines []string, etag string) bool {
	for one := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		if one = strings.TrimSpace(one); one == "*" || one == `"*"` || one == etag {
			return true // the RFC's own example quotes the star
		}
	}
	return false
}

// microphone is what the publisher's page says of it.
func (s *Server) microphone(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodOptions:
		w.Header().Set("Allow", "OPTIONS, POST")
		w.WriteHeader(http.StatusOK)
		return
	case http.MethodPost:
	default:
		notAllowed(w, "OPTIONS, POST")
		return
	}
	one := s.find(w, r, false)
	if one == nil {
		return
	}
	if !isType(r, "application/json") {
		refuse(w, http.StatusUnsupportedMediaType, problem{Detail: "the body must be application/json"})
		return
	}
	body, ok := read(w, r, 4096)
	if !ok {
		return
	}
	var state struct {
		Muted *bool `json:"muted"`
	}
	if err := json.Unmarshal(body, &state); err != nil {
		refuse(w, http.StatusBadRequest, problem{Detail: "the body is not JSON"})
		return
	}
	if state.Muted == nil {
		refuse(w, http.StatusUnprocessableEntity, problem{Detail: `"muted" must be true or false`})
		return
	}
	one.mu.Lock()
	changed := one.muted != *state.Muted
	one.muted = *state.Muted
	one.mu.Unlock()
	if changed && s.feed.holder() == one.id {
		s.muting.changes()
	}
	w.WriteHeader(http.StatusNoContent)
}

// facts follows a session. One that ended a short while ago says why.
func (s *Server) facts(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodOptions:
		w.Header().Set("Allow", "OPTIONS, GET")
		w.WriteHeader(http.StatusOK)
		return
	case http.MethodGet:
	default:
		notAllowed(w, "OPTIONS, GET")
		return
	}
	if one := s.find(w, r, true); one != nil {
		s.serveFacts(w, r, one)
	}
}

// first answers the offer that the session began with.
func (s *session) first(ctx context.Context) (string, error) {
	s.negotiation.Lock()
	defer s.negotiation.Unlock()
	answer, err := s.negotiate(ctx, s.offer)
	switch {
	case err != nil && (ctx.Err() != nil || s.isOver()):
		return "", err
	case err != nil:
		return "", fmt.Errorf("%w: %w", sdp.ErrUnfit, err)
	}
	return sdp.Answer(s.offer, answer)
}
