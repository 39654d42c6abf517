package api_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
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
