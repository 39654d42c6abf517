package rotation

import (
	"testing"

	"github.com/athir-radio/athir/internal/station"
)

// breaksOf splits an air log into its imaging breaks.
func breaksOf(log []aired) (out [][]aired) {
	slot := -1
	for _, a := range log {
		if a.Slot == 0 {
			slot = -1
			continue
		}
		if slot != a.Slot {
			out, slot = append(out, nil), a.Slot
		}
		out[len(out)-1] = append(out[len(out)-1], a)
	}
	return out
}

// STOCHASTIC_SFX_CHANCE is the chance that a break with room for it holds a
// sound effect.
func TestSoundEffectsComeByTheirChance(t *testing.T) {
	x := NewIndex(library(typical(300), 1))
	for chance, want := range map[float64][2]float64{0: {0, 0}, 0.45: {0.35, 0.46}, 1: {0.7, 1}} {
		cfg := DefaultConfig()
		cfg.SFXChance = chance
		breaks := breaksOf(broadcast(x, cfg, noon, 3, 1))
		with := 0
		for _, b := range breaks {
			for _, a := range b {
				if a.Track.Category == station.SFX {
					with++
				}
			}
		}
		if share := float64(with) / float64(len(breaks)); share < want[0] || share > want[1] {
			t.Errorf("chance %.2f: a sound effect in %.2f of %d breaks, want %.2f to %.2f", chance, share, len(breaks), want[0], want[1])
		}
	}
}

// AD_EVERY is the number of entries from one ad to the next; the break it
// stands in comes a few entries later at most. 0 is none.
func TestAdsComeEverySoManyEntries(t *testing.T) {
	x := NewIndex(library(typical(300), 1))
	for _, every := range []int{0, 8, 16, 40} {
		cfg := DefaultConfig()
		cfg.AdEvery = every
		last, ads := -1, 0
		for i, a := range broadcast(x, cfg, noon, 3, 1) {
			if a.Track.Category != station.Ads {
				continue
			}
			if d := i - last; ads > 0 && (d < every || d > every+8) {
				t.Errorf("AD_EVERY %d: an ad after %d entries", every, d)
			}
			last, ads = i, ads+1
		}
		if (ads > 0) != (every > 0) {
			t.Errorf("AD_EVERY %d: %d ads", every, ads)
		}
	}
}
