package deadline_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// refusing answers without a look at the body.
func refusing(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }

// A client that sends all of its body before it reads, and wants the connection
// closed.
func TestARefusalReachesWhoIsStillSending(t *testing.T) {
	const size = 4 << 20
	body := strings.Repeat("x", size)
	for name, c := range map[string]struct{ head, body string }{
		"with a length": {fmt.Sprintf("Content-Length: %d\r\n\r\n", size), body},
		"in chunks":     {"Transfer-Encoding: chunked\r\n\r\n", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, body)},
	} {
		for what, h := range map[string]http.HandlerFunc{
			"unread": refusing,
			"begun": func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.CopyN(io.Discard, r.Body, 64<<10)
				refusing(w, r)
			},
			"closed": func(w http.ResponseWriter, r *http.Request) {
				_ = r.Body.Close()
				if n, err := r.Body.Read(make([]byte, 1)); n != 0 || err == nil {
					t.Error("a closed body can be read")
				}
				refusing(w, r)
			},
			"with a long answer": func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, strings.Repeat("no ", 10_000), http.StatusForbidden)
			},
		} {
			conn := begin(t, h, time.Minute, time.Minute, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+c.head+c.body)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || res.StatusCode != http.StatusForbidden {
				t.Errorf("%s, %s: %v, %v", name, what, res, err)
				continue
			}
			if said, err := io.ReadAll(res.Body); err != nil || !strings.HasPrefix(string(said), "no") {
				t.Errorf("%s, %s: %d bytes, %v", name, what, len(said), err)
			}
		}
	}
}

func TestWhoAsksBeforeSendingIsNotToldToSend(t *testing.T) {
	conn := begin(t, refusing, time.Minute, time.Minute, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 403") {
		t.Errorf("%q, %v", line, err)
	}
}

func TestAnEndlessBodyIsNotReadForEver(t *testing.T) {
	conn := begin(t, refusing, time.Minute, time.Minute, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat("x", 64<<10))
	for {
		if _, err := io.WriteString(conn, chunk); err != nil {
			return // or the test never ends
		}
	}
}

// The bytes of a taken-over connection are its new owner's, whatever the request
// said of a body.
func TestATakenOverConnectionIsNotReadFrom(t *testing.T) {
	got, returned := make(chan string, 1), make(chan struct{})
	conn := begin(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(returned)
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			defer conn.Close() //nolint:errcheck // only read
			all, _ := io.ReadAll(buffered)
			got <- string(all)
		}()
	}, time.Minute, time.Minute, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n")
	<-returned
	if _, err := io.WriteString(conn, "hello world"); err != nil {
		t.Fatal(err)
	}
	_ = conn.(interface{ CloseWrite() error }).CloseWrite() //nolint:forcetypeassert // TCP
	if all := <-got; all != "hello world" {
		t.Errorf("the new owner got %q", all)
	}
}
