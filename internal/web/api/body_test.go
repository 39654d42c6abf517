package api_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/web/api"
)

// What the client does wrong below HTTP's own framing is not our fault either.
func TestBodiesThatBreakOffAreTheClientsFault(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]struct {
		rest string
		want int
	}{
		"chunks that are none":  {"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n", 400},
		"a chunk too short":     {"Transfer-Encoding: chunked\r\n\r\n2\r\n{}{}\r\n0\r\n\r\n", 400},
		"a body that breaks":    {"Content-Length: 100\r\n\r\n{}", 400},
		"as long as is allowed": {fmt.Sprintf("Content-Length: %d\r\n\r\n%s", 64<<10, strings.Repeat(" ", 64<<10)), 413},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /api/upnext/votes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s", c.rest)
		_ = conn.(*net.TCPConn).CloseWrite()
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != c.want {
			t.Errorf("%s: %v, %v", name, res, err)
		}
		_ = conn.Close()
	}
}

// A client that sends all of its body before it reads, and wants the connection
// closed: closed with bytes unread it is reset, and the answer is lost.
func TestARefusalReachesWhoStillSendsABody(t *testing.T) {
	rig := newRigWith(t, func(o *api.Options) { o.StationKey, o.Limits = secret.Of("the key"), api.Limits{Heavy: 0.001} })
	srv := httptest.NewServer(deadline.Handler(rig.Config.Handler, time.Minute, time.Minute))
	t.Cleanup(srv.Close)
	sendWhole(t, srv.Listener.Addr().String(), "POST /api/station/content/fetch HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 0\r\n\r\n", 0) // its only turn
	for name, c := range map[string]struct {
		route, header string
		want          int
	}{
		"too large":    {"POST /api/upnext/votes", "", 413},
		"no key":       {"PUT /api/station/config", "", 401},
		"another site": {"POST /api/reactions", "Origin: https://elsewhere.example\r\nSec-Fetch-Site: cross-site\r\n", 403},
		"too many":     {"POST /api/station/content/fetch", "X-Forwarded-For: 192.0.2.1\r\n", 429},
		"no route":     {"POST /api/nowhere", "", 404},
		"no method":    {"DELETE /api/status", "", 405},
	} {
		for _, size := range []int{1 << 20, 4 << 20} {
			for _, framing := range []string{fmt.Sprintf("Content-Length: %d\r\n\r\n", size), fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", size)} {
				head := fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n%s%s", c.route, c.header, framing)
				if got := sendWhole(t, srv.Listener.Addr().String(), head, size); got != c.want {
					t.Errorf("%s, %d bytes, %.14s: got %d, want %d", name, size, framing, got, c.want)
				}
			}
		}
	}
}

// sendWhole sends a request and its body before it reads, and returns the status.
func sendWhole(t *testing.T, address, head string, size int) int {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // only read
	body := strings.Repeat(" ", size)
	if strings.Contains(head, "chunked") {
		body += "\r\n0\r\n\r\n"
	}
	if _, err := conn.Write([]byte(head + body)); err != nil {
		return -1
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return -2
	}
	return res.StatusCode
}
