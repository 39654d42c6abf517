package cli

import (
	"github.com/athir-radio/athir/internal/audience/social/rank"
	"github.com/athir-radio/athir/internal/onair/simulate"
)

// listeners invents what listeners bring to the days.
func (c simulateCmd) listeners(src source, seed uint64) simulate.Listeners {
	return simulate.Listeners{
		Posts: simulate.InventedPosts(c.Posts, c.Days, src.from, seed), Order: ranked, Requests: c.Requests,
	}
}

// ranked orders posts as the station does. Votes come with the plays.
func ranked(posts []simulate.Standing) []string {
	facts := make([]rank.Facts, len(posts))
	for i, p := range posts {
		n := float64(p.Plays)
		facts[i] = rank.Facts{ID: int64(i), Up: p.Up * n, Down: p.Down * n, Plays: p.Plays, Age: p.Age}
	}
	out := make([]string, len(posts))
	for i, id := range rank.Order(facts) {
		out[i] = posts[id].Track.Path
	}
	return out
}
