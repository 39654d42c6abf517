package rank_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/audience/social/rank"
)

const day = 24 * time.Hour

func TestScoreIsTheFormulaOfItsComment(t *testing.T) {
	for _, c := range []struct {
		name string
		of   rank.Facts
		want rank.Parts
	}{
		{"new, never aired", rank.Facts{}, rank.Parts{Quality: 0.5, Exploration: 0.35, Freshness: 0.25, Total: 1.1}},
		{"a week old, aired three times, nine of twelve votes up", rank.Facts{Up: 9, Down: 3, Plays: 3, Age: 7 * day},
			rank.Parts{Quality: 12.0 / 18, Exploration: 0.175, Freshness: 0.125, Total: 12.0/18 + 0.3}},
		{"one love and two likes in one play", rank.Facts{Plays: 1, Age: 14 * day, Reactions: rank.Reactions{rank.Love: 1, rank.Like: 2}},
			rank.Parts{Quality: 0.5, Exploration: 0.35 / math.Sqrt2, Freshness: 0.0625, Reactions: 0.05, Total: 0.5 + 0.35/math.Sqrt2 + 0.0625 + 0.05}},
		{"of votes up beyond 40 the logarithm", rank.Facts{Up: 40 * math.E}, rank.Parts{Quality: 83.0 / 86, Exploration: 0.35, Freshness: 0.25, Total: 83.0/86 + 0.6}},
	} {
		if got := rank.Score(c.of); !alike(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func alike(a, b rank.Parts) bool {
	return near(a.Quality, b.Quality) && near(a.Exploration, b.Exploration) && near(a.Freshness, b.Freshness) &&
		near(a.Reactions, b.Reactions) && near(a.Total, b.Total)
}

// slack is what the order of operations does to a float64.
const slack = 1e-9

func near(a, b float64) bool { return math.Abs(a-b) <= slack }

func TestEveryKindOfReactionHasANameAndAWeight(t *testing.T) {
	for k := range rank.Kinds {
		got, ok := rank.KindOf(k.String())
		if k.String() == "" || !ok || got != k {
			t.Errorf("kind %d has the name %q, which names %d", int(k), k, int(got))
		}
		if w := k.Weight(); w <= 0 || w > 1 {
			t.Errorf("%s weighs %g, want over 0 and at most 1", k, w)
		}
	}
	if _, ok := rank.KindOf(""); ok || rank.Kinds.Weight() != 0 {
		t.Error("there is a kind without a name")
	}
}

// anyFacts draws what may be, sane.
func anyFacts(t *rapid.T) rank.Facts {
	f := rank.Facts{
		ID:    rapid.Int64Range(1, 1000).Draw(t, "id"),
		Up:    rapid.Float64Range(0, 500).Draw(t, "up"),
		Down:  rapid.Float64Range(0, 500).Draw(t, "down"),
		Plays: rapid.IntRange(0, 1000).Draw(t, "plays"),
		Age:   time.Duration(rapid.Int64Range(0, int64(400*day)).Draw(t, "age")),
	}
	for k := range f.Reactions {
		f.Reactions[k] = rapid.Float64Range(0, 100).Draw(t, "reactions")
	}
	return f
}

func TestScoreMovesTheWayItShould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFacts(t)
		more := rapid.Float64Range(0.01, 50).Draw(t, "more")
		before := rank.Score(f)
		change := func(name string, edit func(*rank.Facts), want func(before, after float64) bool) {
			g := f
			edit(&g)
			if after := rank.Score(g); !want(before.Total, after.Total) {
				t.Fatalf("%s: from %+v to %+v", name, before, after)
			}
		}
		higher := func(b, a float64) bool { return a > b }
		lower := func(b, a float64) bool { return a < b }
		change("votes up", func(g *rank.Facts) { g.Up += more }, higher)
		change("votes down", func(g *rank.Facts) { g.Down += more }, lower)
		change("a play", func(g *rank.Facts) { g.Plays++ }, lower)
		change("a day", func(g *rank.Facts) { g.Age += day }, func(b, a float64) bool { return a < b || f.Age > 200*day && a == b })
		kind := rapid.IntRange(0, int(rank.Kinds)-1).Draw(t, "kind")
		change("a reaction", func(g *rank.Facts) { g.Reactions[kind] += more }, func(b, a float64) bool { return a >= b })
	})
}

// anyFloat draws numbers and what is none.
func anyFloat() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0, -1}))
}

func TestScoreIsWithinItsBoundsForAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rank.Facts{
			Up: anyFloat().Draw(t, "up"), Down: anyFloat().Draw(t, "down"),
			Plays: rapid.Int().Draw(t, "plays"), Age: time.Duration(rapid.Int64().Draw(t, "age")),
		}
		for k := range f.Reactions {
			f.Reactions[k] = anyFloat().Draw(t, "reactions")
		}
		p := rank.Score(f)
		within(t, "quality", p.Quality, 0, 1)
		within(t, "exploration", p.Exploration, 0, rank.ExplorationWeight)
		within(t, "freshness", p.Freshness, 0, rank.FreshnessWeight)
		within(t, "reactions", p.Reactions, 0, rank.ReactionsWeight)
		within(t, "total", p.Total, math.SmallestNonzeroFloat64, rank.MaxTotal)
		if !near(p.Total, p.Quality+p.Exploration+p.Freshness+p.Reactions) {
			t.Fatalf("%+v is not its parts' sum", p)
		}
	})
}

func within(t *rapid.T, name string, got, low, high float64) {
	if !(got >= low && got <= high) { // NaN too
		t.Fatalf("%s is %g, want %g to %g", name, got, low, high)
	}
}
