package content

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// An empty mount point is not the library: a song placed in it would be all
// there is, and out of sight once the disk is back.
func TestNothingIsPlacedInTheMountPointOfADiskThatIsAway(t *testing.T) {
	l := feed(numberedIDs(station.English, 5)...)
	r := newRig(t, func(o *Options) { o.Sources = []source.Source{l} })
	r.fill(station.Mashups, 3)
	if err := r.opt.Registry.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	away := filepath.Join(r.dir, "away")
	if err := os.Rename(r.opt.Media, away); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(r.opt.Media, 0o750); err != nil {
		t.Fatal(err)
	}
	res, err := r.Fetch(t.Context(), FetchRequest{Category: station.English, Target: 5}, nil)
	if entries, _ := os.ReadDir(r.opt.Media); len(entries) != 0 || err == nil && len(res.Problems) == 0 {
		t.Errorf("%v lies there; %+v, %v", entries, res.Problems, err)
	}
	if err := os.Remove(r.opt.Media); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, r.opt.Media); err != nil {
		t.Fatal(err)
	}
	if res, err = r.Fetch(t.Context(), FetchRequest{Category: station.English, Target: 5}, nil); err != nil || res.Categories[station.English].Added != 5 {
		t.Errorf("the disk is back: %+v, %v", res, err)
	}
}
