package whip

import (
	"errors"
	"log/slog"
	"net"
	"time"
)

const (
	// firstAccept and longestAccept are the pauses after a connection that could not be taken.
	firstAccept, longestAccept = 5 * time.Millisecond, time.Second
	// steadyEvery is how often such a one is logged.
	steadyEvery = time.Minute
)

// steady is a listener whose Accept fails only once it is closed. The WebRTC stack gives up
// its port at the first error, and whoever opens connections until this process has no file
// left would close media over TCP for all until it is restarted.
type steady struct {
	net.Listener
	log    *slog.Logger
	logged time.Time
}

// Accept implements net.Listener, for one goroutine.
func (s *steady) Accept() (net.Conn, error) {
	for pause := firstAccept; ; pause = min(2*pause, longestAccept) {
		conn, err := s.Listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return conn, err
		}
		if now := time.Now(); now.Sub(s.logged) >= steadyEvery {
			s.logged = now
			s.log.Warn("cannot take a media connection, trying again", "error", err)
		}
		time.Sleep(pause)
	}
}
