package app

import (
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/app/onedge"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	from "github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// A page that was led to this machine by its own name sends no Origin with its polls.
func TestTheSocketSeesWhoWasLedHere(t *testing.T) {
	cfg, err := config.Parse(nil, map[string]any{"sync_token": "x", "source_password": "hackmehackme"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	foreign := onedge.SocketOptions(cfg, slog.New(slog.DiscardHandler)).Foreign
	for host, want := range map[string]bool{"localhost:5000": false, "elsewhere.example:5000": true} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/socket.io/", nil)
		r.Host, r.RemoteAddr = host, "127.0.0.1:9"
		if got := foreign(r); got != want {
			t.Errorf("%s: foreign is %t", host, got)
		}
	}
}

// An operator whose own address is refused reads which setting allows it.
func TestARefusedPrivateAddressNamesItsSetting(t *testing.T) {
	cfg, err := config.Parse(nil, map[string]any{"sync_token": "x", "source_password": "hackmehackme"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	o, err := openOutward(t.Context(), cfg, slog.New(slog.DiscardHandler), db, &tape{}, nil, nil, "test")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := contentSources(cfg, "test")
	if err != nil {
		t.Fatal(err)
	}
	_, hook := o.hooks.Add(t.Context(), webhooks.Order{URL: "http://192.168.1.5/hook", Events: []string{"*"}})
	_, push := o.push.Subscribe(t.Context(), webpush.Client{Staff: true}, webpush.Order{Endpoint: "https://192.168.1.5/push"})
	_, link := sources[1].Search(t.Context(), from.Want{Category: station.English, Target: 1, Queries: []string{"http://192.168.1.5/song.mp3"}})
	for setting, err := range map[string]error{"webhooks.allow_private: true": hook, "push.allow_private: true": push, "content.networks": link} {
		if err == nil || !strings.Contains(err.Error(), "private network") || !strings.Contains(err.Error(), setting) {
			t.Errorf("%s is not named: %v", setting, err)
		}
	}
}
