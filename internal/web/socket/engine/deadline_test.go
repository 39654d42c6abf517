package engine_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/web/socket/engine"
	"github.com/athir-radio/athir/internal/web/socket/engine/enginetest"
)

// An application's HTTP server may be strict with its own routes; sessions
// keep the engine's time.
func TestDeadlinesOfTheHTTPServerDoNotCutSessions(t *testing.T) {
	server := engine.New(engine.Options{PingInterval: 200 * time.Millisecond, PingTimeout: 10 * time.Second, CloseTimeout: 100 * time.Millisecond},
		func(s *engine.Session, _ *http.Request) engine.Receiver { return echo{s, new(record)} })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	web := httptest.NewUnstartedServer(server)
	web.Config.ReadTimeout, web.Config.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	web.Start()
	defer web.Close()
	defer func() { cancel(); <-done }()
	addr := web.Listener.Addr().String()
	enginetest.Until(t, "the server runs", func() bool {
		status, _ := enginetest.Do(t, http.MethodGet, addr, "EIO=4&transport=polling&sid=none", "")
		return status != http.StatusServiceUnavailable
	})
	p := enginetest.Poll(t, addr)
	if _, answer := p.Get(); answer != "2" { // after four times the server's patience
		t.Errorf("polled %q", answer)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "POST /?%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 10\r\n\r\n4hell", p.Query())
	time.Sleep(150 * time.Millisecond) // a slow line: past the server's deadlines, not the engine's
	_, _ = io.WriteString(conn, "o my!")
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(answer), "ok") {
		t.Errorf("post: %q, %v", answer, err)
	}
	enginetest.Until(t, "the message comes back", func() bool { _, answer := p.Get(); return answer == "4hello my!" })
}
