package deadline_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// short is a deadline under the virtual clock, where no good client can miss it.
const short = 30 * time.Second

// begin serves h on the loopback interface and sends it a request by hand.
func begin(t *testing.T, h http.HandlerFunc, body, answer time.Duration, request string) net.Conn {
	t.Helper()
	srv := httptest.NewServer(deadline.Handler(h, body, answer))
	t.Cleanup(srv.Close)
	return send(t, new(net.Dialer).DialContext, srv.Listener.Addr().String(), request)
}

// virtual is begin in memory, for a bubble of testing/synctest.
func virtual(t *testing.T, h http.HandlerFunc, body, answer time.Duration, request string) net.Conn {
	t.Helper()
	memory := testkit.NewNetwork()
	srv := &http.Server{Handler: deadline.Handler(h, body, answer), ReadHeaderTimeout: time.Hour}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(memory) }() // ended by Close
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return send(t, memory.Dial, "", request)
}

func send(t *testing.T, dial func(context.Context, string, string) (net.Conn, error), addr, request string) net.Conn {
	t.Helper()
	conn, err := dial(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return conn
}

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// endless writes until a write fails.
func endless(w http.ResponseWriter) error {
	for block := make([]byte, 1<<20); ; {
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
}

func TestAClientThatNeverReadsIsCut(t *testing.T) {
	for _, c := range []struct {
		what   string
		answer time.Duration
		writer func(http.ResponseWriter) http.ResponseWriter
	}{
		{"by the deadline of the answer", short, func(w http.ResponseWriter) http.ResponseWriter { return w }},
		{"by the deadline of a write", time.Hour, func(w http.ResponseWriter) http.ResponseWriter { return deadline.Writer(w, short) }},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended, began := make(chan error, 1), time.Now()
				virtual(t, func(w http.ResponseWriter, _ *http.Request) { ended <- endless(c.writer(w)) }, time.Hour, c.answer, get)
				if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != short {
					t.Errorf("the write ended after %s with %v", time.Since(began), err)
				}
			})
		})
	}
}

func TestABodyThatNeverComesIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		virtual(t, func(_ http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			ended <- err
		}, short, time.Hour, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the read ended with %v", err)
		}
	})
}

// A stream lasts longer than any deadline, and is silent for longer too, before
// it sends what it has written and after.
func TestAStreamOutlastsEveryDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pieces = 4
		left := make(chan error, 1)
		conn := virtual(t, func(w http.ResponseWriter, r *http.Request) {
			w = deadline.Writer(w, short)
			for range pieces {
				_, _ = io.WriteString(w, "x")
				silent(r)
				if err := http.NewResponseController(w).Flush(); err != nil {
					left <- err
					return
				}
				silent(r)
			}
			left <- context.Cause(r.Context())
		}, short, short, "GET / HTTP/1.0\r\n\r\n")
		answer, err := io.ReadAll(conn)
		if cause := <-left; cause != nil || err != nil {
			t.Fatalf("the stream ended with %v, the client with %v", cause, err)
		}
		if n := len(answer); n < pieces || string(answer[n-pieces:]) != "xxxx" {
			t.Errorf("the client got %q", answer)
		}
	})
}

// silent lets two deadlines pass, or the client leave.
func silent(r *http.Request) {
	pause, cancel := context.WithTimeout(r.Context(), 2*short)
	defer cancel()
	<-pause.Done()
}

func TestATakenOverConnectionHasNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		conn := virtual(t, func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				ended <- err
				return
			}
			defer conn.Close() //nolint:errcheck // the test is over
			pause, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 2*short)
			<-pause.Done()
			cancel()
			_, err = io.WriteString(conn, "still here")
			ended <- err
		}, short, short, get)
		got, err := io.ReadAll(conn)
		if cause := <-ended; cause != nil || err != nil || string(got) != "still here" {
			t.Errorf("write: %v, read: %q, %v", cause, got, err)
		}
	})
}
