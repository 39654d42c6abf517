package front

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// sent is a request body that remembers the error by which reading it ended.
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

// faultOf returns the answer to a request whose body the client did not send properly;
// 0 where the fault is not the client's. The texts are those of package api.
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
