package held_test

import (
	"errors"
	"io"
	"net/http"
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
