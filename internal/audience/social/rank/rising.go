package rank

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// RisingWindow is how long ago a vote is late news.
const RisingWindow = 24 * time.Hour

// risingPrior is the vote up that every post is expected to have gained in a day
// that nobody has seen: without it the first vote of a new post would be endlessly much.
const risingPrior = 1.0

// Pulse is what tells whether a post rises. Late are the weighed votes cast or
// changed within the RisingWindow, Before those cast earlier: Tally, of each apart.
type Pulse struct {
	ID                   int64
	LateUp, LateDown     float64
	BeforeUp, BeforeDown float64
	Age                  time.Duration // since its approval
}

// Rising is how far the votes that a post gained lately exceed what its own past
// lets one expect, in standard deviations of a Poisson count: with late = up − down
// of the last 24 h,
//
//	(late − e) / √(e+1), e = (max(0, up − down before) + 1) / (days before + 1)
//
// A post that always gains ten votes a day does not rise with the next ten; one that
// woke up today does. It is 0 where a post gains what it was to gain, grows with the votes
// up of the last day, falls with those down, and is finite for any input.
func Rising(p Pulse) float64 {
	late := count(p.LateUp) - count(p.LateDown)
	before := max(0, count(p.BeforeUp)-count(p.BeforeDown))
	expected := (before + risingPrior) / (days(p.Age-RisingWindow) + 1)
	return (late - expected) / math.Sqrt(expected+1)
}

// RisingOrder is the posts' ids, those that rise most first; of equal ones the one
// approved later, for it is the news, and of those the one with the higher id.
func RisingOrder(posts []Pulse) []int64 {
	places := make([]risen, len(posts))
	for i, p := range posts {
		places[i] = risen{p, Rising(p)}
	}
	slices.SortStableFunc(places, risen.compare)
	ids := make([]int64, len(places))
	for i, p := range places {
		ids[i] = p.ID
	}
	return ids
}

// CompareRising is which of two posts RisingOrder has first: negative for a, 0 only for one
// with itself.
func CompareRising(a, b Pulse) int { return risen{a, Rising(a)}.compare(risen{b, Rising(b)}) }

// risen is what RisingOrder goes by.
type risen struct {
	Pulse
	rising float64
}

func (a risen) compare(b risen) int {
	return cmp.Or(cmp.Compare(b.rising, a.rising), earlier(b.Age, a.Age, b.ID, a.ID))
}
