package podcast

import "testing"

// The table in the words of the document of next, tried in full: what it does not name is refused.
func TestStatesFollowTheTable(t *testing.T) {
	want := map[State]map[event]State{
		Making:    {made: Published, madeHeld: Held, failed: Failed, remove: Removed},
		Failed:    {again: Making, remove: Removed},
		Held:      {publish: Published, hide: Hidden, lose: Failed, remove: Removed},
		Published: {hide: Hidden, lose: Failed, remove: Removed},
		Hidden:    {publish: Published, lose: Failed, remove: Removed},
		Removed:   {},
	}
	events := []event{made, madeHeld, failed, again, publish, hide, lose, find, remove, bringBack}
	for state, row := range want {
		for _, e := range events {
			to, ok := next(stages{State: state}, e)
			if there, known := row[e]; ok != known || known && to.State != there || !ok && to != (stages{State: state}) {
				t.Errorf("%s, %s: %v, %v, want %s", state, e, to, ok, there)
			}
		}
	}
}

// One whose file has gone comes back to its state, found, made anew, or removed and brought back in
// between.
func TestAnEpisodeGoesBackToWhereItWas(t *testing.T) {
	for _, was := range []State{Held, Published, Hidden} {
		for _, way := range [][]event{{lose, find}, {lose, again, made}, {lose, again, madeHeld}, {lose, again, failed, again, made}, {lose, again, failed, find},
			{lose, remove, bringBack, find}, {lose, again, remove, bringBack, made}, {remove, bringBack}} {
			s, ok := stages{State: was}, true
			for _, e := range way {
				if s, ok = next(s, e); !ok {
					t.Fatalf("%s: %v stops at %s", was, way, e)
				}
			}
			if s != (stages{State: was}) {
				t.Errorf("%s: after %v it is %v", was, way, s)
			}
		}
	}
}
