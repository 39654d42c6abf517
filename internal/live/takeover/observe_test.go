package takeover

import (
	"testing"

	"github.com/athir-radio/athir/internal/live"
)

// What a report means, and what it does not.
func TestReportsAreReadAsWhatTheyAre(t *testing.T) {
	begun := state{Phase: starting, Active: "A"}
	on := state{Phase: onAir, Active: "A"}
	toB := state{Phase: handing, Active: "A", Target: "B"}
	seen := sight{Epoch: "e", Number: 7, Taken: 6, Version: 40, Asked: 100}
	ended := &live.Ending{ID: "A", At: 5, Why: "frozen", Failed: true}
	source := func(id string, s live.State, since int64) live.SourceReport {
		return live.SourceReport{ID: id, State: s, Since: since, Why: "404"}
	}
	for _, row := range []struct {
		name string
		s    state
		r    live.Report
		want event
	}{
		{"the normal mix follows nothing", state{}, live.Report{Air: "A"}, event{}},
		{"an older order", on, live.Report{Number: 6, Ended: ended}, event{}},
		{"another control plane's", on, live.Report{Epoch: "x", Number: 7, Ended: ended}, event{}},
		{"connecting", begun, live.Report{Sources: []live.SourceReport{source("A", live.Connecting, 200)}}, event{}},
		{"not there yet", begun, live.Report{}, event{}},
		{"still gone from before", begun, live.Report{Sources: []live.SourceReport{source("A", live.Gone, 100)}}, event{}},
		{"gone since", begun, live.Report{Sources: []live.SourceReport{source("A", live.Gone, 200)}}, event{What: noAudio, ID: "A", Why: "it is gone: 404"}},
		{"audio, no sound yet", begun, live.Report{Sources: []live.SourceReport{source("A", live.Waiting, 200)}}, event{What: audio, ID: "A"}},
		{"on the air", begun, live.Report{Air: "A"}, event{What: audio, ID: "A"}},
		{"another is on the air still", begun, live.Report{Air: "X", Sources: []live.SourceReport{source("A", live.Connecting, 200)}}, event{}},
		{"gone from before, and another is on the air still", begun, live.Report{Air: "X", Sources: []live.SourceReport{source("A", live.Gone, 100)}}, event{}},
		{"gone, and another follows", begun, live.Report{Air: "X", Sources: []live.SourceReport{source("A", live.Gone, 200)}}, event{What: followed, ID: "X", Why: "404", Failed: true}},
		{"all is well", on, live.Report{Air: "A", Sources: []live.SourceReport{source("A", live.OnAir, 200)}}, event{}},
		{"a hole", on, live.Report{Air: "A", Sources: []live.SourceReport{source("A", live.Grace, 200)}}, event{}},
		{"its first sound is waited for", on, live.Report{Sources: []live.SourceReport{source("A", live.Waiting, 200)}}, event{}},
		{"failed, nobody follows", on, live.Report{Ended: ended, Sources: []live.SourceReport{source("A", live.Gone, 200)}}, event{What: followed, Why: "frozen", Failed: true}},
		{"failed, another follows", on, live.Report{Air: "X", Ended: ended, Sources: []live.SourceReport{source("A", live.Gone, 200)}}, event{What: followed, ID: "X", Why: "frozen", Failed: true}},
		{"silent, and still connected", on, live.Report{Ended: ended, Sources: []live.SourceReport{source("A", live.Ready, 200)}}, event{What: followed, Why: "frozen", Failed: true}},
		{"two ended between two reports", on, live.Report{Air: "Y", Ended: &live.Ending{ID: "X", Next: "Y", Failed: true}, Sources: []live.SourceReport{source("A", live.Gone, 200)}}, event{What: followed, ID: "Y", Why: "404", Failed: true}},
		{"the desk does not have it", on, live.Report{}, event{What: followed, Why: "the desk no longer has it", Failed: true}},
		{"handing, the target is warm", toB, live.Report{Air: "A", Sources: []live.SourceReport{source("A", live.OnAir, 1), source("B", live.Ready, 200)}}, event{What: audio, ID: "B"}},
		{"handing, the target is connecting", toB, live.Report{Air: "A", Sources: []live.SourceReport{source("A", live.OnAir, 1), source("B", live.Connecting, 200)}}, event{}},
		{"handing, the target was gone before", toB, live.Report{Air: "A", Sources: []live.SourceReport{source("B", live.Gone, 100)}}, event{}},
		{"handing, the target is gone", toB, live.Report{Air: "A", Sources: []live.SourceReport{source("B", live.Gone, 200)}}, event{What: noAudio, ID: "B", Why: "it is gone: 404"}},
		{"handing, failed", toB, live.Report{Ended: ended, Sources: []live.SourceReport{source("A", live.Gone, 200), source("B", live.Connecting, 200)}}, event{What: followed, Why: "frozen", Failed: true}},
	} {
		if row.r.Epoch == "" {
			row.r.Epoch = "e"
		}
		if row.r.Number == 0 {
			row.r.Number = 7
		}
		e, ok := observe(row.s, seen, row.r)
		if e != row.want || ok != (row.want != event{}) {
			t.Errorf("%s: %+v %v", row.name, e, ok)
		}
	}
	// The end that was seen with the report before is not another.
	again := seen
	again.Ended = *ended
	if e, ok := observe(on, again, live.Report{Epoch: "e", Number: 7, Ended: ended, Sources: []live.SourceReport{source("A", live.Waiting, 200)}}); ok {
		t.Errorf("an old end: %+v", e)
	}
}

func TestARestartedDeskIsKnownByWhatItForgot(t *testing.T) {
	seen := sight{Epoch: "e", Number: 7, Taken: 7, Version: 40}
	for _, row := range []struct {
		name string
		v    sight
		r    live.Report
		want bool
	}{
		{"the same", seen, live.Report{Epoch: "e", Number: 7, Version: 40}, false},
		{"newer", seen, live.Report{Epoch: "e", Number: 7, Version: 41}, false},
		{"no order", seen, live.Report{Version: 41}, true},
		{"an older order", seen, live.Report{Epoch: "e", Number: 6, Version: 41}, true},
		{"counts anew", seen, live.Report{Epoch: "e", Number: 7, Version: 2}, true},
		{"another control plane", seen, live.Report{Epoch: "x", Number: 9, Version: 41}, true},
		{"before our first order", sight{Epoch: "e", Number: 1}, live.Report{Epoch: "x", Number: 9, Version: 41}, false},
	} {
		if got := row.v.restarted(row.r); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}
