package registry

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// Fact is what the ranking knows of a stream beside its record.
type Fact struct {
	Live        bool // audio comes from it now
	Blacklisted bool
}

const (
	// halfLife is how long ago a stream was live when its freshness is worth half.
	halfLife = 24 * time.Hour
	// freshest is what having been live this moment is worth: as much as 999 listeners.
	freshest = 3.0
	// voteWeight makes a vote worth half of a listener's factor of ten.
	voteWeight = 0.5
)

// Rank returns the streams that may be aired, the best first (mission: Live takeover,
// ranking inputs). A stream that is live now is before all that are not. Among the rest
// and among those the score decides,
//
//	3·2^(−age/24 h) + log10(1 + listeners) + ½·sgn(votes)·log10(1 + |votes|)
//
// with age the time since lastLiveAt (a stream that never was live has no freshness).
// Logarithms keep one very large number from deciding alone: ten times the audience is as
// much as having been live this evening rather than this morning. Of equal scores the
// stream that was added first is first, then the smaller id. Blacklisted streams are left
// out.
func Rank(streams []live.Stream, facts map[string]Fact, now time.Time) []live.Stream {
	out := slices.DeleteFunc(append([]live.Stream{}, streams...), func(s live.Stream) bool { return facts[s.ID].Blacklisted })
	score := make(map[string]float64, len(out))
	for _, s := range out {
		score[s.ID] = scoreOf(s, now)
	}
	slices.SortStableFunc(out, func(a, b live.Stream) int {
		return cmp.Or(
			before(facts[a.ID].Live, facts[b.ID].Live),
			cmp.Compare(score[b.ID], score[a.ID]),
			cmp.Compare(a.AddedAt, b.AddedAt),
			cmp.Compare(a.ID, b.ID),
		)
	})
	return out
}

// before is negative when only the first is so.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func scoreOf(s live.Stream, now time.Time) float64 {
	score := math.Log10(1 + float64(max(s.Listeners, 0)))
	if s.LastLiveAt > 0 {
		age := max(0, now.Sub(time.UnixMilli(s.LastLiveAt)))
		score += freshest * math.Exp2(-age.Hours()/halfLife.Hours())
	}
	votes := voteWeight * math.Log10(1+math.Abs(float64(s.Votes)))
	if s.Votes < 0 {
		votes = -votes
	}
	return score + votes
}
