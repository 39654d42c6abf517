package fetch_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// A stream is held to the rules of a document, and is had in parts where that was asked for.
func TestAStreamIsHeldToTheRules(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		case "/moved":
			http.Redirect(w, r, "/file", http.StatusFound)
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, "0123456789")
			_ = z.Close()
		case "/unasked":
			w.WriteHeader(http.StatusPartialContent)
		case "/file":
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("0123456789"))
		default:
			http.NotFound(w, r)
		}
	})
	c := client(t)
	for _, one := range []struct {
		path, part, want string
		status           int
		size             int64
	}{{"/file", "", "0123456789", 200, 10}, {"/file", "bytes=2-4", "234", 206, 3}, {"/moved", "bytes=8-", "89", 206, 2}, {"/packed", "", "0123456789", 200, -1}} {
		var got []byte
		err := c.Stream(t.Context(), fetch.Request{URL: s.URL + one.path, Range: one.part}, func(s fetch.Stream) (err error) {
			if s.Status != one.status || s.Size != one.size || !strings.HasSuffix(s.URL, strings.Replace(one.path, "moved", "file", 1)) {
				t.Errorf("%s: %d, %d bytes from %s", one.path, s.Status, s.Size, s.URL)
			}
			got, err = io.ReadAll(s.Body)
			return err
		})
		if err != nil || string(got) != one.want {
			t.Errorf("%s: %q %v", one.path, got, err)
		}
	}
	for path, want := range map[string]any{"/away": new(*fetch.BlockedError), "/none": new(*fetch.StatusError), "/unasked": new(*fetch.StatusError)} {
		err := c.Stream(t.Context(), fetch.Request{URL: s.URL + path}, func(fetch.Stream) error { t.Errorf("%s is used", path); return nil })
		if !errors.As(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := fetch.New(fetch.Options{}).Stream(t.Context(), fetch.Request{URL: s.URL}, nil); !errors.As(err, new(*fetch.BlockedError)) {
		t.Errorf("loopback: %v", err)
	}
}

// Each segment by a new connection would cost round trips, of TLS above all.
func TestAClientThatKeepsUsesOneConnection(t *testing.T) {
	t.Parallel()
	var made atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := client(t).Keeping(time.Minute)
	t.Cleanup(c.Close)
	// On a busy machine net/http gives up one or another: then three more are had.
	testkit.EventuallyNil(t, "three streams over one connection", func() error {
		before := made.Load()
		for range 3 {
			err := c.Stream(t.Context(), fetch.Request{URL: s.URL}, func(s fetch.Stream) error {
				_, err := io.Copy(io.Discard, s.Body)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if opened := made.Load() - before; opened > 1 {
			return fmt.Errorf("%d connections for 3 streams", opened)
		}
		return nil
	})
}

// A key goes to the address that it was given for, and nowhere else.
func TestACallersHeaderDoesNotFollowARedirectElsewhere(t *testing.T) {
	var seen []string
	note := func(where string, r *http.Request) {
		seen = append(seen, where+" "+r.Header.Get("X-Api-Key")+" "+r.Header.Get("Accept"))
	}
	other := serve(t, func(w http.ResponseWriter, r *http.Request) { note("other", r) })
	own := serve(t, nil)
	own.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note("own", r)
		switch r.URL.Path {
		case "/a":
			http.Redirect(w, r, "/b", http.StatusFound)
		case "/b":
			http.Redirect(w, r, other.URL, http.StatusFound)
		}
	})
	_, err := client(t).Document(t.Context(), fetch.Request{URL: own.URL + "/a", Accept: "text/x", Header: http.Header{"X-Api-Key": {"secret"}}})
	if want := []string{"own secret text/x", "own secret text/x", "other  text/x"}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("%q, %v", seen, err)
	}
}
