package bus

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// lookEvery is how often an attempt to connect is looked at: the client tells of
	// the first alone.
	lookEvery = 250 * time.Millisecond
	// awayPatience is how long a bus may be out of reach before that is a problem: it
	// may be starting.
	awayPatience = 10 * time.Second
)

// trouble is why there is no connection.
type trouble struct {
	mu     sync.Mutex
	since  time.Time // of the first failed attempt; zero while connected
	last   error
	logged string
}

// clear forgets the failed attempts; it reports whether one was logged.
func (t *trouble) clear() (logged bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	logged = t.logged != ""
	t.since, t.last, t.logged = time.Time{}, nil, ""
	return logged
}

// failed notes a failed attempt. text is the problem; first reports that it is to be
// logged: each once until the bus is there.
func (t *trouble) failed(err error, now time.Time) (text string, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since.IsZero() {
		t.since = now
	}
	// What a server said is worth more than that it cannot be reached just now.
	if err != nil && (t.last == nil || refused(err) || !refused(t.last)) {
		t.last = err
	}
	text = t.text(now)
	first = text != "" && text != t.logged
	if first {
		t.logged = text
	}
	return text, first
}

// text is the problem; empty while there is none. The caller holds mu.
func (t *trouble) text(now time.Time) string {
	switch {
	case t.last == nil:
		return ""
	case refused(t.last):
		return "the bus refuses our password: bus.url and its credentials, or sync_token, must be those of the bus"
	case now.Sub(t.since) >= awayPatience:
		return "the bus cannot be reached: check bus.url, and that it runs"
	}
	return ""
}

// refused reports whether a server was there and did not let us in.
func refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) || errors.Is(err, nats.ErrAccountAuthExpired)
}

// Problem says for people why there is no connection: the password is refused, or the
// bus has been out of reach for ten seconds. Empty while all is well.
func (b *Bus) Problem() string {
	if b.Up() {
		return ""
	}
	b.trouble.mu.Lock()
	defer b.trouble.mu.Unlock()
	return b.trouble.text(time.Now())
}

// failed notes, and logs if that is news, that an attempt to connect has failed.
func (b *Bus) failed(err error) {
	if b.Up() || b.leaving.Load() {
		return
	}
	if text, first := b.trouble.failed(err, time.Now()); first {
		b.log.Error(text, "bus", b.shown, "err", err)
	}
}

// look notes failed attempts that the client does not tell of, until the bus is closed.
func (b *Bus) look() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-b.closed:
			return
		case <-ticker.C:
		}
		if !b.Up() {
			b.failed(b.conn.LastError())
		}
	}
}

// shownURL is a list of addresses without the credentials in them.
func shownURL(list string) string {
	var out []string
	for part := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(part)
		if err != nil {
			out = append(out, "(no address)")
			continue
		}
		out = append(out, fmt.Sprintf("%s://%s", u.Scheme, u.Host))
	}
	return strings.Join(out, ",")
}
