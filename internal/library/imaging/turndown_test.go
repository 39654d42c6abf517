package imaging

import (
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/stinger"
)

// One stinger in sixty was not made: four attempts swung between too loud and too quiet,
// or encoding brought the peak back each time. These are some of them.
func TestStingersThatNoAttemptMeetsAreTurnedDown(t *testing.T) {
	for _, c := range []struct {
		design stinger.Design
		seed   uint64
	}{{stinger.Riser, 1001}, {stinger.RiserDown, 1002}, {stinger.Riser, 1014}, {stinger.Glitch, 1023}, {stinger.RiserDown, 1030}} {
		t.Run(string(c.design), func(t *testing.T) {
			t.Parallel()
			in, out := wavFile(t, stinger.Make(c.design, c.seed)), filepath.Join(t.TempDir(), "out.mp3")
			made, err := mastering.New(mastering.Options{}).Do(t.Context(), mastering.OwnJob(in, out), nil)
			if err != nil {
				t.Fatal(err)
			}
			if h := hear(t, out); h.dbtp > -1.5 {
				t.Errorf("heard with a peak of %.2f dBTP", h.dbtp)
			}
			if made.Loudness > -13.8 || made.Loudness < -15.5 {
				t.Errorf("%.1f LUFS by its short-term maximum, want -14 or somewhat under it", made.Loudness)
			}
			t.Logf("%.2f LUFS, %.2f dBTP", made.Loudness, made.TruePeak)
		})
	}
}
