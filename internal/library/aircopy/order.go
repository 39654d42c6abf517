package aircopy

import (
	"cmp"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// job is a file whose loudness is to be checked.
type job struct {
	track   station.Track
	profile string
	airs    bool // an older version airs meanwhile
	soon    int  // its turn among those that somebody waits for; 0: nobody does
}

// order sorts jobs by urgency. First is the bulletin of which nothing airs, then what somebody
// waits for. Of all others, files of which nothing airs come before those whose old version airs. Within each half the categories take turns, so that a new
// station has something of every deck within seconds; within a category the newest
// hour comes first, and within an hour the shortest file.
func order(jobs []job) []job {
	var soon, silent, airing []job
	for _, j := range jobs {
		switch {
		case j.soon > 0:
			soon = append(soon, j)
		case j.airs:
			airing = append(airing, j)
		default:
			silent = append(silent, j)
		}
	}
	slices.SortFunc(soon, func(a, b job) int { return cmp.Compare(a.soon, b.soon) })
	silent = turns(silent)
	first := 0
	if len(silent) > 0 && silent[0].track.Category == station.News {
		first = 1
	}
	return slices.Concat(silent[:first], soon, silent[first:], turns(airing))
}

// rounds is the order of categories within a round: first what ages fastest and
// what is quickest to master.
func rounds() []station.Category {
	return []station.Category{
		station.News, station.Sweepers, station.Jingles, station.SFX, station.Social, station.Ads, station.Shorts,
		station.ArabicHits, station.English, station.Mashups,
	}
}

func turns(jobs []job) []job {
	decks := map[station.Category][]job{}
	for _, j := range jobs {
		c := j.track.Category
		if !c.Valid() {
			c = station.English
		}
		decks[c] = append(decks[c], j)
	}
	for _, deck := range decks {
		slices.SortFunc(deck, func(a, b job) int {
			return cmp.Or(
				b.track.AddedAt.Truncate(time.Hour).Compare(a.track.AddedAt.Truncate(time.Hour)),
				cmp.Compare(a.track.Duration, b.track.Duration), cmp.Compare(a.track.Path, b.track.Path))
		})
	}
	return inTurn(decks)
}

// inTurn takes one job of each deck after another, as long as there are any.
func inTurn(decks map[station.Category][]job) (out []job) {
	for n, more := 0, true; more; n++ {
		more = false
		for _, c := range rounds() {
			if deck := decks[c]; n < len(deck) {
				out, more = append(out, deck[n]), true
			}
		}
	}
	return out
}
