package whip

import (
	"errors"
	"log/slog"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// failing has no file left for so many connections, then one, then is closed.
type failing struct {
	net.Listener
	left int
	conn net.Conn
}

func (f *failing) Accept() (net.Conn, error) {
	if f.left--; f.left >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	if conn := f.conn; conn != nil {
		f.conn = nil
		return conn, nil
	}
	return nil, net.ErrClosed
}

// A process that has no file left for a while keeps its media port.
func TestAMediaPortOutlivesAWantOfFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer a.Close() //nolint:errcheck // a pipe in memory
		defer b.Close() //nolint:errcheck // a pipe in memory
		l := &steady{Listener: &failing{left: 20, conn: a}, log: slog.New(slog.DiscardHandler)}
		begun := time.Now()
		if conn, err := l.Accept(); err != nil || conn != a {
			t.Errorf("%v, %v", conn, err)
		}
		if took := time.Since(begun); took < 10*time.Second || took > 20*time.Second {
			t.Errorf("it tried for %s: too often, or too seldom", took)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}
