package app

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/strain"
	"github.com/athir-radio/athir/internal/node/playout"
)

// With guard.kills off the watchdogs have a reason to spare every program, and name the
// setting; with it on and room on the disk they have none.
func TestOperatorsMayForbidKills(t *testing.T) {
	cfg := &config.Config{DataDir: t.TempDir()}
	around := (&node{cfg: cfg, gauge: strain.New()}).around()
	if why := around.Hold(); !strings.Contains(why, "guard.kills") {
		t.Errorf("kills are off, and a program is spared because %q", why)
	}
	cfg.Guard.Kills = true
	if why := around.Hold(); why != "" {
		t.Errorf("kills are on, and a program is spared because %q", why)
	}
}

// The engine sleeps when the clock is set back, and is the only program that does.
func TestTheEngineIsStartedAgainWhenTheClockIsSetBack(t *testing.T) {
	for _, p := range (&node{cfg: &config.Config{}}).programs(true) {
		if p.PacedByWall != (p.Name == playout.Program) {
			t.Errorf("%s is paced by the wall clock: %v", p.Name, p.PacedByWall)
		}
	}
}

// How long the bridge has run is asked of the clock that only runs: after the wall clock was
// set back by an hour a bridge that hangs would be left alone for an hour.
func TestTheBridgesAgeIsThatOfTheMonotonicClock(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"icestats":{"source":{"listenurl":"http://localhost/main","server_type":"application/ogg"}}}`)
	}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	must(t, err)
	cfg := &config.Config{}
	cfg.Ports.Icecast, err = strconv.Atoi(port)
	must(t, err)
	n := &node{cfg: cfg, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, sockets: t.TempDir()}
	_, err = n.bridge().Prepare(t.Context())
	must(t, err)
	if began := *n.bridged.Load(); began == began.Round(0) { // which strips the monotonic clock
		t.Errorf("the bridge began at %s, of the wall clock alone", began)
	}
}
