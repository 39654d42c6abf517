package fetch_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// secret is a server where no request may arrive: on loopback, but not on the
// address the tests allow.
func secret(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("a request reached the secret server")
		_, _ = io.WriteString(w, "secret")
	})}}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// unheard holds a port of the tests' address where nobody listens, so that it
// refuses connections; false where the port is taken.
func unheard(t *testing.T, port string) bool {
	t.Helper()
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return unix.Bind(fd, &unix.SockaddrInet4{Port: number, Addr: loopback.Addr().As4()}) == nil
}

func TestARedirectIsHeldToTheSameRules(t *testing.T) {
	t.Parallel()
	forbidden := secret(t)
	_, nas := resolving([]string{"127.0.0.2"})
	c := client(t, nas)
	for _, to := range []string{
		forbidden, forbidden + "/a?secret", "http://nas.example.org:" + port(t, forbidden) + "/", "http://169.254.169.254/latest/meta-data/", "http://[::1]/", "http://2130706434/", "http://0x7f.2/",
		"file:///etc/passwd", "ftp://127.0.0.1/", "http://user:pass@127.0.0.1/", "gopher://127.0.0.1:70/_x", "//127.0.0.2/", "http:///",
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusMovedPermanently)
		})
		_, _, err := download(t, c, fetch.Request{URL: s.URL})
		if e := isA[*fetch.BlockedError](t, err, true); strings.Contains(e.Error(), "pass@") || strings.Contains(e.Error(), "?secret") {
			t.Errorf("%s: %v", to, e)
		}
		_, err = c.Document(t.Context(), fetch.Request{URL: s.URL})
		isA[*fetch.BlockedError](t, err, true)
	}
	var hops atomic.Int32
	loop := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hops.Add(1)
		http.Redirect(w, r, "/again", http.StatusTemporaryRedirect)
	})
	_, err := c.Document(t.Context(), fetch.Request{URL: loop.URL})
	isA[*fetch.ContentError](t, err, true)
	if hops.Load() != 6 {
		t.Errorf("a loop was followed for %d requests", hops.Load())
	}
}

func TestANameThatChangesItsMindGainsNothing(t *testing.T) {
	t.Parallel()
	forbidden := secret(t)
	var asked atomic.Int32
	open := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); r.Host != "rebind.example.org:"+port(t, "http://"+r.Context().Value(http.LocalAddrContextKey).(net.Addr).String()) {
			t.Errorf("asked for %s", r.Host)
		}
		if r.URL.Path == "/again" { // to the same name, at the secret server's port
			http.Redirect(w, r, "http://rebind.example.org:"+port(t, forbidden)+"/", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "hello")
	})
	r, first := resolving([]string{"127.0.0.1"}, []string{"127.0.0.2"})
	c := client(t, first, func(o *fetch.Options) { o.Setting = "webhooks.allow_private" })
	d, err := c.Document(t.Context(), fetch.Request{URL: "http://rebind.example.org:" + port(t, open.URL) + "/"})
	if err != nil || string(d.Body) != "hello" || r.asked != 1 {
		t.Fatalf("resolved %d times: %q %v", r.asked, d.Body, err)
	}
	_, err = c.Document(t.Context(), fetch.Request{URL: "http://rebind.example.org:" + port(t, open.URL) + "/"})
	e := isA[*fetch.BlockedError](t, err, true)
	if !strings.Contains(e.Error(), "127.0.0.2 is this machine") || !strings.Contains(e.Error(), "allow it by webhooks.allow_private in the settings") {
		t.Error(e)
	}
	_, second := resolving([]string{"127.0.0.1"}, []string{"127.0.0.2"})
	_, err = client(t, second).Document(t.Context(), fetch.Request{URL: "http://rebind.example.org:" + port(t, open.URL) + "/again"})
	isA[*fetch.BlockedError](t, err, true)
}

func TestOfSeveralAddressesOnlyPublicOnesAreTried(t *testing.T) {
	t.Parallel()
	forbidden := secret(t)
	for !unheard(t, port(t, forbidden)) { // another test's server has it
		forbidden = secret(t)
	}
	_, mixed := resolving([]string{"127.0.0.2", "64:ff9b::7f00:2", "10.0.0.1", "::ffff:127.0.0.2", "::ffff:127.0.0.1"})
	address := "http://mixed.example.org:" + port(t, forbidden) + "/"
	_, err := client(t, mixed, func(o *fetch.Options) { o.Attempts = 1 }).Document(t.Context(), fetch.Request{URL: address})
	if err == nil || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), "127.0.0.1:") {
		t.Errorf("got %v", err)
	}
	// The first address is dead, the second answers.
	alive := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	_, two := resolving([]string{"127.0.0.3", "127.0.0.1"})
	c := client(t, two, func(o *fetch.Options) { o.Allow = append(o.Allow, netip.MustParsePrefix("127.0.0.3/32")) })
	if d, err := c.Document(t.Context(), fetch.Request{URL: "http://two.example.org:" + port(t, alive.URL) + "/"}); err != nil || string(d.Body) != "hello" {
		t.Errorf("%q %v", d.Body, err)
	}
	_, none := resolving([]string{})
	_, err = client(t, none).Document(t.Context(), fetch.Request{URL: "http://none.example.org/"})
	if err == nil || err.Error() != "fetch http://none.example.org/: resolve none.example.org: no such host" {
		t.Error(err)
	}
}

func TestTheProxyOfTheEnvironmentIsNotUsedAndTheOperatorsIs(t *testing.T) {
	var proxied atomic.Int32
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		proxied.Add(1)
		_, _ = io.WriteString(w, "by proxy "+r.URL.String())
	})
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	_, here := resolving([]string{"127.0.0.1"})
	direct := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "direct") })
	address := "http://feeds.example.org:" + port(t, direct.URL) + "/"
	if d, err := client(t, here).Document(t.Context(), fetch.Request{URL: address}); err != nil || string(d.Body) != "direct" || proxied.Load() != 0 {
		t.Errorf("%q %v", d.Body, err)
	}
	u, _ := url.Parse(proxy.URL)
	if d, err := client(t, func(o *fetch.Options) { o.Proxy = u }).Document(t.Context(), fetch.Request{URL: address}); err != nil || string(d.Body) != "by proxy "+address {
		t.Errorf("%q %v", d.Body, err)
	}
}

func TestACertificateMustBeTrustedAndSuitTheName(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	_, here := resolving([]string{"127.0.0.1"})
	trusting := client(t, here, func(o *fetch.Options) { o.Roots, o.Attempts = roots, 1 })
	at := func(host string) fetch.Request {
		return fetch.Request{URL: "https://" + host + ":" + port(t, strings.Replace(s.URL, "https", "http", 1)) + "/"}
	}
	if d, err := trusting.Document(t.Context(), at("example.com")); err != nil || string(d.Body) != "hello" {
		t.Errorf("%q %v", d.Body, err)
	}
	var wrong *tls.CertificateVerificationError
	if _, err := trusting.Document(t.Context(), at("other.org")); !errors.As(err, &wrong) {
		t.Error(err)
	}
	if _, err := client(t, here, func(o *fetch.Options) { o.Attempts = 1 }).Document(t.Context(), at("example.com")); !errors.As(err, &wrong) {
		t.Error(err)
	}
}

func packed(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

func TestADocumentIsUnpackedWithinBounds(t *testing.T) {
	t.Parallel()
	bomb := packed(make([]byte, 5_000_000))
	damaged := packed([]byte("hello"))
	damaged[len(damaged)-5] ^= 1 // in its checksum
	bodies := map[string][]byte{
		"/good": packed([]byte("hello")), "/bomb": bomb, "/damaged": damaged,
		"/none": {}, "/short": packed([]byte("hello"))[:12], "/not": []byte("hello"),
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("asked with %v", r.Header)
		}
		if r.URL.Path == "/br" {
			w.Header().Set("Content-Encoding", "br")
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/rss+xml")
		_, _ = w.Write(bodies[r.URL.Path])
	})
	c := client(t)
	get := func(path string) (fetch.Document, error) {
		return c.Document(t.Context(), fetch.Request{URL: s.URL + path, Limit: 100_000})
	}
	if d, err := get("/good"); err != nil || string(d.Body) != "hello" || d.Type != "application/rss+xml" {
		t.Errorf("%+v %v", d, err)
	}
	_, err := get("/bomb")
	isA[*fetch.TooLargeError](t, err, true)
	for _, path := range []string{"/damaged", "/none", "/not", "/br"} {
		_, err := get(path)
		isA[*fetch.ContentError](t, err, true)
	}
	if _, err := get("/short"); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), s.URL+"/short") {
		t.Error(err)
	}
}

func TestADocumentThatDidNotChangeIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `W/"one"`)
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		if r.Header.Get("If-None-Match") == `W/"one"` && r.Header.Get("If-Modified-Since") == "Mon, 02 Jan 2006 15:04:05 GMT" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, "hello")
	})
	c := client(t)
	d, err := c.Document(t.Context(), fetch.Request{URL: s.URL})
	if err != nil || d.NotModified || string(d.Body) != "hello" {
		t.Fatal(d, err)
	}
	again, err := c.Document(t.Context(), fetch.Request{URL: s.URL, ETag: d.ETag, LastModified: d.LastModified})
	if err != nil || !again.NotModified || again.Body != nil || again.ETag != d.ETag || again.LastModified != d.LastModified {
		t.Error(again, err)
	}
}

func TestADoorwayReachesOnlyWhatTheClientMay(t *testing.T) {
	t.Parallel()
	forbidden := secret(t)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(sound()) }))
	t.Cleanup(s.Close)
	open := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, forbidden, http.StatusFound)
			return
		}
		_, _ = w.Write(sound())
	})
	_, names := resolving([]string{"127.0.0.2"})
	c := client(t, names)
	through := func(limit int64, address string) (status int, size int, failed error) {
		err := c.Doorway(t.Context(), limit, func(proxy string) error {
			u, err := url.Parse(proxy)
			if err != nil {
				return err
			}
			pool := x509.NewCertPool()
			pool.AddCert(s.Certificate())
			program := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u), DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
			answer, err := program.Get(address)
			if err != nil {
				failed = err
				return nil
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			status, size, failed = answer.StatusCode, len(body), err
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return status, size, failed
	}
	for _, address := range []string{open.URL, s.URL} {
		if status, size, err := through(1<<20, address); status != 200 || size != 300_000 || err != nil {
			t.Errorf("%s: %d, %d bytes, %v", address, status, size, err)
		}
		if _, size, err := through(100_000, address); err == nil || size > 200_000 {
			t.Errorf("%s: %d bytes passed, %v", address, size, err)
		}
	}
	for _, address := range []string{
		forbidden, open.URL + "/away", "http://nas.example.org:" + port(t, forbidden) + "/", "http://[::1]/", "http://169.254.169.254/", "http://2130706433/",
	} {
		if status, _, err := through(1<<20, address); status != http.StatusForbidden || err != nil {
			t.Errorf("%s: %d %v", address, status, err)
		}
		if _, _, err := through(1<<20, strings.Replace(address, "http:", "https:", 1)); err == nil || strings.HasPrefix(address, open.URL) != strings.Contains(err.Error(), "HTTP response") && !strings.Contains(err.Error(), "Forbidden") && !strings.HasPrefix(address, open.URL) {
			t.Errorf("https %s: %v", address, err)
		}
	}
}

func TestADoorwayUsesTheOperatorsProxy(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	// The operator's proxy is played by another doorway: example.com is here.
	_, here := resolving([]string{"127.0.0.1"})
	outer := client(t, here)
	var got string
	err := outer.Doorway(t.Context(), 1<<20, func(proxy string) error {
		u, err := url.Parse(proxy)
		if err != nil {
			return err
		}
		u.User = url.UserPassword("a", "b")
		_, nowhere := resolving([]string{})
		inner := client(t, nowhere, func(o *fetch.Options) { o.Proxy = u })
		return inner.Doorway(t.Context(), 1<<20, func(proxy string) error {
			u, err := url.Parse(proxy)
			if err != nil {
				return err
			}
			program := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u), DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
			answer, err := program.Get("https://example.com:" + port(t, strings.Replace(s.URL, "https", "http", 1)) + "/")
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			got = string(body)
			return err
		})
	})
	if err != nil || got != "hello" {
		t.Errorf("%q %v", got, err)
	}
}
