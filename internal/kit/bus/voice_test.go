package bus_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/kit/bus"
)

// lines is a log that many write to.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), "\n")
}

// Whoever reaches the port can make the server complain as often as it connects.
func TestAHostilePeerDoesNotFillTheLog(t *testing.T) {
	var log lines
	e, err := bus.Embed(bus.EmbedOptions{Log: slog.New(slog.NewTextHandler(&log, nil)), Host: "127.0.0.1", Token: token})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before := log.count()
	for _, said := range []string{`CONNECT {"auth_token":"wrong"}`, "PUB", strings.Repeat("x", 5000), `CONNECT {"auth_token":`} {
		for range 30 {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(e.URL(), "nats://"))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(conn, said+"\r\n")
			_, _ = io.Copy(io.Discard, conn) // until it is put out
			_ = conn.Close()
		}
	}
	if n := log.count() - before; n == 0 || n > 15 {
		t.Errorf("%d lines after 120 connections", n)
	}
}
