package rank_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/audience/social/rank"
)

func TestOrderPutsTheOverdueFirstThenByScore(t *testing.T) {
	posts := []rank.Facts{
		{ID: 1, Up: 30, Plays: 20, Age: 3 * day},
		{ID: 2, Up: 5, Age: rank.Overdue - 1},                // new and liked: by score
		{ID: 3, Down: 300, Age: rank.Overdue},                // overdue, however bad
		{ID: 4, Up: 300, Age: rank.Overdue + time.Hour},      // overdue for longer
		{ID: 5, Down: 30, Plays: 1, Age: 3 * day},            // has been heard
		{ID: 6, Up: 30, Plays: 20, Age: 3 * day},             // as 1
		{ID: 7, Up: 30, Plays: 20, Age: 3*day + time.Minute}, // hardly older
	}
	want := []int64{4, 3, 2, 1, 6, 7, 5}
	if got := rank.Order(posts); !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestTiesGoToTheEarlierApprovedThenToTheLowerID(t *testing.T) {
	// So old that freshness has no bit left, hence equal totals.
	posts := []rank.Facts{{ID: 9, Age: 9000 * day}, {ID: 3, Plays: 1, Age: 9000 * day}, {ID: 2, Plays: 1, Age: 9000 * day}, {ID: 5, Plays: 1, Age: 9001 * day}, {ID: 4, Age: 9000 * day}}
	want := []int64{4, 9, 5, 2, 3}
	if got := rank.Order(posts); !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestOrderHasEachPostOnceAndDoesNotDependOnTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few values, for many ties.
		posts := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) rank.Facts {
			return rank.Facts{
				ID:    rapid.Int64Range(1, 40).Draw(t, "id"),
				Up:    float64(rapid.IntRange(0, 1).Draw(t, "up")),
				Plays: rapid.IntRange(0, 1).Draw(t, "plays"),
				Age:   time.Duration(rapid.IntRange(0, 2).Draw(t, "age")) * 5 * time.Hour,
			}
		}), 0, 20, func(f rank.Facts) int64 { return f.ID }).Draw(t, "posts")
		order := rank.Order(posts)
		if again := rank.Order(rapid.Permutation(posts).Draw(t, "shuffled")); !slices.Equal(order, again) {
			t.Fatalf("order %v, of the same posts in another order %v", order, again)
		}
		all := slices.Sorted(slices.Values(order))
		for i, f := range slices.SortedFunc(slices.Values(posts), func(a, b rank.Facts) int { return int(a.ID - b.ID) }) {
			if len(all) != len(posts) || all[i] != f.ID {
				t.Fatalf("order %v of %v", order, posts)
			}
		}
	})
}
