package rank_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/audience/social/rank"
)

func TestSupportCountsNetworks(t *testing.T) {
	for _, c := range []struct {
		name  string
		votes []rank.Vote
		want  float64
	}{
		{"nobody", nil, 0},
		{"ten networks", crowd(10, 10, 10, 1, true), 10},
		{"ten voters behind one address", crowd(10, 1, 1, 1, true), 1},
		{"10,000 addresses of one network", crowd(10_000, 10_000, 1, 1, true), 1},
		{"one network, three up and one down", append(crowd(3, 3, 1, 1, true), rank.Vote{Delta: -1, Address: "z", Network: crowd(1, 1, 1, 1, true)[0].Network, Known: true}), 0.5},
		{"ten networks, and newcomers of 200 against them", append(crowd(10, 10, 10, 1, true), fromElsewhere(crowd(200, 200, 200, -1, false))...), 7},
		{"newcomers of 200 networks", crowd(200, 200, 200, 1, false), 3},
		{"newcomers of a network with a known voter", append(crowd(1, 1, 1, 1, true), crowd(100, 100, 1, -1, false)...), 1},
	} {
		if got := rank.Support(c.votes); !near(got, c.want) {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

// fromElsewhere moves votes into networks that no other crowd has.
func fromElsewhere(votes []rank.Vote) []rank.Vote {
	for i := range votes {
		votes[i].Network += " elsewhere"
	}
	return votes
}

// Votes never weigh more than the networks that they are from, and one more never works
// against itself.
func TestSupportIsNeverMoreThanTheNetworksThatGiveIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		votes := rapid.SliceOfN(anyVote(), 0, 60).Draw(t, "votes")
		networks := map[string]bool{}
		for _, v := range votes {
			if v.Delta > 0 {
				networks[v.Network] = true
			}
		}
		was := rank.Support(votes)
		if was > float64(len(networks))+slack {
			t.Fatalf("%g of %d networks", was, len(networks))
		}
		shuffled := rapid.Permutation(votes).Draw(t, "shuffled")
		if got := rank.Support(shuffled); got != was { //nolint:testifylint // to the last bit
			t.Fatalf("%g, in another order %g", was, got)
		}
		one := anyVote().Draw(t, "one more")
		for _, delta := range []int8{1, -1} {
			one.Delta = delta
			if got := rank.Support(append(slices.Clone(votes), one)); float64(delta)*(got-was) < -slack {
				t.Fatalf("one more of %d: from %g to %g", delta, was, got)
			}
			if len(votes) == 0 {
				continue
			}
			turned := slices.Clone(votes)
			turned[rapid.IntRange(0, len(votes)-1).Draw(t, "turned")].Delta = delta
			if got := rank.Support(turned); float64(delta)*(got-was) < -slack {
				t.Fatalf("one turned to %d: from %g to %g", delta, was, got)
			}
		}
	})
}
