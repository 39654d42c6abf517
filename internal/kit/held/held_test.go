package held_test

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/held"
)

// An answer keeps its status, header and body, and takes nothing that it has no room for.
func TestAnAnswerIsKeptWithinItsBound(t *testing.T) {
	head := http.Header{}
	a := held.New(head, 5)
	if a.Status != http.StatusOK {
		t.Errorf("status %d before any is written", a.Status)
	}
	http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Word", "heard")
		w.WriteHeader(http.StatusAccepted)
		if _, err := io.WriteString(w, "whole"); err != nil {
			t.Error(err)
		}
		if _, err := io.WriteString(w, "!"); !errors.Is(err, http.ErrContentLength) {
			t.Errorf("a byte more: %v", err)
		}
	}).ServeHTTP(a, nil)
	if a.Status != http.StatusAccepted || a.Body.String() != "whole" || head.Get("X-Word") != "heard" {
		t.Errorf("status %d, body %q, header %v", a.Status, &a.Body, head)
	}
}

// A question is on behalf of who asked, and has nothing else of theirs.
func TestAQuestionTellsWhomItIsFrom(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "http://radio.example/page?x=1", strings.NewReader("body"))
	r.RemoteAddr = "192.0.2.7:1"
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "Cookie", "Authorization", "X-Station-Key", "If-None-Match", "Range"} {
		r.Header.Set(name, "sent")
	}
	got := held.Ask(t.Context(), r, http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		if asked.Method != http.MethodGet || asked.URL.String() != "/api/x" || asked.Host != "radio.example" || asked.RemoteAddr != "192.0.2.7:1" || asked.Body != nil {
			t.Errorf("%s %s of %s for %s", asked.Method, asked.URL, asked.Host, asked.RemoteAddr)
		}
		if want := (http.Header{"X-Forwarded-For": {"sent"}, "X-Forwarded-Proto": {"sent"}}); !maps.EqualFunc(asked.Header, want, slices.Equal[[]string]) {
			t.Errorf("headers %v", asked.Header)
		}
		w.WriteHeader(http.StatusTeapot)
	}), "/api/x", 5)
	if got.Status != http.StatusTeapot {
		t.Errorf("status %d", got.Status)
	}
}
