package bus_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/bus/bustest"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// Whoever reaches the port can make the server complain as often as it connects.
func TestAHostilePeerDoesNotFillTheLog(t *testing.T) {
	t.Parallel()
	log, lines := testkit.Log(t)
	e, err := bus.Embed(bus.EmbedOptions{Log: log, Host: "127.0.0.1", Admit: bustest.Admit(token)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before := lines.Count()
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
	if n := lines.Count() - before; n == 0 || n > 15 {
		t.Errorf("%d lines after 120 connections", n)
	}
}
