package front_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/web/front"
)

func TestOneOriginForPageStreamAndStatus(t *testing.T) {
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("cookieCheck") == "" {
			http.SetCookie(w, &http.Cookie{Name: "cookieCheck", Value: "1"})
			w.Header().Set("Location", "/main/index.m3u8?cookieCheck=1")
			w.WriteHeader(http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "relay "+r.URL.Path)
	}))
	defer relay.Close()
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "control "+r.URL.Path+" "+r.Header.Get("X-Forwarded-For"))
	}))
	defer control.Close()
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page "+r.URL.Path) })
	srv := httptest.NewServer(front.Handler(front.Options{
		Log: slog.New(slog.DiscardHandler), Pages: pages,
		Control: strings.TrimPrefix(control.URL, "http://"), Relay: strings.TrimPrefix(relay.URL, "http://"),
	}))
	defer srv.Close()

	for _, c := range []struct{ method, path, want string }{
		{"GET", "/", "page /"},
		{"GET", "/api/status", "control /api/status 127.0.0.1"},
		{"GET", "/stream/main", "control /stream/main 127.0.0.1"},
		{"GET", "/hls/main/index.m3u8", "relay /main/index.m3u8"}, // through the redirect
		// What is not on the list never reaches the control plane.
		{"GET", "/api/station/state", "page /api/station/state"},
		{"POST", "/metadata", "page /metadata"},
		{"POST", "/api/status", "page /api/status"},
		{"POST", "/api/upnext/votes", "control /api/upnext/votes 127.0.0.1"},
		{"POST", "/api/station/skip", "page /api/station/skip"},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), c.method, srv.URL+c.path, nil)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != c.want {
			t.Errorf("%s %s: got %q, want %q", c.method, c.path, body, c.want)
		}
	}
	relay.Close()
	resp, err := http.Get(srv.URL + "/hls/main/index.m3u8") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("relay down: got %d, want 503 with Retry-After", resp.StatusCode)
	}
}

// A page that shows little is no way to the rest: nobody posts, listens or chats there.
func TestAPageMayNeedFewRoutes(t *testing.T) {
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "control "+r.URL.Path) }))
	defer control.Close()
	h := front.Handler(front.Options{
		Log: slog.New(slog.DiscardHandler), Control: strings.TrimPrefix(control.URL, "http://"), Only: []string{"GET /api/status"},
		Pages: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page "+r.URL.Path) }),
	})
	for asked, want := range map[string]string{
		"GET /api/status": "control /api/status", "GET /livez": "ok\n", "GET /stream/main": "page /stream/main", "GET /hls/main/index.m3u8": "page /hls/main/index.m3u8",
		"POST /api/comments": "page /api/comments", "POST /api/subscribe": "page /api/subscribe", "GET /api/upnext": "page /api/upnext",
		"GET /chat/media/x": "page /chat/media/x", "POST /api/live/admit": "page /api/live/admit",
	} {
		method, path, _ := strings.Cut(asked, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if got := w.Body.String(); got != want {
			t.Errorf("%s: got %q, want %q", asked, got, want)
		}
	}
}

// What a proxy before us says of who asks reaches the control plane, and what it
// hides does not become this machine.
func TestWhoAsksIsPassedOn(t *testing.T) {
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, client.Address(r))
	}))
	defer control.Close()
	srv := httptest.NewServer(front.Handler(front.Options{
		Log: slog.New(slog.DiscardHandler), Pages: http.NotFoundHandler(), Control: strings.TrimPrefix(control.URL, "http://"),
	}))
	defer srv.Close()
	for _, c := range []struct{ header, value, want string }{
		{"X-Forwarded-For", "198.51.100.1", "198.51.100.1"},
		{"X-Forwarded-For", "198.51.100.1, unknown", client.Unknown},
		{"X-Forwarded-For", "", client.Unknown},
		{"Forwarded", `for="[2001:db8::7]"`, "2001:db8::/64"},
		{"Forwarded", "for=_hidden", client.Unknown},
		{"User-Agent", "a browser here", ""},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/ping", nil)
		req.Header.Set(c.header, c.value)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(got) != c.want {
			t.Errorf("%s: %s: %q, want %q", c.header, c.value, got, c.want)
		}
	}
}

// Whatever a client sends, the control plane sees the edge's token and the client's
// address: by what it names in Connection it would otherwise pass for the edge.
func TestAClientCannotTakeTheTokenAway(t *testing.T) {
	// The peer is the edge on another machine: its own address, taken for the client's,
	// would be the bug.
	const edge = "203.0.113.9"
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = edge + ":4242"
		front.Trusted(func(token string) (ok, guest bool) { return token == "secret", false }, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, client.Address(r)+" "+r.Header.Get("Athir-Edge"))
		})).ServeHTTP(w, r)
	}))
	defer control.Close()
	srv := httptest.NewServer(front.Handler(front.Options{
		Log: slog.New(slog.DiscardHandler), Pages: http.NotFoundHandler(), Control: strings.TrimPrefix(control.URL, "http://"), Token: func() string { return "secret" },
	}))
	defer srv.Close()
	for _, header := range [][]string{
		{}, {"Connection", "Athir-Edge"}, {"Connection", "athir-edge, X-Forwarded-For, Forwarded"}, {"Athir-Edge", "mine"},
		{"Athir-Edge", "mine", "Connection", "keep-alive, Athir-Edge"},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/api/status", nil)
		req.Header.Set("X-Forwarded-For", "198.51.100.1")
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(got) != "198.51.100.1 " {
			t.Errorf("%v: the control plane sees %q", header, got)
		}
	}
}

// Fails where whoever has the credential of one edge tries keys without end, each from
// another address, or where a listener at such an edge counts for the edge.
func TestAnEdgeOfItsOwnCredentialBringsNoKeys(t *testing.T) {
	h := front.Trusted(func(token string) (ok, guest bool) { return true, token == "edge.cairo-2:secret" }, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, client.Address(r)+" "+r.Header.Get("X-Station-Key")+r.Header.Get("X-Admin-Key")+r.Header.Get("Authorization"))
	}))
	for _, c := range []struct{ token, method, path, want string }{
		{"edge.cairo-2:secret", "GET", "/api/status", "198.51.100.1 "},
		{"edge.cairo-2:secret", "POST", "/api/comments", "198.51.100.1 "},
		{"edge.cairo-2:secret", "HEAD", "/hls/main/index.m3u8", "198.51.100.1 "},
		{"edge.cairo-2:secret", "PATCH", "/api/social/tus/7", "198.51.100.1 "},
		{"edge.cairo-2:secret", "GET", "/api/jobs", "203.0.113.9 "},
		{"edge.cairo-2:secret", "POST", "/api/station/skip", "203.0.113.9 "},
		{"edge.cairo-2:secret", "GET", "/socket.io/", "203.0.113.9 "},
		{"the sync_token's", "GET", "/api/jobs", "198.51.100.1 a guess"},
		{"the sync_token's", "GET", "/api/status", "198.51.100.1 a guess"},
	} {
		for _, header := range []string{"X-Station-Key", "X-Admin-Key", "Authorization"} {
			r := httptest.NewRequest(c.method, c.path, nil)
			r.RemoteAddr = "203.0.113.9:4242"
			r.Header.Set("X-Forwarded-For", "198.51.100.1")
			r.Header.Set(client.EdgeHeader, c.token)
			r.Header.Set(header, "a guess")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Body.String() != c.want {
				t.Errorf("%s %s by %s, %s: %q, want %q", c.method, c.path, c.token, header, w.Body, c.want)
			}
		}
	}
}

// A client that asks for the stream and reads nothing of it.
func TestAPlayerThatNeverReadsIsLetGo(t *testing.T) {
	for _, path := range []string{"/stream", "/hls/main/seg1.m4s", "/network-test-payload"} {
		ended := make(chan struct{})
		endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			defer close(ended)
			for block := make([]byte, 1<<20); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}))
		target := strings.TrimPrefix(endless.URL, "http://")
		srv := httptest.NewServer(front.Handler(front.Options{
			Log: slog.New(slog.DiscardHandler), Pages: http.NotFoundHandler(), Control: target, Relay: target,
			Stall: 50 * time.Millisecond,
		}))
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		<-ended // or the test never ends
		_ = conn.Close()
		srv.Close()
		endless.Close()
	}
}
