package scheduler_test

import (
	"testing"

	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// The engine numbers what it begins. Entries between two numbers that follow each
// other could not be opened: shown as aired, nobody would look for them.
func TestWhatTheEngineCouldNotOpenIsSaid(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(200)))
	plan := r.built().Rotation.Entries
	r.hear("boot", 1, plan[0].Track.Path)
	r.hear("boot", 2, plan[3].Track.Path) // 1 and 2 are damaged
	r.hear("boot", 5, plan[6].Track.Path) // the markers of 4 and 5 are on their way
	check := func(when string, v *scheduler.View) {
		t.Helper()
		for i, it := range v.Items()[:8] {
			if failed := i == 1 || i == 2; (it.Failed != "") != failed || it.Aired != (i < 6 && !failed) {
				t.Errorf("%s: entry %d: aired %t, failed %q", when, i, it.Aired, it.Failed)
			}
		}
	}
	check("at once", r.View())
	if !r.logged("track not aired") || !r.logged(plan[2].Track.Path) {
		t.Errorf("no line of it in the log:\n%s", r.log)
	}
	plays, err := r.Plays(t.Context())
	if err != nil || plays[plan[1].Track.Path] != 0 || len(plays) != 3 {
		t.Errorf("plays %v, %v", plays, err)
	}
	db := r.database()
	defer db.Close() //nolint:errcheck // only read
	v, err := scheduler.Committed(t.Context(), db.Read())
	if err != nil {
		t.Fatal(err)
	}
	check("on disk", v)
	// Another engine begins at the head: what it did not reach it did not try.
	r.hear("other", 1, plan[9].Track.Path)
	if it := r.View().Items()[8]; it.Failed != "" {
		t.Errorf("another engine: %q", it.Failed)
	}
	// It was heard after all.
	r.hear("other", 2, plan[1].Track.Path)
	if it := r.View().Items()[1]; it.Failed != "" {
		t.Errorf("heard, and still %q", it.Failed)
	}
	if err := r.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, it := range r.View().Items() {
		if it.Failed != "" {
			t.Errorf("entry %d of a new rotation: %q", i, it.Failed)
		}
	}
}
