package api_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/api"
)

func TestNetworkTestsAreFewAtOnce(t *testing.T) {
	r := newRig(t)
	const path = "/network-test-payload?bytes=16777216" // more than the kernel buffers
	var busy []*http.Response
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for range 8 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d", resp.StatusCode)
		}
		busy = append(busy, resp)
	}
	code, head, _ := r.call(t, "GET", path, "")
	if code != http.StatusServiceUnavailable || head.Get("Retry-After") == "" {
		t.Errorf("the ninth: %d, Retry-After %q", code, head.Get("Retry-After"))
	}
	_ = busy[0].Body.Close()
	testkit.Eventually(t, "a place that was left is given again", func() bool {
		code, _, _ := r.call(t, "GET", "/network-test-payload?bytes=1", "")
		return code == http.StatusOK
	})
}

func TestAnAddressHasOneNetworkTest(t *testing.T) {
	r := newRig(t)
	first, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL+"/network-test-payload?bytes=16777216", nil)
	if err != nil {
		t.Fatal(err)
	}
	first.Header.Set("X-Forwarded-For", "2001:db8:1:1::1")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	busy, err := transport.RoundTrip(first)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Body.Close() //nolint:errcheck // only read
	for address, want := range map[string]int{"2001:db8:1:1::2": 429, "2001:db8:1:2::1": 429, "2001:db8:2:1::1": 200, "198.51.100.7": 200} {
		code, head, _ := r.call(t, "GET", "/network-test-payload?bytes=1", "", "X-Forwarded-For", address)
		if code != want || (code == 429) != (head.Get("Retry-After") != "") {
			t.Errorf("%s: %d, Retry-After %q", address, code, head.Get("Retry-After"))
		}
	}
	_ = busy.Body.Close()
	testkit.Eventually(t, "the place is given again", func() bool {
		code, _, _ := r.call(t, "GET", "/network-test-payload?bytes=1", "", "X-Forwarded-For", "2001:db8:1:1::1")
		return code == http.StatusOK
	})
}

// Who always takes a little would keep its place for an hour and more.
func TestANetworkTestEndsAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := testkit.NewNetwork()
		srv := &http.Server{Handler: api.NetworkTest(), ReadHeaderTimeout: time.Hour}
		go func() { _ = srv.Serve(memory) }()
		defer srv.Close() //nolint:errcheck // its listener is gone with it
		conn, err := memory.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // only read
		began := time.Now()
		if _, err := io.WriteString(conn, "GET /?bytes=16777216 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		for err == nil && time.Since(began) < 10*time.Minute {
			time.Sleep(4 * time.Second) // of the ten that a block may take
			_, err = io.ReadFull(conn, make([]byte, 32<<10))
		}
		if took := time.Since(began); err == nil || took < time.Minute || took > 70*time.Second {
			t.Errorf("ended after %s: %v", took, err)
		}
	})
}
