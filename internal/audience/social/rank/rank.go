// Package rank says in which order listeners' posts go on the air.
//
// It provides the weight of a post's votes (Tally), its score with the parts that
// the score is made of (Score), the order of posts (Order) and which of them rise
// (Rising, RisingOrder). Everything is a pure function of its arguments: the same
// arguments, in any order, give the same answer.
//
// It refuses to count votes as if each were a person: a crowd behind one address or
// network, or one that nobody has met before, weighs little. It knows no more of a post
// than its figures: who may vote, what is approved, and the rules of the rotation
// (separation, cooldown, one submitter in an hour) are others' business.
//
// docs/ranking.md has the constants, the simulation that chose the formula and what
// brigading can and cannot do; tests hold it to this code.
package rank

import (
	"math"
	"time"
)

// The constants of the score. Where no source is named, the simulation of this
// package chose the value (TestFormulas).
const (
	// PriorUp and PriorDown are the votes that every post is born with: the mean of
	// a Beta(3, 3) distribution with the votes added, the Bayesian answer to "one
	// vote up is 100 %" (Laplace's rule of succession with a stronger prior). Evan
	// Miller, "How Not To Sort By Average Rating" (2009), answers with Wilson's lower bound,
	// which puts whatever has no votes last and so never airs it.
	PriorUp   = 3.0
	PriorDown = 3.0

	// FullVotes are the weighed votes up, and those down, that count whole; of more the
	// logarithm counts. Somebody with a network for each vote is held by nothing
	// else: with it the votes of those who hear the post catch up with theirs. It
	// costs up to 0.03 of the mean quality of what airs.
	FullVotes = 40.0

	// ExplorationWeight is the exploration part of a post never aired. It shrinks
	// with 1/√(1+plays), the width of a confidence bound: optimism in the face of
	// uncertainty, as UCB1 (Auer, Cesa-Bianchi, Fischer, 2002) without its logarithm.
	ExplorationWeight = 0.35

	// FreshnessWeight is the freshness part at the moment of approval; it halves
	// every FreshnessHalfLife.
	FreshnessWeight   = 0.25
	FreshnessHalfLife = 7 * 24 * time.Hour

	// ReactionsWeight is what the reactions part approaches and never passes.
	ReactionsWeight = 0.1

	// MaxTotal bounds every total from above; each total is over 0.
	MaxTotal = 1 + ExplorationWeight + FreshnessWeight + ReactionsWeight
)

// mostCounted bounds a count of votes or reactions, so that no sum overflows.
const mostCounted = 1e12

// Kind is a kind of reaction: an index into Reactions.
type Kind int

// The kinds of reactions, in the order of the pages.
const (
	Like Kind = iota
	Love
	Fire
	Laugh
	Wow
	Sad
	Kinds // how many there are
)

// String is the kind's name in the API.
func (k Kind) String() string {
	switch k {
	case Like:
		return "like"
	case Love:
		return "love"
	case Fire:
		return "fire"
	case Laugh:
		return "laugh"
	case Wow:
		return "wow"
	case Sad:
		return "sad"
	default:
		return ""
	}
}

// KindOf is the kind of a name in the API, and whether there is one.
func KindOf(name string) (Kind, bool) {
	for k := range Kinds {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// Weight is how much one reaction of the kind counts, 0 to 1. None is negative: a
// sad song makes people sad, and that is no complaint (a vote down is). What says
// least about wanting to hear it again weighs least. An unknown kind weighs 0.
func (k Kind) Weight() float64 {
	switch k {
	case Love, Fire:
		return 1
	case Like, Laugh, Wow:
		return 0.5
	case Sad:
		return 0.25
	default:
		return 0
	}
}

// Reactions are a post's reactions by kind. Like votes they are weighed: the up
// that Tally gives for those who reacted so, each with Delta 1.
type Reactions [Kinds]float64

// Facts are what a post's score is made from.
type Facts struct {
	ID        int64
	Up, Down  float64 // weighed votes, as Tally gives them
	Plays     int     // how often it aired
	Reactions Reactions
	Age       time.Duration // since its approval
}

// Parts are a post's score and what it is the sum of.
type Parts struct {
	Quality     float64 // 0 to 1: the share of votes up that one should expect
	Exploration float64 // over 0, at most ExplorationWeight: what few plays leave unknown
	Freshness   float64 // 0 to FreshnessWeight
	Reactions   float64 // 0 to ReactionsWeight
	Total       float64 // the sum, over 0 and at most MaxTotal
}

// Score is
//
//	(up+3)/(up+down+6) + 0.35/√(1+plays) + 0.25·2^(−age/7 d) + 0.1·r/(1+r)
//
// where r is the weighted reactions per play, the play to come counted in. Of up
// and of down the logarithm counts beyond FullVotes. What cannot be (negative, NaN, an
// age before the approval) counts as 0, infinity as very much: the score is always a
// number within its bounds.
func Score(f Facts) Parts {
	up, down := flattened(count(f.Up), FullVotes), flattened(count(f.Down), FullVotes)
	plays := float64(max(f.Plays, 0))
	reacted := 0.0
	for k, n := range f.Reactions {
		reacted += Kind(k).Weight() * count(n)
	}
	perPlay := reacted / (1 + plays)
	p := Parts{
		Quality:     (up + PriorUp) / (up + down + PriorUp + PriorDown),
		Exploration: ExplorationWeight / math.Sqrt(1+plays),
		Freshness:   FreshnessWeight * math.Exp2(-days(f.Age)/days(FreshnessHalfLife)),
		Reactions:   ReactionsWeight * perPlay / (1 + perPlay),
	}
	p.Total = p.Quality + p.Exploration + p.Freshness + p.Reactions
	return p
}

// count makes a count of what may be no number.
func count(n float64) float64 {
	if !(n > 0) { // NaN too
		return 0
	}
	return min(n, mostCounted)
}

// days are those since an approval, none before it.
func days(age time.Duration) float64 { return max(age, 0).Hours() / 24 }

// flattened is n up to the whole, and beyond it its logarithm, which goes on without a kink.
func flattened(n, whole float64) float64 {
	if n <= whole {
		return n
	}
	return whole * (1 + math.Log(n/whole))
}
