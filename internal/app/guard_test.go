package app

import (
	"testing"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/live/desk/bus"
)

// The guard cuts a live source off only after the live desk would have ended it: a muted
// presenter's minute is the desk's, and so is the hole that a show may hold the air for.
func TestTheGuardIsMorePatientThanTheLiveDesk(t *testing.T) {
	cfg, _, err := config.Load(config.Source{DataDir: t.TempDir()})
	must(t, err)
	longest := max(bus.MutedAfter, bus.SilentAfter) + bus.LostAfter
	if patience := inSeconds(cfg.Guard.LiveSilenceSeconds); patience <= longest {
		t.Errorf("a live source may be silent for %s, and the desk takes %s", patience, longest)
	}
}
