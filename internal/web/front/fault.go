package front

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// sent is a client's body on its way; it keeps how it ended.
type sent struct {
	io.ReadCloser
	fault atomic.Pointer[error]
}

func (s *sent) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.fault.CompareAndSwap(nil, &err)
	}
	return n, err
}

// faultOf is the answer to a request whose body its client did not send as it
// should; 0 where the fault is not the client's. The words are the API's own.
func faultOf(r *http.Request) (status int, detail string) {
	body, ok := r.Body.(*sent)
	if !ok {
		return 0, ""
	}
	fault := body.fault.Load()
	if fault == nil {
		return 0, ""
	}
	var slow net.Error
	if errors.As(*fault, &slow) && slow.Timeout() {
		return http.StatusRequestTimeout, "the body did not arrive in time"
	}
	return http.StatusBadRequest, "the body is incomplete, or does not match its headers"
}
