package bus

import (
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
)

// The manual's table of a source is what next does, row by row and in all that it leaves
// out, and the comment of next has the same words.
func TestTheManualHasTheStatesOfASource(t *testing.T) {
	manual := testkit.DocTable(t, "../../../../docs/live.md", "A source at the desk:")
	events := map[string]Event{}
	for e := Nothing; e <= Ended; e++ {
		events[e.String()] = e
	}
	told := map[live.State]map[Event]live.State{}
	for _, s := range []live.State{live.Connecting, live.Ready, live.Waiting, live.OnAir, live.Grace, live.Gone} {
		told[s] = map[Event]live.State{}
		for e := Nothing; e <= Ended; e++ {
			told[s][e] = s
		}
	}
	for _, row := range manual {
		s, e := live.State(row[0]), events[row[1]]
		if told[s] == nil || e == Nothing {
			t.Fatalf("docs/live.md has a row %q of no state or no event", row)
		}
		told[s][e] = live.State(row[2])
	}
	for s, row := range told {
		for e, want := range row {
			if got := next(s, e); got != want {
				t.Errorf("%s, %s: docs/live.md says %s, it is %s", s, e, want, got)
			}
		}
	}
	comment := testkit.CommentTable(t, "state.go", "next")
	if !slices.EqualFunc(manual, comment, slices.Equal) {
		t.Errorf("docs/live.md has\n%q\nthe comment of next\n%q", manual, comment)
	}
}
