package rotation

import (
	"testing"

	"github.com/athir-radio/athir/internal/station"
)

// Rebuilds come every hundred entries: what is rarer is counted across them.
func TestWhatComesRarelyIsCountedAcrossRebuilds(t *testing.T) {
	cfg := DefaultConfig()
	cfg.AdEvery = 150
	cfg.Rotation.SigJingleMinSlots, cfg.Rotation.SigJingleMaxSlots = 40, 40
	log := broadcast(NewIndex(library(typical(300), 1)), cfg, noon, 3, 9)
	since, breaks, inBreak := 0, 0, false
	for i, a := range log {
		since++
		if in := a.Slot > 0; in && !inBreak {
			breaks++
		}
		inBreak = a.Slot > 0
		switch a.Track.Category {
		case station.Ads:
			if since > 158 {
				t.Errorf("entry %d: an ad after %d entries", i, since)
			}
			since = 0
		case station.Jingles:
			if breaks > 41 {
				t.Errorf("entry %d: a signature jingle after %d breaks", i, breaks)
			}
			breaks = 0
		}
	}
	if since > 158 || breaks > 41 {
		t.Errorf("%d entries without an ad, %d breaks without a signature jingle at the end", since, breaks)
	}
}
