package ingest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/live"
)

// answer writes a whole answer, the last of its connection.
func (s *Server) answer(conn net.Conn, status int, detail string, header ...string) {
	_ = conn.SetWriteDeadline(time.Now().Add(headWait))
	text := http.StatusText(status)
	kind := "text/plain; charset=utf-8"
	if strings.HasPrefix(detail, "<?xml") {
		kind = "text/xml; charset=utf-8"
	}
	switch status {
	case http.StatusUnauthorized:
		header = append(header, `WWW-Authenticate: Basic realm="live"`)
	case http.StatusNoContent, http.StatusMethodNotAllowed:
		header = append(header, "Allow: PUT, SOURCE, GET, OPTIONS")
	case http.StatusForbidden:
		text = one(detail) // encoders show the reason phrase, and nothing else
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.0 %d %s\r\nServer: Athir\r\nConnection: close\r\n", status, text)
	for _, h := range header {
		b.WriteString(h + "\r\n")
	}
	if status != http.StatusNoContent {
		fmt.Fprintf(&b, "Content-Type: %s\r\nContent-Length: %d\r\n", kind, len(detail))
	}
	b.WriteString("\r\n" + detail)
	_, _ = io.WriteString(conn, b.String())
}

// one is text as a reason phrase: one line of what ISO 8859-1 holds.
func one(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
}

// admit asks whether somebody may send, and answers where not.
func (s *Server) admit(ctx context.Context, conn net.Conn, who live.Credentials) (a live.Admission, studio, ok bool) {
	if who.Secret == "" {
		s.answer(conn, http.StatusUnauthorized, "log in with the user and the password of your show")
		return a, false, false
	}
	// This machine has no limit: it is where a tunnel ends, and whom it brings is unknown.
	// The control plane is not asked within a turn, or one address could hold up all others;
	// how many may ask at once is bounded by its connections.
	key := client.Peer(conn.RemoteAddr())
	if s.wrong.TakeIf(key, func() bool { return false }) != nil {
		s.answer(conn, http.StatusTooManyRequests, "too many wrong passwords: wait a minute")
		return a, false, false
	}
	if who.User == "source" && s.opt.Studio != "" && same(who.Secret, s.opt.Studio) {
		return live.Admission{Allowed: true, Publisher: live.Presenter{ID: "studio"}}, true, true
	}
	a, err := s.opt.Admit(ctx, who)
	if err != nil {
		s.opt.Log.Warn("cannot ask the control plane whether an encoder may send", "mount", who.Mount, "why", err)
		s.answer(conn, http.StatusServiceUnavailable, "the station cannot tell now: try again", "Retry-After: 5")
		return a, false, false
	}
	if a.Allowed {
		return a, false, true
	}
	s.opt.Log.Info("encoder refused", "mount", who.Mount, "user", who.User, "address", who.Address, "code", a.Code)
	switch a.Code {
	case "unknown", "":
		_ = s.wrong.Take(key) // before the answer: the next try finds it
		hesitate(ctx, key)
		s.answer(conn, http.StatusUnauthorized, "user or password is wrong")
	case "limited":
		s.answer(conn, http.StatusTooManyRequests, a.Detail, "Retry-After: 60")
	default:
		s.answer(conn, http.StatusForbidden, a.Detail)
	}
	return a, false, false
}

// wrongPause is how long who comes by a tunnel waits for the answer to a wrong password.
const wrongPause = time.Second

// hesitate holds back the answer to a wrong password where no limit applies: whoever guesses
// by a tunnel has as many tries as connections each wrongPause, and whoever knows the
// password is not held up by them.
func hesitate(ctx context.Context, key string) {
	if key != "" {
		return
	}
	select {
	case <-time.After(wrongPause):
	case <-ctx.Done():
	}
}

// metadata takes the title that the encoder on a mount tells, by the same login.
func (s *Server) metadata(ctx context.Context, conn net.Conn, r *request) {
	mount := r.query.Get("mount")
	if mount == "" && r.query.Get("mode") == "" {
		s.answer(conn, http.StatusBadRequest, "ask with mode=updinfo, mount and song")
		return
	}
	if r.secret == "" {
		s.answer(conn, http.StatusUnauthorized, "log in as the encoder of the mount")
		return
	}
	s.mu.Lock()
	h := s.mounts[mount]
	if mount == "" { // the only one of this login
		for name, other := range s.mounts {
			if other.user == r.user && same(other.secret, r.secret) {
				h, mount = other, name
			}
		}
	}
	s.mu.Unlock()
	known := false
	err := s.wrong.TakeIf(client.Peer(conn.RemoteAddr()), func() bool {
		known = h != nil && same(h.user, r.user) && same(h.secret, r.secret) ||
			r.user == "source" && s.opt.Studio != "" && same(r.secret, s.opt.Studio)
		return h != nil && !known
	})
	switch {
	case err != nil:
		s.answer(conn, http.StatusTooManyRequests, "too many wrong passwords: wait a minute")
	case h == nil:
		s.answer(conn, http.StatusNotFound, "nobody sends to this mount")
	case !known:
		hesitate(ctx, client.Peer(conn.RemoteAddr()))
		s.answer(conn, http.StatusUnauthorized, "user or password is wrong")
	case ctx.Err() == nil:
		if mode := r.query.Get("mode"); mode != "" && mode != "updinfo" {
			s.answer(conn, http.StatusBadRequest, "mode: only updinfo is known")
			return
		}
		if !h.titles.Allow() {
			s.answer(conn, http.StatusTooManyRequests, "too many titles: tell one a song", "Retry-After: 2")
			return
		}
		if title, creator := songOf(r.query); title != "" {
			s.opt.Named(mount, title, creator)
		}
		s.answer(conn, http.StatusOK, `<?xml version="1.0"?><iceresponse><message>Metadata update successful</message><return>1</return></iceresponse>`)
	}
}
