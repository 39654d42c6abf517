package stream

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

func get(t *testing.T, method, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res
}

// dial sends a request by hand and leaves the rest to the caller.
func dial(t *testing.T, url, request string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return conn
}

func serve(t *testing.T, h http.Handler, secure bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	if secure {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// problemOf checks that an answer is problem+json for its status.
func problemOf(t *testing.T, res *http.Response, status int) {
	t.Helper()
	var p struct {
		Status int
		Detail string
	}
	err := json.NewDecoder(res.Body).Decode(&p)
	if err != nil || res.StatusCode != status || p.Status != status || p.Detail == "" ||
		res.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s %v %+v %v", res.Status, res.Header, p, err)
	}
	if (status == http.StatusServiceUnavailable) != (res.Header.Get("Retry-After") != "") {
		t.Errorf("%d with Retry-After %q", status, res.Header.Get("Retry-After"))
	}
}

func TestMissingMountIsAnswered503(t *testing.T) {
	m := oggMount(t)
	m.set(true, nil)
	f, s := onAir(t, Options{URL: m.URL, Wait: 20 * time.Millisecond})
	problemOf(t, get(t, http.MethodGet, s.URL), http.StatusServiceUnavailable)
	if st := f.Stats(); st.Upstream != Connecting || st.Refused != 1 || st.Served != 0 || st.Listeners != 0 {
		t.Errorf("%+v", st)
	}
}

func TestListenerWaitsForAnUpstreamThatIsComing(t *testing.T) {
	h, a := link(1, 3)
	m := oggMount(t)
	m.set(true, nil)
	f, s := onAir(t, Options{URL: m.URL, Wait: time.Minute})
	got := make(chan *capture, 1)
	go func() { got <- listen(t, s.URL) }()
	testkit.Eventually(t, "the listener at the door", func() bool { return f.Stats().Listeners == 1 })
	m.set(false, cat(h, a))
	c := testkit.Receive(t, "the answer", got)
	testkit.Eventually(t, "the stream", func() bool { return c.size() == len(cat(h, a)) })
}

func TestFullHouseIsAnswered503(t *testing.T) {
	m := plainMount(t)
	m.set(false, noise(5000))
	f, s := onAir(t, Options{URL: m.URL, MaxListeners: 2})
	listen(t, s.URL)
	second := listen(t, s.URL)
	problemOf(t, get(t, http.MethodGet, s.URL), http.StatusServiceUnavailable)
	_ = second.res.Body.Close()
	m.send(noise(5000)) // a connection's end is noticed when it is written to
	testkit.Eventually(t, "a free place", func() bool { m.send([]byte("x")); return f.Stats().Listeners == 1 })
	listen(t, s.URL)
}

func TestOneClientCannotTakeEveryPlace(t *testing.T) {
	m := plainMount(t)
	m.set(false, noise(5000))
	_, s := onAir(t, Options{URL: m.URL, MaxPerClient: 1, ClientKey: func(r *http.Request) string { return r.URL.Query().Get("who") }})
	listen(t, s.URL+"?who=a")
	listen(t, s.URL+"?who=b")
	problemOf(t, get(t, http.MethodGet, s.URL+"?who=a"), http.StatusServiceUnavailable)
}

func TestAWiderNetworkHasEightTimesThePlacesOfAClient(t *testing.T) {
	m := plainMount(t)
	m.set(false, noise(5000))
	f, s := onAir(t, Options{
		URL: m.URL, MaxPerClient: 1, ClientKey: func(r *http.Request) string { return r.URL.Query().Get("who") },
		Wider: func(key string) string { return key[:1] },
	})
	first := listen(t, s.URL+"?who=a0")
	for i := 1; i < 8; i++ {
		listen(t, fmt.Sprintf("%s?who=a%d", s.URL, i))
	}
	problemOf(t, get(t, http.MethodGet, s.URL+"?who=a8"), http.StatusServiceUnavailable)
	listen(t, s.URL+"?who=b0")
	_ = first.res.Body.Close()
	testkit.Eventually(t, "a free place", func() bool { m.send([]byte("x")); return f.Stats().Listeners == 8 })
	listen(t, s.URL+"?who=a8")
}

func TestResponseHeaders(t *testing.T) {
	m := oggMount(t)
	h, a := link(1, 3)
	m.set(false, cat(h, a))
	_, s := onAir(t, Options{URL: m.URL, AllowOrigin: "*", Info: Info{
		Name:        "أثير\r\nSet-Cookie: a=b\r\n\r\n<html>",
		Description: strings.Repeat("é", 1000),
		Genre:       "\x00 ",
		Bitrate:     160,
	}})
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		var res *http.Response
		if method == http.MethodGet {
			res = listen(t, s.URL).res
		} else {
			res = get(t, method, s.URL)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/ogg", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
			"Access-Control-Allow-Origin": "*", "icy-br": "160", "icy-genre": "", "Set-Cookie": "", "icy-metaint": "",
			"icy-name": "أثير  Set-Cookie: a=b    <html>", "icy-description": strings.Repeat("é", 256),
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", method, name, got, want)
			}
		}
	}
	res := get(t, http.MethodOptions, s.URL)
	if res.StatusCode != http.StatusNoContent || !strings.Contains(res.Header.Get("Access-Control-Allow-Headers"), "Icy-MetaData") {
		t.Errorf("OPTIONS: %s %v", res.Status, res.Header)
	}
	problemOf(t, get(t, http.MethodPost, s.URL), http.StatusMethodNotAllowed)
}

// Every way a listener may come: all get the same bytes.
func TestEveryProtocolGetsTheStream(t *testing.T) {
	h, a := link(1, 60)
	m := oggMount(t)
	m.set(false, cat(h, a[:30]))
	f := run(t, Options{URL: m.URL, Burst: 1 << 20, Grace: 50 * time.Millisecond})
	plain, secure := serve(t, f, false), serve(t, f, true)
	wrapped := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(noHijack{w}, r) }), false)
	unusual := httptest.NewUnstartedServer(f)
	unusual.Listener = otherConns{unusual.Listener}
	unusual.Start()
	t.Cleanup(unusual.Close)

	want := cat(h, a)
	captures := map[string]*capture{
		"HTTP/1.1":                  listen(t, plain.URL),
		"HTTP/2":                    listenSecurely(t, secure),
		"without hijacking":         listen(t, wrapped.URL),
		"a connection that is more": listen(t, unusual.URL),
	}
	if got := captures["HTTP/2"].res.Proto; got != "HTTP/2.0" {
		t.Errorf("spoke %s", got)
	}
	old := bufio.NewReader(dial(t, plain.URL, "GET / HTTP/1.0\r\n\r\n"))
	// It is counted before it has its place in the stream, and answered after.
	if line, _ := old.ReadString('\n'); line != "HTTP/1.0 200 OK\r\n" {
		t.Errorf("HTTP/1.0 client is answered %q", line)
	}
	if st := f.Stats(); st.Listeners != 5 {
		t.Errorf("%d listeners", st.Listeners)
	}
	for _, pg := range a[30:] {
		m.send(pg)
	}
	for name, c := range captures {
		testkit.Eventually(t, name, func() bool { return c.size() == len(want) })
		if !bytes.Equal(c.bytes(), want) {
			t.Errorf("%s: other bytes", name)
		}
	}
	m.set(true, nil)
	m.hangUp()
	rest, _ := io.ReadAll(old)
	if head, body, _ := bytes.Cut(rest, []byte("\r\n\r\n")); !bytes.Equal(body, want) || bytes.Contains(head, []byte("chunked")) {
		t.Errorf("HTTP/1.0 client got %d bytes after %s", len(body), head)
	}
}

func TestChannelsById(t *testing.T) {
	main := New(Options{URL: "http://127.0.0.1:1/main"})
	c := Channels{"main": main}
	if h, ok := c.Handler("main"); !ok || h != http.Handler(main) {
		t.Error("main is not there")
	}
	if _, ok := c.Handler("../main"); ok {
		t.Error("an unknown id is")
	}
	if err := New(Options{URL: "main"}).Run(context.Background()); err == nil {
		t.Error("a URL without a host runs")
	}
}

// noHijack hides everything but the three methods.
type noHijack struct{ w http.ResponseWriter }

func (n noHijack) Header() http.Header         { return n.w.Header() }
func (n noHijack) Write(p []byte) (int, error) { return n.w.Write(p) }
func (n noHijack) WriteHeader(status int)      { n.w.WriteHeader(status) }
func (n noHijack) Flush()                      { n.w.(http.Flusher).Flush() }

// otherConns makes connections whose Write is more than the socket's.
type otherConns struct{ net.Listener }

type otherConn struct{ *net.TCPConn }

func (l otherConns) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return otherConn{c.(*net.TCPConn)}, nil
}

// listenSecurely listens over HTTP/2.
func listenSecurely(t *testing.T, secure *httptest.Server) *capture {
	t.Helper()
	return listenTransport(t, secure.URL, &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{RootCAs: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12},
	})
}
