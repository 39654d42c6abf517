package whip_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip"
)

// The page shows what is said of a presenter who says nothing; a stranger learns nothing,
// and not faster than by offers.
func TestAPageLearnsWhoseKeyItHas(t *testing.T) {
	h := open(t, func(o *whip.Options) { o.Limits = whip.Limits{Offers: 5, OfferEvery: time.Hour} })
	ask := func(key string) (int, string) {
		t.Helper()
		resp := h.ask(http.MethodGet, h.public.URL+"/whip-account", http.Header{"Authorization": {"Bearer " + key}, "X-Forwarded-For": {"203.0.113.9"}}, "")
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	if code, text := ask("sara.secret"); code != http.StatusOK || strings.TrimSpace(text) != `{"name":"sara","show":"The show of sara"}` {
		t.Errorf("%d %s", code, text)
	}
	for _, key := range []string{"sara.wrong", "sara", ""} {
		if code, text := ask(key); code != http.StatusUnauthorized || strings.Contains(text, "show") {
			t.Errorf("%q: %d %s", key, code, text)
		}
	}
	h.control.refused["omar"] = live.Admission{Code: "early", Detail: "It is too early."}
	if code, text := ask("omar.secret"); code != http.StatusForbidden || !strings.Contains(text, "early") {
		t.Errorf("%d %s", code, text)
	}
	if code, _ := ask("sara.secret"); code != http.StatusTooManyRequests {
		t.Errorf("without end: %d", code)
	}
	if n := len(h.sessions()); n != 0 {
		t.Errorf("%d sessions", n)
	}
}
