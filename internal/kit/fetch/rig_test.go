package fetch_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// loopback is where the tests' servers are. 127.0.0.2 stays forbidden.
var loopback = netip.MustParsePrefix("127.0.0.1/32")

func client(t *testing.T, change ...func(*fetch.Options)) *fetch.Client {
	t.Helper()
	o := fetch.Options{
		Version: "1.2.3", Allow: []netip.Prefix{loopback}, Ports: []fetch.PortRange{{From: 1, To: 65535}},
		Backoff: time.Millisecond, Connect: time.Minute, Header: time.Minute, Idle: time.Minute, Whole: time.Minute,
	}
	for _, f := range change {
		f(&o)
	}
	return fetch.New(o)
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// raw serves what answer writes to each connection, the n-th counted from 1,
// once the request's header is read. What it leaves open is closed at the end.
func raw(t *testing.T, answer func(n int, request string, c net.Conn)) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for n := 1; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				var request []byte
				buf := make([]byte, 4096)
				for !bytes.Contains(request, []byte("\r\n\r\n")) {
					m, err := c.Read(buf)
					if err != nil {
						return
					}
					request = append(request, buf[:m]...)
				}
				answer(n, string(request), c)
			})
		}
	})
	return "http://" + l.Addr().String()
}

// names is a resolver that gives one answer after the other, the last for ever.
type names struct {
	mu      sync.Mutex
	answers [][]string
	asked   int
}

func (r *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := r.answers[min(r.asked, len(r.answers)-1)]
	r.asked++
	if len(answer) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var found []netip.Addr
	for _, a := range answer {
		found = append(found, netip.MustParseAddr(a))
	}
	return found, nil
}

func resolving(answers ...[]string) (*names, func(*fetch.Options)) {
	r := &names{answers: answers}
	return r, func(o *fetch.Options) { o.Resolver = r }
}

func port(t *testing.T, address string) string {
	t.Helper()
	_, p, err := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
