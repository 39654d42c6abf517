package api_test

import (
	"net/http"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
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
