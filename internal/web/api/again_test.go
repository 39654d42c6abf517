package api_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/web/front"
)

// Every write that takes an id waits at the doors while the control plane is away, and no
// other: it might count twice.
func TestTheWritesThatTakeAnIDAreThoseThatWait(t *testing.T) {
	r := newRig(t)
	doc := r.json(t, "/openapi.json")
	schemas := at(doc, "components", "schemas")
	takesID := func(op any) bool {
		schema := at(op, "requestBody", "content", "application/json", "schema")
		if ref, ok := at(schema, "$ref").(string); ok {
			schema = at(schemas, strings.TrimPrefix(ref, "#/components/schemas/"))
		}
		about, _ := at(schema, "properties", "id", "description").(string)
		return strings.HasPrefix(about, "The client's own for this write")
	}
	door := front.Handler(front.Options{Log: slog.New(slog.DiscardHandler), Pages: http.NotFoundHandler(), Control: "127.0.0.1:1"})
	waits := 0
	for path, methods := range doc["paths"].(map[string]any) {
		op := at(methods, "post")
		if op == nil || strings.HasPrefix(path, "/api/station/") {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			began, w := time.Now(), httptest.NewRecorder()
			door.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(`{"id":"write-one"}`)))
			var want time.Duration
			if takesID(op) {
				want = retry.Patience
				waits++
			}
			if waited := time.Since(began); waited != want {
				t.Errorf("POST %s waits %s, want %s: answered %d", path, waited, want, w.Code)
			}
		})
	}
	if waits < 4 {
		t.Errorf("only %d writes take an id", waits)
	}
}
