package takeover

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func deeds(all []effect) string {
	var out []string
	for _, e := range all {
		out = append(out, strings.TrimSuffix(e.Do.String()+" "+e.ID, " "))
	}
	return strings.Join(out, ", ")
}

// The table of next, row by row.
func TestTransitionsAreThoseOfTheTable(t *testing.T) {
	normal := state{}
	begun := state{Phase: starting, Active: "A", Mode: live.Replace, By: "me", Since: 1}
	on := state{Phase: onAir, Active: "A", Mode: live.Replace, By: "me", Since: 1}
	toB := state{Phase: handing, Active: "A", Mode: live.Replace, By: "me", Since: 1, Target: "B", TargetMode: live.Over, TargetBy: "you"}
	for _, row := range []struct {
		name string
		from state
		e    event
		to   state
		do   string
	}{
		{"mission: normal mix, start", normal, event{What: askStart, ID: "A", Mode: live.Replace, By: "me", At: 1}, begun, "order, deadline"},
		{"its first audio", begun, event{What: audio, ID: "A", At: 2}, state{onAir, "A", "", live.Replace, "me", 2, "", ""}, "started A, accept A"},
		{"no audio", begun, event{What: noAudio, ID: "A"}, normal, "order, failed A, refuse A"},
		{"it ended before its first audio, another follows", begun, event{What: followed, ID: "X", Failed: true, At: 2}, state{onAir, "X", "", live.Replace, "me", 2, "", ""}, "blame A, order, follows X, accept A"},
		{"start the same twice", begun, event{What: askStart, ID: "A"}, begun, ""},
		{"start two at once", begun, event{What: askStart, ID: "B"}, begun, "refuse B"},
		{"stop before the first audio", begun, event{What: askStop}, normal, "order, refuse A"},
		{"mission: live, stop", on, event{What: askStop}, normal, "order, ended A, refuse A"},
		{"mission: live, dead, next-ranked", on, event{What: followed, ID: "X", Failed: true, At: 2}, state{onAir, "X", "", live.Replace, "me", 2, "", ""}, "blame A, order, follows X, accept A"},
		{"mission: live, dead, none", on, event{What: followed, Failed: true}, normal, "blame A, order, ended A, refuse A"},
		{"ended and did not fail", on, event{What: followed}, normal, "order, ended A, refuse A"},
		{"mission: the remote track ends, none", on, event{What: gone}, normal, "order, ended A, refuse A"},
		{"the remote track ends, next", on, event{What: gone, ID: "X", At: 2}, state{starting, "X", "", live.Replace, "me", 2, "", ""}, "order, ended A, refuse A, deadline"},
		{"start the same", on, event{What: askStart, ID: "A", Mode: live.Replace}, on, "accept A"},
		{"start the same, over", on, event{What: askStart, ID: "A", Mode: live.Over, By: "you"}, state{onAir, "A", "", live.Over, "you", 1, "", ""}, "order, accept A"},
		{"hand over", on, event{What: askStart, ID: "B", Mode: live.Over, By: "you", At: 2}, toB, "order, deadline"},
		{"late audio of another", on, event{What: audio, ID: "B"}, on, ""},
		{"no audio of another", on, event{What: noAudio, ID: "B"}, on, ""},
		{"handing, audio", toB, event{What: audio, ID: "B", At: 3}, state{onAir, "B", "", live.Over, "you", 3, "", ""}, "order, handed B, accept B"},
		{"handing, audio of the one on the air", toB, event{What: audio, ID: "A", At: 3}, toB, ""},
		{"handing, no audio", toB, event{What: noAudio, ID: "B"}, on, "order, failed B, refuse B"},
		{"handing, start a third", toB, event{What: askStart, ID: "C"}, toB, "refuse C"},
		{"handing, start the same", toB, event{What: askStart, ID: "B"}, toB, ""},
		{"handing, dead, another", toB, event{What: followed, ID: "X", Failed: true, At: 3}, state{onAir, "X", "", live.Replace, "me", 3, "", ""}, "blame A, order, follows X, accept A, refuse B"},
		{"handing, dead, none", toB, event{What: followed, Failed: true, At: 3}, state{starting, "B", "", live.Over, "you", 3, "", ""}, "blame A, order, ended A"},
		{"handing, dead, the target", toB, event{What: followed, ID: "B", At: 3}, state{starting, "B", "", live.Over, "you", 3, "", ""}, "order, ended A"},
		{"handing, gone", toB, event{What: gone, ID: "X", At: 3}, state{starting, "B", "", live.Over, "you", 3, "", ""}, "order, ended A"},
		{"handing, stop", toB, event{What: askStop}, normal, "order, ended A, refuse B"},
		{"normal mix, stop", normal, event{What: askStop}, normal, "order"},
		{"the desk restarted", on, event{What: forgotten}, on, "order"},
		{"the desk restarted, normal mix", normal, event{What: forgotten}, normal, "order"},
		{"the desk is lost", on, event{What: lost}, normal, "order, ended A, refuse A"},
		{"the desk is lost while handing", toB, event{What: lost}, normal, "order, ended A, refuse B"},
		{"dead, in the normal mix", normal, event{What: followed, ID: "X"}, normal, ""},
		{"gone, in the normal mix", normal, event{What: gone}, normal, ""},
		{"audio, in the normal mix", normal, event{What: audio, ID: "A"}, normal, ""},
	} {
		to, do := next(row.from, row.e)
		if to != row.to || deeds(do) != row.do {
			t.Errorf("%s: %+v, %q\nwant %+v, %q", row.name, to, deeds(do), row.to, row.do)
		}
	}
}

// Whatever happens in whatever order: the state is whole, every change of it is ordered,
// and nobody waits for ever.
func TestAnySequenceOfEventsKeepsTheStateWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, waits := state{}, map[string]bool{}
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			e := event{
				What: what(rapid.IntRange(0, int(lost)).Draw(t, "what")), ID: rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "id"),
				Mode: rapid.SampledFrom([]live.Mode{live.Replace, live.Over}).Draw(t, "mode"), Failed: rapid.Bool().Draw(t, "failed"),
			}
			if (e.What == followed || e.What == gone) && rapid.Bool().Draw(t, "nothing") {
				e.ID = ""
			}
			if e.What == askStart {
				waits[e.ID] = true
			}
			to, do := next(s, e)
			ordered := slices.ContainsFunc(do, func(f effect) bool { return f.Do == order })
			for _, f := range do {
				if f.Do == accept || f.Do == refuse {
					delete(waits, f.ID)
				}
			}
			switch {
			case (to.Phase == mix) != (to.Active == ""), (to.Phase == handing) != (to.Target != ""), to.Target != "" && to.Target == to.Active:
				t.Fatalf("%v in %+v: %+v", e.What, s, to)
			case (to.Phase == mix) && to != state{}:
				t.Fatalf("something is left of %+v: %+v", s, to)
			case (to.Active != s.Active || to.Target != s.Target || to.Mode != s.Mode) && !ordered:
				t.Fatalf("%v in %+v changes to %+v without an order", e.What, s, to)
			}
			s = to
			for id := range waits {
				if !(s.Phase == starting && s.Active == id) && !(s.Phase == handing && s.Target == id) {
					t.Fatalf("after %v in %+v somebody waits for %s", e.What, s, id)
				}
			}
		}
	})
}
