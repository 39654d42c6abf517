package front_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/front"
)

func TestABodyThatBreaksOffOnItsWayIsItsClientsFault(t *testing.T) {
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer control.Close()
	log, lines := testkit.Log(t)
	door := func(control string, body time.Duration) *httptest.Server {
		srv := httptest.NewServer(deadline.Handler(front.Handler(front.Options{
			Log: log, Pages: http.NotFoundHandler(),
			Control: strings.TrimPrefix(control, "http://"),
		}), body, time.Minute))
		t.Cleanup(srv.Close)
		return srv
	}
	patient, hurried, closed := door(control.URL, time.Minute), door(control.URL, 50*time.Millisecond), door("127.0.0.1:1", time.Minute)
	send := func(to *httptest.Server, rest string) net.Conn {
		conn, err := net.Dial("tcp", to.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, "POST /api/reactions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+rest); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	for name, c := range map[string]struct {
		to   *httptest.Server
		rest string
		ends bool // the client sends no more
		want int
	}{
		"a whole body":         {patient, "Content-Length: 2\r\n\r\n{}", false, 200},
		"chunks":               {patient, "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", false, 200},
		"chunks that are none": {patient, "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n", false, 400},
		"a chunk too short":    {patient, "Transfer-Encoding: chunked\r\n\r\n2\r\n{}{}\r\n0\r\n\r\n", false, 400},
		"a body that breaks":   {patient, "Content-Length: 100\r\n\r\n{}", true, 400},
		"one that never comes": {hurried, "Content-Length: 100\r\n\r\n{}", false, 408},
	} {
		conn := send(c.to, c.rest)
		if c.ends {
			_ = conn.(*net.TCPConn).CloseWrite() //nolint:forcetypeassert // it is
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != c.want {
			t.Errorf("%s: %v, %v, want %d", name, res, err, c.want)
		}
	}
	_ = send(patient, "Content-Length: 100\r\n\r\n{}").Close() // hangs up
	patient.Close()                                            // waits for its handlers
	if lines.String() != "" {
		t.Errorf("what clients do is logged:\n%s", lines.String())
	}
	res, err := http.ReadResponse(bufio.NewReader(send(closed, "Content-Length: 2\r\n\r\n{}")), nil)
	if err != nil || res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("without a control plane: %v, %v", res, err)
	}
}
