package rank_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/audience/social/rank"
)

func TestRisingComparesAPostWithItsOwnPast(t *testing.T) {
	steady := rank.Pulse{ID: 1, LateUp: 10, BeforeUp: 100, Age: 11 * day}
	awake := rank.Pulse{ID: 2, LateUp: 5, BeforeUp: 3, Age: 30 * day}
	fresh := rank.Pulse{ID: 3, LateUp: 4, Age: 12 * time.Hour}
	falling := rank.Pulse{ID: 4, LateDown: 5, BeforeUp: 3, Age: 30 * day}
	silent := rank.Pulse{ID: 5, Age: 300 * day}
	controversial := rank.Pulse{ID: 6, LateUp: 30, LateDown: 30, Age: 300 * day} // to us as silent
	got := rank.RisingOrder([]rank.Pulse{steady, awake, fresh, falling, silent, controversial})
	if want := []int64{2, 3, 1, 6, 5, 4}; !slices.Equal(got, want) {
		t.Errorf("rising %v, want %v", got, want)
	}
	if r := rank.Rising(steady); math.Abs(r) > 0.5 {
		t.Errorf("a post that gains ten votes every day rises by %.2f", r)
	}
}

func TestRisingFollowsLateVotesAndIsFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rank.Pulse{
			LateUp: anyFloat().Draw(t, "late up"), LateDown: anyFloat().Draw(t, "late down"),
			BeforeUp: anyFloat().Draw(t, "before up"), BeforeDown: anyFloat().Draw(t, "before down"),
			Age: time.Duration(rapid.Int64().Draw(t, "age")),
		}
		r := rank.Rising(p)
		if math.IsNaN(r) || math.IsInf(r, 0) {
			t.Fatalf("rising is %g", r)
		}
		up, down := p, p
		up.LateUp++
		down.LateDown++
		if rank.Rising(up) < r || rank.Rising(down) > r {
			t.Fatalf("rising %g, with a vote up %g, with one down %g", r, rank.Rising(up), rank.Rising(down))
		}
	})
}

func TestTiesOfRisingGoToTheNewer(t *testing.T) {
	posts := []rank.Pulse{{ID: 1, Age: 2 * time.Hour}, {ID: 3, Age: time.Hour}, {ID: 2, Age: time.Hour}}
	if got := rank.RisingOrder(posts); !slices.Equal(got, []int64{3, 2, 1}) {
		t.Errorf("rising %v, want [3 2 1]", got)
	}
}
