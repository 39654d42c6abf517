package fetch_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestAMessageIsSentOnceAndFollowsNoRedirect(t *testing.T) {
	var asked atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || string(body) != "أثير" || r.Header.Get("X-A") != "b" || r.UserAgent() != "athir/1.2.3" {
			t.Errorf("%s %q %v", r.Method, body, r.Header)
		}
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case "/busy":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/long":
			_, _ = w.Write(make([]byte, 100_000))
		}
	})
	c := client(t)
	send := func(path string) fetch.Answer {
		t.Helper()
		a, err := c.Send(t.Context(), fetch.Sending{URL: s.URL + path, Header: http.Header{"X-A": {"b"}}, Body: []byte("أثير"), Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := send("/moved"); a.Status != http.StatusTemporaryRedirect || asked.Load() != 1 {
		t.Errorf("%d after %d requests", a.Status, asked.Load())
	}
	if a := send("/busy"); a.Status != http.StatusServiceUnavailable || a.RetryAfter != 7*time.Second || asked.Load() != 2 {
		t.Errorf("%+v after %d requests", a, asked.Load())
	}
	if a := send("/long"); a.Status != http.StatusOK || len(a.Body) != 10 {
		t.Errorf("%d, %d bytes", a.Status, len(a.Body))
	}
}

func TestAMessageToAForbiddenAddressIsNotSent(t *testing.T) {
	c := client(t)
	for _, url := range []string{"http://127.0.0.2/", "http://[::1]/", "http://169.254.169.254/latest", "ftp://127.0.0.1/", "http://user@127.0.0.1/"} {
		_, err := c.Send(t.Context(), fetch.Sending{URL: url})
		if !errors.As(err, new(*fetch.BlockedError)) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestAMessageDoesNotWaitForeverForItsAnswer(t *testing.T) {
	c := client(t)
	for name, answer := range map[string]func(net.Conn){
		"silent":  func(net.Conn) {},
		"endless": func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf") },
	} {
		done := make(chan struct{})
		at := raw(t, func(_ int, _ string, c net.Conn) { answer(c); <-done })
		_, err := c.Send(t.Context(), fetch.Sending{URL: at, Timeout: 50 * time.Millisecond, Limit: 100})
		close(done)
		if !errors.As(err, new(*fetch.TimeoutError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeptConnectionsServeTheNextMessage(t *testing.T) {
	var from sync.Map
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		from.Store(r.RemoteAddr, true)
		w.WriteHeader(http.StatusCreated)
	})
	c := client(t, func(o *fetch.Options) { o.Keep = time.Minute })
	t.Cleanup(c.Close)
	// On a busy machine net/http gives up one or another: then five more are sent.
	testkit.EventuallyNil(t, "five messages over one connection", func() error {
		from.Clear()
		for range 5 {
			if _, err := c.Send(t.Context(), fetch.Sending{URL: s.URL}); err != nil {
				t.Fatal(err)
			}
		}
		opened := 0
		from.Range(func(any, any) bool { opened++; return true })
		if opened != 1 {
			return fmt.Errorf("%d connections for 5 messages", opened)
		}
		return nil
	})
}
