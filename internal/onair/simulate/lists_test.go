package simulate

import (
	"testing"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// The judge, which shares no rule with the planner, finds nothing broken in weeks with playlists of
// every kind and with trouble, but for cadences that a playlist's imaging counts towards.
func TestWeeksWithPlaylistsBreakNoRule(t *testing.T) {
	for seed := range uint64(3) {
		library, names := Synthetic(400, seed)
		some := func(c station.Category, n int) (paths []string) {
			for _, track := range library {
				if track.Category == c && len(paths) < n {
					paths = append(paths, track.Path)
				}
			}
			return paths
		}
		evening := []rotation.Window{{Start: 20 * 60, End: 22 * 60}}
		lists := []rotation.List{
			{ID: 1, Name: "jazz", Paths: some(station.English, 60), Order: rotation.OrderTurns, Plays: rotation.PlaysOnly, When: evening},
			{ID: 2, Name: "story", Paths: some(station.ArabicHits, 9), Order: rotation.OrderSequence, Plays: rotation.PlaysOnce, When: []rotation.Window{{Start: 15 * 60, End: 16 * 60}}},
			{ID: 3, Name: "fresh", Paths: some(station.ArabicHits, 120), Order: rotation.OrderShuffle, Plays: rotation.PlaysShare, Share: 0.2, When: []rotation.Window{{Start: 6 * 60, End: 12 * 60}}},
			{ID: 4, Name: "old", Paths: some(station.Mashups, 20), Order: rotation.OrderSequence, Plays: rotation.PlaysSongs, Every: 9, When: []rotation.Window{{Start: 12 * 60, End: 15 * 60}}},
			{ID: 5, Name: "idents", Paths: some(station.Sweepers, 6), Order: rotation.OrderSequence, Plays: rotation.PlaysHourly, Minute: 30},
		}
		res, err := Run(Options{
			Library: library, Config: rotation.DefaultConfig(), Days: 7, Seed: seed, Zone: zone(t), Lists: lists,
			Trouble: Trouble{Skip: 6, Play: 3, Restart: 3, Live: 1, Boot: 1, Late: 3},
		})
		if err != nil {
			t.Fatal(err)
		}
		v := Judge(res, rotation.DefaultConfig(), names)
		for _, f := range v.Findings {
			if f.Fault != NewsCadence && f.Fault != BreakLength && f.Fault != JingleSpacing && f.Fault != AdCadence && f.Fault != Supplement {
				t.Errorf("seed %d: %s", seed, f)
			}
		}
		aired := map[int64]int{}
		for _, a := range res.Log {
			aired[a.List]++
		}
		for _, l := range lists {
			if aired[l.ID] < 20 {
				t.Errorf("seed %d: playlist %s aired %d times", seed, l.Name, aired[l.ID])
			}
		}
		t.Logf("seed %d: %d entries, %v; timed %d of %d; %v; rebuilds %v", seed, len(res.Log), aired, v.Hit, v.Due, v.Violations, res.Rebuilds)
	}
}
