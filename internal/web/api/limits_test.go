package api_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/web/api"
)

// standing is a clock that stands still.
func standing() time.Time { return time.Unix(1_700_000_000, 0) }

func TestRequestsOfOneAddressAreLimitedByTheRow(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) {
		o.Now = standing // no turn comes back meanwhile, however long the requests take
		o.StationKey, o.Limits = secret.Of("open-sesame"), api.Limits{Reading: 0.4, Searching: 0.3, Writing: 0.2, Operating: 0.1, Heavy: 0.05}
	})
	ask := func(method, path, from string) (int, string, string) {
		code, head, body := r.call(t, method, path, `{}`, "X-Forwarded-For", from, "Content-Type", "application/json", "X-Station-Key", "open-sesame")
		return code, head.Get("Retry-After"), body
	}
	for name, c := range map[string]struct {
		method, path, sibling string // sibling has the same limit
		turns, after          int
	}{
		"reading":   {"GET", "/api/status", "/api/upnext", 4, 3},
		"searching": {"GET", "/api/library", "/api/library?q=love", 3, 4},
		"writing":   {"POST", "/api/upnext/votes", "/api/reactions", 2, 5},
		"operating": {"GET", "/api/station/state", "/api/station/mood", 1, 10},
		"heavy":     {"POST", "/api/content/plan", "/api/bulletin/generate", 2, 20},
	} {
		from := "198.51.100.7"
		for i := range c.turns {
			if code, _, body := ask(c.method, c.path, from); code == http.StatusTooManyRequests {
				t.Fatalf("%s, request %d: %s", name, i, body)
			}
		}
		for _, path := range []string{c.path, c.sibling} {
			code, after, body := ask(c.method, path, from)
			var doc struct{ Status int }
			s, _ := strconv.Atoi(after)
			if code != http.StatusTooManyRequests || s != c.after ||
				json.Unmarshal([]byte(body), &doc) != nil || doc.Status != code {
				t.Errorf("%s to %s: %d, Retry-After %q, %s", name, path, code, after, body)
			}
		}
		if code, _, body := ask(c.method, c.path, "198.51.100.8"); code == http.StatusTooManyRequests {
			t.Errorf("%s of another address: %s", name, body)
		}
		for range 2 * c.turns { // our own programs and pages on this machine
			if code, _, body := r.call(t, c.method, c.path, `{}`, "X-Station-Key", "open-sesame"); code == http.StatusTooManyRequests {
				t.Errorf("%s of this machine: %s", name, body)
			}
		}
	}
	// Rows whose answers cost as much have the same limits.
	for _, path := range []string{"/api/content/status", "/api/telemetry/listeners?by=day", "/metrics"} {
		if code, _, _ := ask("GET", path, "198.51.100.7"); code != http.StatusTooManyRequests {
			t.Errorf("%s: %d", path, code)
		}
	}
	for range 50 {
		for _, path := range []string{"/ping", "/healthz", "/stream"} {
			if code, _, _ := ask("GET", path, "198.51.100.7"); code != http.StatusOK {
				t.Fatalf("%s: %d", path, code)
			}
		}
	}
}
