package app

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/onnode"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/streams"
)

func TestStreamListenersAreLimitedByTheirOwnAddress(t *testing.T) {
	cfg := &config.Config{Stream: config.Stream{MaxListeners: 10, MaxPerAddress: 1}}
	opt := streamOptions(cfg, slog.New(slog.DiscardHandler), onnode.NewHolder(cfg, nil), nil)
	opt.Wait = time.Minute // the listeners are there while they wait for the stream
	fan := streams.New(opt, streams.Main(opt, nil), nil)
	ask := func(ctx context.Context, from string) string {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/stream", nil)
		r.RemoteAddr = "127.0.0.1:1" // the player, or another proxy here
		r.Header.Set("X-Forwarded-For", from)
		w := httptest.NewRecorder()
		fan.Main.ServeHTTP(w, r)
		return w.Body.String()
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan string, 1)
	go func() { first <- ask(ctx, "2001:db8::1") }()
	testkit.Eventually(t, "the first listener gets in", func() bool { return fan.Listeners() == 1 })
	const full = "too many connections from this address"
	if got := ask(ctx, "2001:db8::2"); !strings.Contains(got, full) {
		t.Errorf("a second listener of one network: %q", got)
	}
	other := make(chan string, 1)
	go func() { other <- ask(ctx, "2001:db8:0:1::1") }()
	testkit.Eventually(t, "a listener of another network gets in", func() bool { return fan.Listeners() == 2 })
	cancel()
	<-first
	<-other
}

// A station that anybody may steer says so at each start.
func TestAStationWithoutAKeyWarnsAtEachStart(t *testing.T) {
	for _, key := range []string{"", "secret"} {
		log, lines := testkit.Log(t)
		file := filepath.Join(t.TempDir(), "file") // no folder: the start ends at once
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := &config.Config{DataDir: filepath.Join(file, "data"), StationKey: key, Open: key == ""}
		if err := Control(t.Context(), role.Role{Name: "control", Version: "test", Config: cfg, Log: log}); err == nil {
			t.Fatal("a control plane without a data folder started")
		}
		if warned := strings.Contains(lines.String(), "the station has no key"); warned != (key == "") {
			t.Errorf("with the key %q it warned: %v\n%s", key, warned, lines.String())
		}
	}
}
