package app

import (
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
