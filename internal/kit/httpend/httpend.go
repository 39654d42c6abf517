// Package httpend ends HTTP servers without leaving a request unanswered. The Shutdown of
// net/http closes a connection without an answer where it reads the request after Shutdown
// was called.
package httpend

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is an http.Server whose connections are counted. Make it with Of, before it serves.
type Server struct {
	*http.Server
	open sync.WaitGroup
}

// Of counts the connections of a server from now on.
func Of(server *http.Server) *Server {
	s := &Server{Server: server}
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.open.Add(1) // before Serve returns
		case http.StateClosed, http.StateHijacked:
			s.open.Done()
		}
	}
	return s
}

// End answers the requests under way within a time and then insists. Serve has returned, for
// its listener is closed: nobody is taken in any more.
func (s *Server) End(within time.Duration) {
	defer s.Close() //nolint:errcheck // nothing is lost
	s.SetKeepAlivesEnabled(false)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.open.Wait()
	}()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
	}
}
