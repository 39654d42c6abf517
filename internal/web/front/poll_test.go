package front

import (
	"log/slog"
	"net/http"
	"net/http/httputil"
	"testing"
	"time"
)

// A poll is held for as long as nothing happens at the station: cut before the
// heartbeat, it would cost its client the session again and again.
func TestAPollIsHeldLongerThanAHeartbeat(t *testing.T) {
	const heartbeat = 25 * time.Second // socket.Options.PingInterval's default
	through, ok := Events(slog.New(slog.DiscardHandler), "127.0.0.1:1").(*httputil.ReverseProxy)
	if !ok {
		t.Fatal("events are not passed on")
	}
	way, ok := through.Transport.(*http.Transport)
	if !ok || way.ResponseHeaderTimeout < heartbeat+5*time.Second {
		t.Errorf("a poll is cut after %s", way.ResponseHeaderTimeout)
	}
}
