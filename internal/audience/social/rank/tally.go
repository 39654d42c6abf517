package rank

import (
	"cmp"
	"slices"
)

// NewcomersWeight bounds what all voters whom the station does not know weigh
// together, whatever their number.
const NewcomersWeight = 3.0

// Vote is what one listener (a device at an address) thinks of one post now.
type Vote struct {
	Delta int8 // over 0 is up, under 0 down, 0 counts nothing

	// Address is where the listener votes from, and Network the wider network of
	// that address (of IPv4 the /24, of IPv6 the /48). Both are opaque; hashes will do.
	// The same Address in two networks is two addresses.
	Address, Network string

	// Known says that the station first met the listener at least a day before the vote.
	Known bool
}

// Tally weighs a post's votes, one of each listener. The weights are not
// whole numbers; both are 0 or more.
//
// The k-th voter of an address adds 1/k to what the address weighs. A network weighs
// 1 + ln of the sum of its addresses, which is the same law for sums. Votes up and down have their proportion of it. Newcomers are weighed among
// themselves, so that they take nothing from the known voters of their address.
//
// One more vote up, or one turned from down to up, never lowers up and never raises
// down; and so for votes down. The order of the votes does not matter, to the last bit.
func Tally(votes []Vote) (up, down float64) {
	known, newcomers := networks(votes)
	sum := known.add(newcomers.atMost(NewcomersWeight))
	return sum.up, sum.down
}

// weight is a weight of votes up and down.
type weight struct{ up, down float64 }

func (w weight) total() float64 { return w.up + w.down }

func (w weight) add(v weight) weight { return weight{w.up + v.up, w.down + v.down} }

// share is w with another total, in the same proportion.
func (w weight) share(total float64) weight {
	if w.total() <= 0 {
		return weight{}
	}
	return weight{total * (w.up / w.total()), total * (w.down / w.total())}
}

func (w weight) atMost(limit float64) weight {
	if w.total() <= limit {
		return w
	}
	return w.share(limit)
}

// networks are the sums of what all networks weigh, known voters and newcomers
// apart. Sums of floating point depend on their order, so the votes are sorted first.
func networks(votes []Vote) (known, newcomers weight) {
	for _, n := range grouped(votes) {
		knownHere, newHere := network(n)
		known, newcomers = known.add(knownHere), newcomers.add(newHere)
	}
	return known, newcomers
}

// grouped returns the votes of each class and network, sorted by address; known voters first.
func grouped(votes []Vote) (out [][]Vote) {
	sorted := slices.DeleteFunc(slices.Clone(votes), func(v Vote) bool { return v.Delta == 0 })
	slices.SortFunc(sorted, func(a, b Vote) int { return cmp.Or(byNetwork(a, b), cmp.Compare(a.Address, b.Address)) })
	for len(sorted) > 0 {
		n := run(sorted, byNetwork)
		out, sorted = append(out, sorted[:n]), sorted[n:]
	}
	return out
}

func byNetwork(a, b Vote) int {
	return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(a.Network, b.Network))
}

func class(v Vote) int {
	if v.Known {
		return 0
	}
	return 1
}

// run is how many votes at the front are alike.
func run(votes []Vote, compare func(a, b Vote) int) int {
	for i, v := range votes {
		if compare(votes[0], v) != 0 {
			return i
		}
	}
	return len(votes)
}

// network weighs the votes of one class and network, which are sorted by address.
func network(votes []Vote) (known, newcomers weight) {
	isKnown := votes[0].Known
	var sum weight
	for len(votes) > 0 {
		n := run(votes, func(a, b Vote) int { return cmp.Compare(a.Address, b.Address) })
		sum = sum.add(address(votes[:n]))
		votes = votes[n:]
	}
	sum = sum.share(flattened(sum.total(), 1))
	if isKnown {
		return sum, weight{}
	}
	return weight{}, sum
}

// address weighs the votes of one class and address.
func address(votes []Vote) weight {
	var counted weight
	harmonic := 0.0
	for i, v := range votes {
		harmonic += 1 / float64(i+1)
		if v.Delta > 0 {
			counted.up++
		} else {
			counted.down++
		}
	}
	return counted.share(harmonic)
}
