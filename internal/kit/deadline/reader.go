package deadline

import (
	"io"
	"net/http"
	"time"
)

// Reader reads a request's body for as long as it keeps coming: one read may wait for
// stall, and the whole may take as long as whole. It takes the place of the time that
// Handler gives a body.
func Reader(w http.ResponseWriter, body io.Reader, stall, whole time.Duration) io.Reader {
	return &reader{body: body, control: http.NewResponseController(w), stall: stall, end: time.Now().Add(whole)}
}

type reader struct {
	body    io.Reader
	control *http.ResponseController
	stall   time.Duration
	end     time.Time
}

func (r *reader) Read(p []byte) (int, error) {
	next := time.Now().Add(r.stall)
	if r.end.Before(next) {
		next = r.end
	}
	_ = r.control.SetReadDeadline(next)
	_ = r.control.SetWriteDeadline(next.Add(r.stall)) // of the answer, which follows
	return r.body.Read(p)
}
