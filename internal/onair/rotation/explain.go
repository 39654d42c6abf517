package rotation

import "time"

// Standing is how one track stands for the next place that the planner fills.
type Standing struct {
	// Broken are the rules that it would break there, the most important first; but for its
	// category, which is drawn anew for each place.
	Broken []Rule
	// Turns is how often it has had its turn in its deck, Fewest the least of the others, and
	// Before how many of the deck's Size have had fewer turns: they come first.
	Turns, Fewest, Before, Size int
	// Weight is the share of its category in the mix of music now, 0 to 1.
	Weight float64
	At     time.Time // of the place
}

// Explain says how a track stands for the first place that Build would fill, behind what is held;
// false where the library has no such track.
func Explain(r Request, path string) (Standing, bool) {
	id, ok := r.Index.find(path)
	if !ok {
		return Standing{}, false
	}
	p := newPlan(r)
	p.hold(r.Held)
	t := &p.index.tracks[id]
	p.wanted = t.Category
	good, poor := p.index.deck(t.Category, p.floor)
	out := Standing{Turns: p.turns.Of(path).Round, Size: len(good), At: p.time()}
	if p.isPoor(id) {
		out.Size = len(poor)
	}
	c := p.single(id)
	h := p.hand(t.Category, p.isPoor(id))
	c.hand.low = h.low // so that its turn is judged against its deck
	out.Broken = p.judge(c, breach(1)<<len(p.rules)-1, &choice{}).rules(p.rules)
	if !c.music {
		out.Broken = only(out.Broken, Cooldown, JustPlayed, TrackLimits)
	}
	if len(h.cards) > 0 {
		out.Fewest = max(h.low, 0)
		fewer := 0
		for _, other := range h.cards {
			if other.id != id && other.round < c.round {
				fewer++
			}
		}
		out.Before = fewer * out.Size / len(h.cards) // a sample stands for a large deck
	}
	total := 0.0
	for _, w := range p.weights {
		total += max(w, 0)
	}
	if total > 0 {
		out.Weight = max(p.weights[t.Category], 0) / total
	}
	return out, true
}

func only(rules []Rule, some ...Rule) (out []Rule) {
	for _, r := range rules {
		for _, s := range some {
			if r == s {
				out = append(out, r)
			}
		}
	}
	return out
}
