package rank

import (
	"cmp"
	"slices"
	"time"
)

// The guarantee on top of the score.
const (
	// HeardWithin is the age by which every approved post has aired.
	HeardWithin = 48 * time.Hour

	// Overdue is the age from which a post that never aired goes before all others.
	// Until then the score may choose among the new ones. What is left of HeardWithin
	// is enough for 40 posts that come at once, and the two that already waited, at one
	// place in an hour, whatever anybody votes. In general HeardWithin holds while no more
	// posts wait than there are places in HeardWithin − Overdue.
	Overdue = 6 * time.Hour
)

// Order is the posts' ids, first the one to be put on the air first.
//
// Posts that never aired and are Overdue come first, the oldest of them first: in no
// other order is the latest of them less late. The others come by their total, highest
// first. Of equal ones the one approved earlier comes
// first, and of those the one with the lower id.
func Order(posts []Facts) []int64 {
	places := make([]place, len(posts))
	for i, f := range posts {
		places[i] = placeOf(f)
	}
	slices.SortStableFunc(places, place.compare)
	ids := make([]int64, len(places))
	for i, p := range places {
		ids[i] = p.ID
	}
	return ids
}

// Compare is which of two posts Order has first: negative for a, 0 only for one with itself.
func Compare(a, b Facts) int { return placeOf(a).compare(placeOf(b)) }

// place is what Order goes by.
type place struct {
	Facts
	overdue bool
	total   float64
}

func placeOf(f Facts) place {
	if f.Plays <= 0 && f.Age >= Overdue {
		return place{f, true, 0} // the age alone decides
	}
	return place{f, false, Score(f).Total}
}

func (a place) compare(b place) int {
	if a.overdue != b.overdue {
		if a.overdue {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.total, a.total), earlier(a.Age, b.Age, a.ID, b.ID))
}

// earlier breaks ties: the greater age first, then the lower id.
func earlier(a, b time.Duration, idA, idB int64) int {
	return cmp.Or(cmp.Compare(b, a), cmp.Compare(idA, idB))
}
