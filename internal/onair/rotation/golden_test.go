package rotation

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden rotations anew")

// A change of the planner shows here as a change of what goes on air.
func TestGoldenRotations(t *testing.T) {
	tracks := library(typical(300), 1)
	for name, tc := range map[string]struct {
		at   time.Time
		seed uint64
	}{
		"midday": {noon, 1}, "midday-other-seed": {noon, 2}, "overnight": {noon.Add(15 * time.Hour), 1},
	} {
		rot := Build(Request{Index: NewIndex(tracks), Config: DefaultConfig(), Now: tc.at, Seed: tc.seed})
		var b strings.Builder
		for i, e := range rot.Entries {
			fmt.Fprintf(&b, "%3d %2d %-8s %s  %s\n", i, e.Slot, e.Type, e.Track.Path, e.Why.Reason)
		}
		file := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil { //nolint:gosec // not a secret
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s is not what %s holds (go test -update writes it anew):\n%s", name, file, b.String())
		}
	}
}
