package deadline

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// mostUnread is how much is read, in bytes, of a body that its handler left: more
// than any that is taken here.
const mostUnread = 8 << 20

// body is a request's body that can be read on after its handler has closed it.
type body struct {
	io.ReadCloser
	invited              bool // the client sends it without being asked to
	began, ended, closed atomic.Bool
}

func newBody(r *http.Request) *body {
	return &body{ReadCloser: r.Body, invited: !strings.EqualFold(r.Header.Get("Expect"), "100-continue")}
}

func (b *body) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	b.began.Store(true)
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.ended.Store(true)
	}
	return n, err
}

// Close ends the handler's reading only; net/http closes the body itself.
func (b *body) Close() error {
	b.closed.Store(true)
	return nil
}

// drain reads the rest that the handler has left. net/http reads a quarter of a
// MiB, and nothing where the client asked to close the connection: closing with
// bytes unread resets it, and a client that is still sending loses the answer.
func (b *body) drain(w http.ResponseWriter, until time.Time) {
	if b.ended.Load() || !b.invited && !b.began.Load() {
		return
	}
	if _, err := w.Write(nil); errors.Is(err, http.ErrHijacked) {
		return // the connection is its new owner's
	}
	_ = http.NewResponseController(w).SetReadDeadline(until)
	_, _ = io.CopyN(io.Discard, b.ReadCloser, mostUnread)
}
