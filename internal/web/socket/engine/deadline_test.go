package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/web/socket/engine"
	"github.com/athir-radio/athir/internal/web/socket/engine/enginetest"
)

// An application's HTTP server may be strict with its own routes; sessions
// keep the engine's time.
func TestDeadlinesOfTheHTTPServerDoNotCutSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := newEcho(engine.Options{})
		host, _ := enginetest.ServeVirtual(t, server, &http.Server{ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second})
		p := enginetest.Poll(t, host)
		if _, answer := p.Get(); answer != "2" { // after five times the server's patience
			t.Errorf("polled %q", answer)
		}
		conn := host.Connect(t)
		_, _ = fmt.Fprintf(conn, "POST /?%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 10\r\n\r\n4hell", p.Query())
		time.Sleep(15 * time.Second) // a slow line: past the server's deadlines, not the engine's
		_, _ = io.WriteString(conn, "o my!")
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(answer), "ok") {
			t.Errorf("post: %q, %v", answer, err)
		}
		if _, answer := p.Get(); answer != "4hello my!" {
			t.Errorf("polled %q", answer)
		}
	})
}
