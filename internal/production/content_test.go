package production

import (
	"errors"
	"testing"

	"github.com/athir-radio/athir/internal/library/imaging"
)

// A refresh reports each reason once, with how many files it cost.
func TestImagingThatFailedIsTold(t *testing.T) {
	voice, cut := errors.New("no voice is installed"), errors.New("song too short to cut")
	got := failures([]imaging.Failure{
		{Kind: imaging.Sweeper, Err: voice}, {Kind: imaging.SongDrop, Err: cut}, {Kind: imaging.Sweeper, Err: voice},
		{Kind: imaging.Sweeper, Err: cut}, {Kind: imaging.Stinger, Design: "RISER", Err: cut},
	})
	want := []string{
		"2 of " + string(imaging.Sweeper) + " not made: no voice is installed", "1 of " + string(imaging.SongDrop) + " not made: song too short to cut",
		"1 of " + string(imaging.Sweeper) + " not made: song too short to cut", "1 of RISER not made: song too short to cut",
	}
	if len(got) != len(want) || failures(nil) != nil {
		t.Fatalf("%v", got)
	}
	for i, err := range got {
		if err.Error() != want[i] {
			t.Errorf("%q, want %q", err, want[i])
		}
	}
	if !errors.Is(got[0], voice) {
		t.Error("the cause is lost")
	}
}
