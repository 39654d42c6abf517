// Package deadline ends HTTP connections whose other end has stopped taking
// part. net/http's own WriteTimeout is one for every route, which no server of
// endless streams can set. The rest of a body that a handler leaves is read within
// the same time, or its answer would be lost. A hijacked connection is its new
// owner's: net/http takes these deadlines off it.
package deadline

import (
	"net/http"
	"time"
)

// Handler gives a request's body the time body to arrive and the answer the
// time answer to be taken. A handler may set its own deadlines, as Writer does,
// and answer without reading the body.
func Handler(next http.Handler, body, answer time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		now := time.Now()
		_ = control.SetWriteDeadline(now.Add(answer))
		// Only where there is a body: net/http takes a read that times out
		// while a long answer is under way for a client that has left.
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		_ = control.SetReadDeadline(now.Add(body))
		sent := newBody(r)
		r = r.WithContext(r.Context()) // net/http looks at the body of its own
		r.Body = sent
		next.ServeHTTP(w, r)
		sent.drain(w, now.Add(body))
	})
}

// Writer fails once a single write has waited for stall. However long the whole
// answer takes, a client that reads is served.
func Writer(w http.ResponseWriter, stall time.Duration) http.ResponseWriter {
	return &writer{ResponseWriter: w, control: http.NewResponseController(w), stall: stall}
}

// Within is Writer for an answer that must also end: it fails once whole has passed,
// however steadily the client reads.
func Within(w http.ResponseWriter, stall, whole time.Duration) http.ResponseWriter {
	return &writer{ResponseWriter: w, control: http.NewResponseController(w), stall: stall, end: time.Now().Add(whole)}
}

type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	end     time.Time // zero: none
}

// next is when a write that begins now has waited for too long.
func (w *writer) next() time.Time {
	next := time.Now().Add(w.stall)
	if !w.end.IsZero() && w.end.Before(next) {
		return w.end
	}
	return next
}

func (w *writer) Write(p []byte) (int, error) {
	_ = w.control.SetWriteDeadline(w.next())
	return w.ResponseWriter.Write(p)
}

// FlushError is what http.ResponseController calls.
func (w *writer) FlushError() error {
	_ = w.control.SetWriteDeadline(w.next())
	return w.control.Flush()
}

// Unwrap leads http.ResponseController to the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
