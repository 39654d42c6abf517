package rank

// Support is how many networks are for a post more than against it, by the votes of one
// listener each. It decides whether a post is approved without a moderator, so it is stricter
// than Tally: a network is one voice, however many voters and addresses it has.
//
// The voice of a network is divided among its known voters as Tally divides its weight, and
// is what those up have more than those down: -1 to 1. Networks without a known voter count
// for NewcomersWeight together, at most, for it or against it.
//
// It is never more than the number of networks that have a vote up. One more vote up, or one
// turned from down to up, never lowers it; and so for votes down. The order of the votes does
// not matter, to the last bit.
func Support(votes []Vote) float64 {
	known, newcomers, met := 0.0, 0.0, map[string]bool{}
	for _, n := range grouped(votes) { // those of known voters first
		knownHere, newHere := network(n)
		switch name := n[0].Network; {
		case n[0].Known:
			met[name] = true
			known += knownHere.balance()
		case !met[name]:
			newcomers += newHere.balance()
		}
	}
	return known + min(max(newcomers, -NewcomersWeight), NewcomersWeight)
}

// balance is what votes up have more than those down, of a total of 1.
func (w weight) balance() float64 {
	one := w.share(1)
	return one.up - one.down
}
