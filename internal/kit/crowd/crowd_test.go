package crowd_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/crowd"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// stage is a bounded listener whose clients say who they are by name.
type stage struct {
	*crowd.Bound
	inner, l net.Listener

	mu    sync.Mutex
	names map[string]string // by local address of the client
}

func open(t *testing.T, opt crowd.Options) *stage {
	t.Helper()
	s := &stage{names: map[string]string{}}
	opt.Key = func(remote net.Addr) string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.names[remote.String()]
	}
	s.Bound = crowd.New(opt)
	var err error
	if s.inner, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.l = s.Listener(s.inner)
	t.Cleanup(func() { _ = s.inner.Close() })
	return s
}

// dial connects under a name. The listener does not learn of it before it is known.
func (s *stage) dial(t *testing.T, name string) net.Conn {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := net.Dial("tcp", s.inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s.names[c.LocalAddr().String()] = name
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// in connects and is let in; it returns both ends.
func (s *stage) in(t *testing.T, name string) (there, here net.Conn) {
	t.Helper()
	there = s.dial(t, name)
	here, err := s.l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = here.Close() })
	if here.RemoteAddr().String() != there.LocalAddr().String() {
		t.Fatalf("%s was not let in", name)
	}
	return there, here
}

// out connects and is turned away: somebody without a name, who comes after it,
// is the next to be accepted.
func (s *stage) out(t *testing.T, name string) {
	t.Helper()
	before := s.Refused()
	there := s.dial(t, name)
	s.in(t, "")
	if s.Refused() != before+1 {
		t.Errorf("%s: %d refused, want %d", name, s.Refused(), before+1)
	}
	if _, err := there.Read(make([]byte, 1)); err == nil || !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Errorf("%s: its connection is not closed: %v", name, err)
	}
}

func TestOneAddressHasNoMoreConnectionsThanItsBoundAndFreedPlacesAreUsedAgain(t *testing.T) {
	s := open(t, crowd.Options{Most: 3})
	var held []net.Conn
	for range 3 {
		_, here := s.in(t, "192.0.2.1")
		held = append(held, here)
	}
	s.out(t, "192.0.2.1")
	s.out(t, "192.0.2.1")
	s.in(t, "192.0.2.2") // another is not hindered
	for range 5 {        // a place is one place, however often it is given back
		_ = held[0].Close()
	}
	_, held[0] = s.in(t, "192.0.2.1")
	s.out(t, "192.0.2.1")
	for _, here := range held {
		_ = here.Close()
	}
	for range 3 {
		s.in(t, "192.0.2.1")
	}
	s.out(t, "192.0.2.1")
}

func TestWhoHasNoNameIsNotCounted(t *testing.T) {
	s := open(t, crowd.Options{Most: 1})
	for range 20 {
		s.in(t, "")
	}
	if s.Refused() != 0 {
		t.Errorf("%d refused", s.Refused())
	}
	unbounded := open(t, crowd.Options{})
	for range 20 {
		unbounded.in(t, "192.0.2.1")
	}
}

func TestAllNetworksOfOneSiteHaveTheConnectionsOfEight(t *testing.T) {
	s := open(t, crowd.Options{Most: 2, Wider: client.Wider})
	for i := range 8 {
		for range 2 {
			s.in(t, "2001:db8:1:"+string(rune('1'+i))+"::/64")
		}
	}
	s.out(t, "2001:db8:1:aaaa::/64")
	_, here := s.in(t, "2001:db8:2:1::/64")
	s.in(t, "2001:db8:2:1::/64")
	s.out(t, "2001:db8:2:1::/64")
	_ = here.Close()
	s.in(t, "2001:db8:2:1::/64")
}

func TestAFloodIsOneLineInTheLog(t *testing.T) {
	var lines strings.Builder
	s := open(t, crowd.Options{Most: 1, Log: slog.New(slog.NewTextHandler(&lines, nil))})
	s.in(t, "192.0.2.1")
	for range 10 {
		s.out(t, "192.0.2.1")
	}
	if n := strings.Count(lines.String(), "\n"); n != 1 || !strings.Contains(lines.String(), "address=192.0.2.1") {
		t.Errorf("the log:\n%s", lines.String())
	}
}

// Many come and go at once; in the end all places are free.
func TestNoPlaceIsLostWhereManyComeAndGo(t *testing.T) {
	s := open(t, crowd.Options{Most: 4})
	const each, many = 50, 8
	var serving sync.WaitGroup
	serving.Go(func() {
		var open sync.WaitGroup
		for {
			c, err := s.l.Accept()
			if err != nil {
				break
			}
			open.Go(func() {
				_, _ = c.Read(make([]byte, 1)) // until the client closes
				_ = c.Close()
				_ = c.Close()
			})
		}
		open.Wait()
	})
	var clients sync.WaitGroup
	for range many {
		clients.Go(func() {
			for range each {
				c := s.dial(t, "192.0.2.1")
				_ = c.Close()
			}
		})
	}
	clients.Wait()
	_ = s.inner.Close()
	serving.Wait()
	if left := s.Open(); left != 0 {
		t.Errorf("%d names still have places", left)
	}
}

// What a server may want to do with a TCP connection it can still do.
func TestACountedConnectionIsATCPConnection(t *testing.T) {
	s := open(t, crowd.Options{Most: 1})
	_, here := s.in(t, "192.0.2.1")
	if _, ok := here.(*net.TCPConn); ok {
		t.Fatal("it is not counted")
	}
	for name, can := range map[string]bool{
		"io.ReaderFrom (sendfile)": is[io.ReaderFrom](here), "syscall.Conn": is[syscall.Conn](here),
		"SetLinger": is[interface{ SetLinger(int) error }](here), "CloseWrite": is[interface{ CloseWrite() error }](here),
	} {
		if !can {
			t.Errorf("it is no %s", name)
		}
	}
}

func is[T any](c net.Conn) bool {
	_, ok := c.(T)
	return ok
}

// An HTTP server serves within the bound; a request gives its place back once it
// has shown that it speaks for many.
func TestAReleasedConnectionIsCountedNoMore(t *testing.T) {
	b := crowd.New(crowd.Options{Most: 1, Key: func(net.Addr) string { return "everybody" }})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ConnContext: crowd.Context, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { //nolint:gosec // a test
		if r.URL.Path == "/edge" {
			crowd.Release(r.Context())
			crowd.Release(r.Context())
		}
	})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = srv.Serve(b.Listener(l)) })
	defer serving.Wait()
	defer srv.Close() //nolint:errcheck // the test is over
	get := func(path string) error {
		return testkit.Hold(t, l.Addr().String(), "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	for range 3 { // each keeps its connection
		if err := get("/edge"); err != nil {
			t.Fatal(err)
		}
	}
	if err := get("/"); err != nil {
		t.Fatal(err)
	}
	if err := get("/"); err == nil {
		t.Error("two connections are counted as one")
	}
}
