package stream

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/crowd"
	"github.com/athir-radio/athir/internal/kit/rush"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// Nothing of the connection is kept beside its descriptor, and its place is kept as
// long as that.
func TestADetachedSocketIsAllThatIsKeptOfAConnection(t *testing.T) {
	bound := crowd.New(crowd.Options{Most: 1, Key: func(net.Addr) string { return "everybody" }})
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := bound.Listener(plain)
	defer l.Close() //nolint:errcheck // a listener
	peer, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close() //nolint:errcheck // only read
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s, ok := detach(conn)
	if !ok {
		t.Fatal("a counted TCP connection was not detached")
	}
	if _, err := conn.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection is still open: %v", err)
	}
	if n, err := s.write([][]byte{[]byte("au"), []byte("dio")}); n != 5 || err != nil {
		t.Errorf("wrote %d bytes: %v", n, err)
	}
	got := make([]byte, 5)
	if n, err := peer.Read(got); err != nil || string(got[:n]) != "audio" {
		t.Errorf("read %q: %v", got[:n], err)
	}
	// A second connection has no place until the socket is closed.
	refused, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Close() //nolint:errcheck // only read
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	testkit.Eventually(t, "the refusal", func() bool { return bound.Refused() == 1 })
	s.close()
	again, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close() //nolint:errcheck // only read
	if c := testkit.Receive(t, "the next connection", accepted); c == nil {
		t.Error("the place was not given back")
	} else {
		_ = c.Close()
	}
	if _, err := peer.Read(got); err == nil {
		t.Error("the socket is open after its end")
	}
}

// Each listener counts towards a rush.
func TestMemoryIsGivenBackAfterARushOfListeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a rush is over after a second
		h, a := link(1, 3)
		f := run(t, Options{Source: func(ctx context.Context, write func([]byte)) error {
			write(cat(h, a))
			<-ctx.Done()
			return ctx.Err()
		}})
		var freed atomic.Bool
		f.rush = rush.New(func() { freed.Store(true) })
		for range rush.Many - 1 {
			f.rush.Arrived()
		}
		listening, leave := context.WithCancel(t.Context())
		var listener sync.WaitGroup
		defer listener.Wait()
		defer leave()
		listener.Go(func() {
			f.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(listening, http.MethodGet, "/", nil))
		})
		time.Sleep(time.Minute)
		if !freed.Load() {
			t.Error("memory is not given back")
		}
	})
}
