package content

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// A file that is on the air, or about to be, follows into the archive after it, on a station
// that never refreshes its content too. One that was brought back meanwhile stays.
func TestWhatIsOnTheAirIsArchivedAfterIt(t *testing.T) {
	r := newRig(t)
	r.lateEvery = 5 * time.Millisecond
	r.fill(station.English, 120)
	r.air.turn()
	r.air.turn()
	planned, _ := r.air.Protected(t.Context())
	slices.Sort(planned)
	leave, back := slices.Compact(planned)[:3], slices.Compact(planned)[3]
	m, err := r.Archive(t.Context(), append(slices.Clone(leave), back), "operator")
	if err != nil || len(m.Kept) != 4 {
		t.Fatalf("%+v, %v", m, err)
	}
	if done, err := r.RestoreFiles(t.Context(), []string{back}); err != nil || done.Total != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	end := testkit.Background(t, r.Run)
	testkit.Eventually(t, "the air to go on without them, and all three archived", func() bool {
		_ = r.air.Rebuild(t.Context())
		r.air.turn()
		r.air.turn()
		return r.states()[archived] == 3
	})
	end()
	for _, p := range leave {
		if exists(filepath.Join(r.opt.Media, p)) || !exists(filepath.Join(r.opt.Archive, p)) {
			t.Errorf("%s is not archived", p)
		}
	}
	list, total, err := r.Archived(t.Context(), "", 0, 10)
	if err != nil || total != 3 || list[0].Reason != "operator" {
		t.Errorf("%+v, %v", list, err)
	}
	if !exists(filepath.Join(r.opt.Media, back)) || r.Hidden()[back] {
		t.Errorf("%s was brought back, and left", back)
	}
	if gone := r.air.look(); len(gone) > 0 {
		t.Errorf("planned and not there: %q", gone)
	}
}

// Behind a mount that is away nothing has gone: what waits to leave still does once it is back.
func TestWhatWaitsToLeaveOutlastsAMountThatIsAway(t *testing.T) {
	r := newRig(t)
	r.fill(station.English, 120)
	r.air.turn()
	planned, _ := r.air.Protected(t.Context())
	slices.Sort(planned)
	m, err := r.Archive(t.Context(), slices.Compact(planned), "operator")
	if err != nil || len(m.Kept) == 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	away := r.opt.Media + " away"
	if err := errors.Join(os.Rename(r.opt.Media, away), os.Mkdir(r.opt.Media, 0o750)); err != nil {
		t.Fatal(err)
	}
	r.late(t.Context())
	if err := errors.Join(os.Remove(r.opt.Media), os.Rename(away, r.opt.Media)); err != nil {
		t.Fatal(err)
	}
	if n := r.states()[kept]; n != len(m.Kept) {
		t.Errorf("%d still wait to leave, of %d", n, len(m.Kept))
	}
}
