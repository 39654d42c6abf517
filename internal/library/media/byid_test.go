package media_test

import (
	"fmt"
	"testing"

	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/station"
)

func TestTracksAreFoundByTheirIds(t *testing.T) {
	var s media.Snapshot
	for i := range 300 {
		s.Tracks = append(s.Tracks, station.Track{Path: fmt.Sprintf("english/%03d\xff.mp3", i)})
	}
	for _, kept := range []bool{false, true} {
		if kept {
			s.Succeed(nil)
		}
		for _, want := range s.Tracks {
			if got, there := s.ByID(station.TrackID(want.Path)); !there || got.Path != want.Path {
				t.Fatalf("%q: %q %v", want.Path, got.Path, there)
			}
		}
		if _, there := s.ByID(station.TrackID("none.mp3")); there {
			t.Error("a track that there is not is found")
		}
	}
}
