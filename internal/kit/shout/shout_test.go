package shout

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// server answers one request on its end of a connection, after a while.
func server(answer string, after time.Duration) (client net.Conn, end func(), asked <-chan *http.Request) {
	ours, theirs := net.Pipe()
	requests := make(chan *http.Request, 1)
	go func() {
		r, err := http.ReadRequest(bufio.NewReader(theirs))
		if err != nil {
			return
		}
		requests <- r
		time.Sleep(after)
		_, _ = io.WriteString(theirs, answer)
	}()
	return ours, func() { _, _ = ours.Close(), theirs.Close() }, requests
}

const wait = 5 * time.Second

// A name with a line break adds no header of its own, and the connection is free afterwards.
func TestALoginIsOneRequestAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// A server of HTTP/1.1 says nothing more, and does not close.
		conn, end, asked := server("HTTP/1.1 200 OK\r\n\r\n", wait-1)
		defer end()
		header := http.Header{"Content-Type": {"audio/webm"}, "Ice-Name": {"أثير\r\nIce-Public: 1"}}
		if err := Enter(t.Context(), conn, wait, "/studio", "sesame", header); err != nil {
			t.Fatal(err)
		}
		r := <-asked
		user, password, _ := r.BasicAuth()
		if r.Method != "SOURCE" || r.RequestURI != "/studio" || user != "source" || password != "sesame" || r.Header.Get("Content-Type") != "audio/webm" {
			t.Errorf("%s %s of %s with %q, %v", r.Method, r.RequestURI, user, password, r.Header)
		}
		if name := r.Header.Get("Ice-Name"); !strings.HasPrefix(name, "أثير") || r.Header.Get("Ice-Public") != "" {
			t.Errorf("named %q, %v", name, r.Header)
		}
		reading := make(chan error, 1)
		go func() {
			_, err := conn.Read(make([]byte, 1))
			reading <- err
		}()
		time.Sleep(2 * wait)
		end()
		if err := <-reading; errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("the deadline of the login ends the audio")
		}
	})
}

func TestAServerThatStandsStillOrRefuses(t *testing.T) {
	ok := "HTTP/1.0 200 OK\r\n\r\n"
	for name, c := range map[string]struct {
		answer string
		after  time.Duration
		cancel time.Duration
		want   string
		took   time.Duration
	}{
		"says nothing":            {ok, 2 * wait, time.Hour, os.ErrDeadlineExceeded.Error(), wait},
		"and the caller gives up": {ok, 2 * wait, time.Second, context.DeadlineExceeded.Error(), time.Second},
		"refuses":                 {"HTTP/1.0 403 Mountpoint in use\r\n\r\n", 0, time.Hour, "answered 403 Mountpoint in use: is the password", 0},
		"speaks no HTTP":          {"hello\r\n\r\n", 0, time.Hour, "malformed HTTP response", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, end, _ := server(c.answer, c.after)
				defer end()
				ctx, cancel := context.WithTimeout(t.Context(), c.cancel)
				defer cancel()
				begun := time.Now()
				err := Enter(ctx, conn, wait, "/studio", "sesame", nil)
				if took := time.Since(begun); err == nil || !strings.Contains(err.Error(), c.want) || took != c.took {
					t.Errorf("%v after %s", err, took)
				}
				time.Sleep(c.after) // until the server has ended
			})
		})
	}
}
