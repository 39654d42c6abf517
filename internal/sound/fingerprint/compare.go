package fingerprint

import (
	"math"
	"math/bits"
)

const (
	// Same is the share of differing bits up to which two prints are one recording.
	Same = 0.15
	// Alike is the share up to which they most likely are, one of them much altered: by
	// an equaliser or a hard limiter, say. The same piece played again may be below it.
	Alike = 0.25

	piece = 50 // items that are aligned as one: six seconds
)

// limit is the share up to which a match over n items is no chance: the fewer items,
// the likelier two sounds agree on them. docs/fingerprints.md has what it was chosen from.
func limit(n int) float64 {
	const some, many = 64, 240
	switch {
	case n < some:
		return 0.10 + (Same-0.10)*float64(max(0, n-fewest))/(some-fewest)
	case n < many:
		return Same + (Alike-Same)*float64(n-some)/(many-some)
	}
	return Alike
}

// Difference is the share of differing bits between a and b over their best
// alignment, 0 to 1, and the items by which b begins later in a. Unrelated
// recordings differ by about 0.4 or more; a re-encoded, quieter or louder copy
// by next to nothing. At least half of the shorter one must lie over the other. The
// alignment may drift: a copy that plays up to 2 per cent faster or slower differs little.
func Difference(a, b Print) (share float64, offset int) {
	share = 1
	least := max(fewest, min(len(a), len(b))/2)
	for o := least - len(b); o <= len(a)-least; o++ {
		if l := lay(a, b, o); l.share < share {
			share, offset = l.share, l.offset
		}
	}
	return share, offset
}

// laid is b over a.
type laid struct {
	share  float64 // of differing bits
	offset int     // of b's first item that lies over a
	items  int     // that lie over each other
}

// lay compares b with a, b's item 0 over a's item o or a few beside it. Each piece lies where
// it fits best, at most one item from where the piece before lies.
func lay(a, b Print, o int) laid {
	from, to := max(0, -o), min(len(b), len(a)-o)
	n := to - from
	if n < max(fewest, min(len(a), len(b))/2) || !b[from:to].telling() || !a[from+o:to+o].telling() {
		return laid{share: 1}
	}
	slack := 2 + n/80
	pieces := max(1, (n+piece/2)/piece)
	type way struct {
		bits  float64
		start int
	}
	ways, next := make([]way, 2*slack+1), make([]way, 2*slack+1)
	for p := range pieces {
		low, high := from+n*p/pieces, from+n*(p+1)/pieces
		for d := range next {
			best := way{0, d - slack}
			if p > 0 {
				best = ways[d]
				for _, e := range [...]int{d - 1, d + 1} {
					if e >= 0 && e < len(ways) && ways[e].bits < best.bits {
						best = ways[e]
					}
				}
			}
			best.bits += differing(a, b, low, high, o+d-slack)
			next[d] = best
		}
		ways, next = next, ways
	}
	best := ways[slack]
	for _, w := range ways {
		if w.bits < best.bits {
			best = w
		}
	}
	return laid{min(1, best.bits/float64(32*n)), o + best.start, n}
}

// differing is how many bits differ between b's items from low to high and those of a
// that lie o further; past a's ends as many as in the rest.
func differing(a, b Print, low, high, o int) float64 {
	from, to := max(low, -o), min(high, len(a)-o)
	if 2*(to-from) < high-low {
		return math.Inf(1)
	}
	sum := 0
	for i, item := range b[from:to] {
		sum += bits.OnesCount32(item ^ a[from+o+i])
	}
	return float64(sum) * float64(high-low) / float64(to-from)
}
