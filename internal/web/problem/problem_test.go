package problem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

// Every kind of error has one answer, on every port.
func TestEachKindHasItsAnswer(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		after  string
		detail string
	}{
		{fmt.Errorf("body: %w", ErrMalformed), 400, "", "body: not JSON"},
		{fmt.Errorf("show the key: %w", station.ErrUnauthentic), 401, "", "show the key"},
		{fmt.Errorf("closed: %w", station.ErrForbidden), 403, "", "closed"},
		{fmt.Errorf("track: %w", station.ErrNotFound), 404, "", "track: not found"},
		{fmt.Errorf("two at once: %w", station.ErrConflict), 409, "", "two at once"},
		{fmt.Errorf("body: %w", station.ErrTooLarge), 413, "", "body: too large"},
		{fmt.Errorf("name: must be given: %w", station.ErrInvalid), 422, "", "name: must be given"},
		{&client.LimitError{RetryAfter: 1500 * time.Millisecond}, 429, "2", ""},
		{fmt.Errorf("no engine: %w", station.ErrUnavailable), 503, "2", "no engine"},
		{fmt.Errorf("8 listen already: %w", station.ErrFull), 507, "", "8 listen already: no more places"},
		{context.DeadlineExceeded, 503, "2", ""},
		{errors.New("disk: secret path"), 500, "", OurFault},
		{fmt.Errorf("commit to /secret/path: %w (13)", store.ErrDiskFull), 503, "2", "the disk is full: free some space"},
		{&fs.PathError{Op: "write", Path: "/secret/path", Err: syscall.ENOSPC}, 503, "2", "the disk is full: free some space"},
		{fmt.Errorf("save: %w", syscall.EDQUOT), 503, "2", "the disk is full: free some space"},
	} {
		w := httptest.NewRecorder()
		Write(w, c.err)
		if w.Code != c.status || w.Header().Get("Retry-After") != c.after || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%v: %d, %v", c.err, w.Code, w.Header())
		}
		if c.detail != "" && !strings.Contains(w.Body.String(), fmt.Sprintf(`"status":%d,"detail":%q}`, c.status, c.detail)) {
			t.Errorf("%v: %s", c.err, w.Body)
		}
	}
}

func TestAnAnswerKeepsTheWaitItWasGiven(t *testing.T) {
	for before, want := range map[string]string{"": "2", "5": "5"} {
		w := httptest.NewRecorder()
		if before != "" {
			w.Header().Set("Retry-After", before)
		}
		Answer(w, 503, "no room")
		if got := w.Header().Get("Retry-After"); got != want {
			t.Errorf("after %q: %q", before, got)
		}
	}
}

// worded is an error with words of both languages.
type worded struct{ at time.Time }

func (worded) Error() string { return "not now" }
func (w worded) Spoken() (code, en, ar string, at time.Time) {
	return "limit", "Not now.", "ليس الآن.", w.at
}

func TestAReasonGoesWithItsError(t *testing.T) {
	at := time.UnixMilli(1772377440000)
	for want, err := range map[string]error{
		`{"title":"Conflict","status":409,"detail":"ask: not now","reason":{"code":"limit","en":"Not now.","ar":"ليس الآن.","at":1772377440000}}`: fmt.Errorf("ask: %w: %w", worded{at}, station.ErrConflict),
		`{"title":"Conflict","status":409,"detail":"not now","reason":{"code":"limit","en":"Not now.","ar":"ليس الآن."}}`:                         fmt.Errorf("%w: %w", worded{}, station.ErrConflict),
		`{"title":"Conflict","status":409,"detail":"not now"}`:                                                                                    fmt.Errorf("not now: %w", station.ErrConflict),
	} {
		w := httptest.NewRecorder()
		Write(w, err)
		if got := strings.TrimSpace(w.Body.String()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
