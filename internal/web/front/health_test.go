package front_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/web/front"
)

// A process that cannot do its work says so at /healthz, and is not restarted for it.
func TestAnEdgeWithoutTheBusIsUnhealthyAndAlive(t *testing.T) {
	problem := ""
	h := front.Handler(front.Options{Log: slog.New(slog.DiscardHandler), Pages: http.NotFoundHandler(), Control: "127.0.0.1:1", Problem: func() string { return problem }})
	ask := func(path string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	if code, _ := ask("/healthz"); code != http.StatusOK {
		t.Errorf("all is well: %d", code)
	}
	problem = "the bus refuses our password"
	if code, body := ask("/healthz"); code != http.StatusServiceUnavailable || !strings.Contains(body, problem) {
		t.Errorf("a wrong password: %d %s", code, body)
	}
	if code, _ := ask(front.LivePath); code != http.StatusOK {
		t.Errorf("its supervisor would kill it: %d", code)
	}
}
