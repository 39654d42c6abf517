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
	key := client.Peer(conn.RemoteAddr())
	done := s.turn(ctx, key)
	defer done()
	if who.User == "source" && s.opt.Studio.Matches(who.Secret) {
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
	if a.Code == "unknown" || a.Code == "" {
		if s.unknown(ctx, conn, key) {
			s.opt.Log.Info("encoder refused: its login is not known", "mount", who.Mount, "user", who.User, "address", who.Address)
		}
		return a, false, false
	}
	s.opt.Log.Info("encoder refused", "mount", who.Mount, "user", who.User, "address", who.Address, "code", a.Code)
	switch a.Code {
	case "limited": // by the control plane: a wrong password, too
		_ = s.wrong.Take(key)
		s.hesitate(ctx)
		s.answer(conn, http.StatusTooManyRequests, a.Detail, "Retry-After: 60")
	default:
		s.answer(conn, http.StatusForbidden, a.Detail)
	}
	return a, false, false
}

// wrongPause is how long the answer to a wrong password is held back where no budget slows
// whoever guesses: by a tunnel, whose end is this machine and whom it brings is unknown, and
// from an address that has spent its own.
const wrongPause = time.Second

// turn waits for the turn of an address that has spent its wrong passwords: its logins are
// looked at one after another, so that it guesses one each wrongPause. A right one among them
// is still let in, as presenters may share an address with who guesses. Who has not spent
// them, and this machine, ask as many at once as they may have connections.
func (s *Server) turn(ctx context.Context, key string) (done func()) {
	if s.wrong.TakeIf(key, func() bool { return false }) == nil {
		return func() {}
	}
	s.mu.Lock()
	g := s.open[key]
	s.mu.Unlock()
	select {
	case g.turn <- struct{}{}:
		return func() { <-g.turn }
	case <-ctx.Done():
		return func() {}
	}
}

// unknown answers a login that is not known, and reports whether it was one of the few.
func (s *Server) unknown(ctx context.Context, conn net.Conn, key string) bool {
	err := s.wrong.Take(key) // before the answer: the next try finds it
	if err != nil || key == "" {
		s.hesitate(ctx)
	}
	if err != nil {
		s.answer(conn, http.StatusTooManyRequests, "too many wrong passwords: wait a minute")
		return false
	}
	s.answer(conn, http.StatusUnauthorized, "user or password is wrong")
	return true
}

func (s *Server) hesitate(ctx context.Context) {
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
	key := client.Peer(conn.RemoteAddr())
	done := s.turn(ctx, key)
	defer done()
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
	known := h != nil && same(h.user, r.user) && same(h.secret, r.secret) ||
		r.user == "source" && s.opt.Studio.Matches(r.secret)
	switch {
	case !known: // whether the mount has an encoder or none: neither is a stranger's to know
		s.unknown(ctx, conn, key)
	case h == nil:
		s.answer(conn, http.StatusNotFound, "nobody sends to this mount")
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
