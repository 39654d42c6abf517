package rank_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/audience/social/rank"
)

func harmonic(n int) (sum float64) {
	for k := 1; k <= n; k++ {
		sum += 1 / float64(k)
	}
	return sum
}

func TestTallyWeighsByAddressNetworkAndAcquaintance(t *testing.T) {
	mixed := append(crowd(3, 1, 1, 1, true), crowd(1, 1, 1, -1, true)...)
	for _, c := range []struct {
		name     string
		votes    []rank.Vote
		up, down float64
	}{
		{"nobody", nil, 0, 0},
		{"ten networks", crowd(10, 10, 10, 1, true), 10, 0},
		{"ten voters behind one address", crowd(10, 1, 1, 1, true), 1 + math.Log(harmonic(10)), 0},
		{"ten addresses of one network", crowd(10, 10, 1, 1, true), 1 + math.Log(10), 0},
		{"10,000 addresses of one network", crowd(10_000, 10_000, 1, 1, true), 1 + math.Log(10_000), 0},
		{"one address, three up and one down", mixed, (1 + math.Log(harmonic(4))) * 3 / 4, (1 + math.Log(harmonic(4))) / 4},
		{"two newcomers", crowd(2, 2, 2, -1, false), 0, 2},
		{"fifty newcomers", crowd(50, 50, 50, -1, false), 0, 3},
		{"newcomers beside known voters of their address", append(crowd(100, 1, 1, -1, false), crowd(1, 1, 1, 1, true)...), 1, 1 + math.Log(harmonic(100))},
		{"a vote taken back", []rank.Vote{{Address: "a", Network: "n", Known: true}}, 0, 0},
	} {
		if up, down := rank.Tally(c.votes); !near(up, c.up) || !near(down, c.down) {
			t.Errorf("%s: %.4f up and %.4f down, want %.4f and %.4f", c.name, up, down, c.up, c.down)
		}
	}
}

// anyVote draws votes that often share an address or a network.
func anyVote() *rapid.Generator[rank.Vote] {
	return rapid.Custom(func(t *rapid.T) rank.Vote {
		return rank.Vote{
			Delta:   rapid.SampledFrom([]int8{1, 1, -1, -1, 0, 127, -128}).Draw(t, "delta"),
			Address: rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "address"),
			Network: rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6", ""}).Draw(t, "network"),
			Known:   rapid.Bool().Draw(t, "known"),
		}
	})
}

func quality(f rank.Facts, votes []rank.Vote) float64 {
	f.Up, f.Down = rank.Tally(votes)
	return rank.Score(f).Total
}

func TestOneMoreVoteNeverWorksAgainstItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		votes := rapid.SliceOfN(anyVote(), 0, 60).Draw(t, "votes")
		facts := anyFacts(t)
		one := anyVote().Draw(t, "one more")
		up, down := rank.Tally(votes)
		check := func(what string, with []rank.Vote, sign float64) {
			upWith, downWith := rank.Tally(with)
			if sign*(upWith-up) < -slack || sign*(downWith-down) > slack {
				t.Fatalf("%s: from %g up, %g down to %g, %g", what, up, down, upWith, downWith)
			}
			if sign*(quality(facts, with)-quality(facts, votes)) < -slack {
				t.Fatalf("%s: the score goes from %g to %g", what, quality(facts, votes), quality(facts, with))
			}
		}
		one.Delta = 1
		check("one more up", append(slices.Clone(votes), one), 1)
		one.Delta = -1
		check("one more down", append(slices.Clone(votes), one), -1)
		if len(votes) == 0 {
			return
		}
		turned := slices.Clone(votes)
		i := rapid.IntRange(0, len(votes)-1).Draw(t, "turned")
		turned[i].Delta = 1
		check("one turned to up", turned, 1)
		turned[i].Delta = -1
		check("one turned to down", turned, -1)
	})
}

func TestTallyIsTheSameInAnyOrderAndLeavesItsVotesAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		votes := rapid.SliceOfN(anyVote(), 0, 60).Draw(t, "votes")
		was := slices.Clone(votes)
		up, down := rank.Tally(votes)
		if !slices.Equal(votes, was) {
			t.Fatal("Tally changed its argument")
		}
		shuffled := rapid.Permutation(votes).Draw(t, "shuffled")
		if u, d := rank.Tally(shuffled); u != up || d != down { //nolint:testifylint // to the last bit
			t.Fatalf("%g up and %g down, in another order %g and %g", up, down, u, d)
		}
		if !(up >= 0 && down >= 0 && up+down <= float64(len(votes))+slack) {
			t.Fatalf("%d votes weigh %g and %g", len(votes), up, down)
		}
	})
}

// board are 300 posts with honest votes, known and new, and their votes.
func board(seed uint64) (posts []rank.Facts, votes [][]rank.Vote) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for i := range 300 {
		q, n := rng.Float64(), rng.IntN(25)
		var cast []rank.Vote
		for voter := range n {
			v := rank.Vote{Delta: -1, Address: "a", Network: fmt.Sprint("honest ", voter), Known: rng.Float64() < 0.8}
			if rng.Float64() < q {
				v.Delta = 1
			}
			cast = append(cast, v)
		}
		f := rank.Facts{ID: int64(i + 1), Plays: 1 + rng.IntN(12), Age: time.Duration(rng.IntN(60*24)) * time.Hour}
		f.Up, f.Down = rank.Tally(cast)
		posts, votes = append(posts, f), append(votes, cast)
	}
	return posts, votes
}

// moved is by how much more votes move a post's score and its place among the posts.
func moved(posts []rank.Facts, votes [][]rank.Vote, target int, more []rank.Vote) (score float64, places int) {
	after := slices.Clone(posts)
	after[target].Up, after[target].Down = rank.Tally(append(slices.Clone(votes[target]), more...))
	id := posts[target].ID
	score = rank.Score(after[target]).Total - rank.Score(posts[target]).Total
	places = slices.Index(rank.Order(posts), id) - slices.Index(rank.Order(after), id)
	return math.Abs(score), max(places, -places)
}

// tenHonest are ten listeners whom the station knows, in ten networks.
func tenHonest(delta int8) []rank.Vote {
	votes := crowd(10, 10, 10, delta, true)
	for i := range votes {
		votes[i].Network = fmt.Sprint("ten ", i)
	}
	return votes
}

// brigade is 10,000 votes from 200 addresses by devices out of 50,000 made-up ones: each
// device votes once, so whichever they are, none is known.
func brigade(networks int, delta int8) []rank.Vote { return crowd(10_000, 200, networks, delta, false) }

func TestABrigadeMovesAPostLessThanTenHonestVoters(t *testing.T) {
	posts, votes := board(1)
	type sum struct {
		score  float64
		places int
	}
	for _, delta := range []int8{1, -1} {
		var honest, brigaded sum
		worst := 0.0
		for target := 0; target < len(posts); target += 10 {
			score, places := moved(posts, votes, target, tenHonest(delta))
			honest.score, honest.places = honest.score+score, honest.places+places
			for _, networks := range []int{1, 10, 200} {
				s, p := moved(posts, votes, target, brigade(networks, delta))
				if s >= score || p > places {
					t.Errorf("post %d: a brigade of %d networks moves it by %.3f and %d places, ten honest voters by %.3f and %d",
						target+1, networks, s, p, score, places)
				}
				worst = max(worst, s/score)
				if networks == 200 {
					brigaded.score, brigaded.places = brigaded.score+s, brigaded.places+p
				}
			}
		}
		if brigaded.places >= honest.places {
			t.Errorf("brigades move 30 posts by %d places, ten honest voters by %d", brigaded.places, honest.places)
		}
		t.Logf("votes of %+d, mean of 30 posts of 300: brigade %.3f and %.1f places, ten honest voters %.3f and %.1f; the brigade's part at most %.0f %%",
			delta, brigaded.score/30, float64(brigaded.places)/30, honest.score/30, float64(honest.places)/30, 100*worst)
	}
}

// What newcomers can do with every means there is stays beneath ten honest voters: votes and all reactions.
func TestABrigadeWithReactionsMovesANewPostLessThanTenHonestVoters(t *testing.T) {
	before := rank.Score(rank.Facts{Plays: 5})
	honest, brigaded := rank.Facts{Plays: 5}, rank.Facts{Plays: 5}
	honest.Up, honest.Down = rank.Tally(tenHonest(1))
	brigaded.Up, brigaded.Down = rank.Tally(brigade(200, 1))
	for k := range brigaded.Reactions {
		brigaded.Reactions[k], _ = rank.Tally(brigade(200, 1))
	}
	if h, b := rank.Score(honest).Total-before.Total, rank.Score(brigaded).Total-before.Total; b >= h {
		t.Errorf("a brigade with reactions moves a post by %.3f, ten honest voters by %.3f", b, h)
	}
}

// The harder attacker has waited a day. One network, whatever its addresses, stays beneath
// ten honest voters; ten honest voters behind one address are not nothing.
func TestAPatientCrowdOfOneNetworkMovesAPostLessThanTenHonestVoters(t *testing.T) {
	posts, votes := board(1)
	const target = 150
	told := manual(t, afterPatient)
	effect := func(name string, more []rank.Vote) (weight, score float64) {
		weight, _ = rank.Tally(more)
		score, places := moved(posts, votes, target, more)
		cells := []string{fmt.Sprintf("%.1f", weight), fmt.Sprintf("%+.2f", score), fmt.Sprint(places)}
		t.Logf("%s: %q", name, cells)
		told.check(t, name, 1, cells)
		return weight, score
	}
	_, honest := effect("ten honest voters", tenHonest(1))
	for _, p := range patient {
		if _, score := effect(p.name, crowd(10_000, p.addresses, p.networks, 1, true)); p.networks == 1 && score >= honest {
			t.Errorf("%s moves a post by %.3f, ten honest voters by %.3f", p.name, score, honest)
		}
	}
	for name, addresses := range map[string]int{"ten honest voters behind one address": 1, "ten honest voters at ten addresses of one network": 10} {
		if weight, score := effect(name, crowd(10, addresses, 1, 1, true)); weight < 2 || score < honest/4 {
			t.Errorf("%s weigh %.2f and move a post by %.3f: that is nothing beside %.3f", name, weight, score, honest)
		}
	}
}
