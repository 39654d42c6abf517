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
	"time"

	"go.uber.org/goleak"

	"github.com/athir-radio/athir/internal/kit/deadline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// short is longer than a busy machine takes between setting a deadline and a write.
const short = 250 * time.Millisecond

// begin serves h and sends it a request by hand.
func begin(t *testing.T, h http.HandlerFunc, body, answer time.Duration, request string) net.Conn {
	t.Helper()
	srv := httptest.NewServer(deadline.Handler(h, body, answer))
	t.Cleanup(srv.Close)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
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
			ended := make(chan error, 1)
			begin(t, func(w http.ResponseWriter, _ *http.Request) { ended <- endless(c.writer(w)) }, time.Hour, c.answer, get)
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the write ended with %v", err)
			}
		})
	}
}

func TestABodyThatNeverComesIsNotWaitedFor(t *testing.T) {
	ended := make(chan error, 1)
	begin(t, func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		ended <- err
	}, short, time.Hour, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the read ended with %v", err)
	}
}

// A stream lasts longer than any deadline, and is silent for longer too.
func TestAStreamOutlastsEveryDeadline(t *testing.T) {
	const pieces = 4
	left := make(chan error, 1)
	conn := begin(t, func(w http.ResponseWriter, r *http.Request) {
		w = deadline.Writer(w, short)
		for range pieces {
			_, _ = io.WriteString(w, "x")
			if err := http.NewResponseController(w).Flush(); err != nil {
				left <- err
				return
			}
			pause, cancel := context.WithTimeout(r.Context(), 2*short)
			<-pause.Done()
			cancel()
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
}

func TestATakenOverConnectionHasNoDeadline(t *testing.T) {
	ended := make(chan error, 1)
	conn := begin(t, func(w http.ResponseWriter, r *http.Request) {
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
}
