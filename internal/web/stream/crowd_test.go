package stream

import (
	"net"
	"net/http/httptest"
	"testing"

	"github.com/athir-radio/athir/internal/kit/crowd"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// A connection that is counted is served by the shared writers as any other, and
// its place is free once its listener has gone.
func TestCountedConnectionsCostNoGoroutineEither(t *testing.T) {
	m := plainMount(t)
	m.set(false, noise(5000))
	f := run(t, Options{URL: m.URL})
	bound := crowd.New(crowd.Options{Most: 1, Key: func(net.Addr) string { return "everybody" }})
	s := httptest.NewUnstartedServer(f)
	seen := &watched{Listener: bound.Listener(s.Listener), conns: make(chan net.Conn, 10)}
	s.Listener = seen
	s.Start()
	t.Cleanup(s.Close)
	for range 3 {
		conn := dial(t, s.URL, "GET / HTTP/1.0\r\n\r\n")
		// Audio comes once net/http has given the connection away: from then on it
		// is closed before its listener is no longer counted.
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatalf("a place was not given back: %v", err)
		}
		if _, ok := (<-seen.conns).(placed); !ok {
			t.Fatal("a counted connection cannot be detached")
		}
		_ = conn.Close()
		// Only what is sent shows that a listener has left.
		testkit.Eventually(t, "its leaving", func() bool { m.send(noise(5000)); return f.Stats().Listeners == 0 })
	}
}

// watched shows what a listener accepts.
type watched struct {
	net.Listener
	conns chan net.Conn
}

func (w *watched) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err == nil {
		w.conns <- c
	}
	return c, err
}
