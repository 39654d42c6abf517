package rotation

import (
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

func TestATracksStandingSaysWhatKeepsItOut(t *testing.T) {
	tracks := limited(library(typical(100), 1), 40, station.Limits{From: 20270101})
	x := NewIndex(tracks)
	st := State{}
	aired := tracks[1]
	st, _ = Advance(Rotation{}, st, Marker{Engine: "e", Seq: 1, Path: aired.Path, Artist: aired.Artist, Category: aired.Category, At: noon.Add(-20 * time.Minute)})
	for path, want := range map[string][]Rule{
		tracks[0].Path: {TrackLimits}, aired.Path: {JustPlayed, MinimumRest, Cooldown, FreshWindow},
	} {
		got, ok := Explain(Request{Index: x, Config: DefaultConfig(), State: st, Now: noon, Seed: 1}, path)
		for _, rule := range want {
			if !ok || !slices.Contains(got.Broken, rule) {
				t.Errorf("%s breaks %v, want %v among them", path, got.Broken, rule)
			}
		}
		if slices.Contains(got.Broken, GenreSplit) || got.Size != 65 {
			t.Errorf("%s: %+v", path, got)
		}
	}
	got, _ := Explain(Request{Index: x, Config: DefaultConfig(), State: st, Now: noon, Seed: 1}, aired.Path)
	if got.Turns != 1 || got.Before == 0 || got.Weight <= 0 {
		t.Errorf("%+v", got)
	}
	if _, ok := Explain(Request{Index: x, Config: DefaultConfig(), Now: noon}, "none.mp3"); ok {
		t.Error("a track that is not there is explained")
	}
	// What breaks nothing now is what a list may begin with.
	rot := Build(Request{Index: x, Config: DefaultConfig(), State: st, Now: noon, Seed: 1})
	if got, ok := Explain(Request{Index: x, Config: DefaultConfig(), State: st, Now: noon, Seed: 1}, rot.Entries[0].Track.Path); !ok || len(got.Broken) > 0 {
		t.Errorf("the first entry breaks %v", got.Broken)
	}
}
