package rotation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// shuffled is one track of a random order.
type shuffled struct {
	key   uint64
	index int // of List.Paths
}

// randomOrder is one of OrderShuffle.
type randomOrder struct {
	cycle   int
	all     []shuffled
	base    uint64 // ListState.Done of what was heard
	crowded bool   // much of it was heard ahead of its turn
}

const (
	// listAhead is from how many of a random order the best is chosen.
	listAhead = 8
	// listRemembered is of how many that were heard ahead of their turn a random order waits
	// for the others.
	listRemembered = 64
	// Where more than vainMost of a playlist were looked at and none may air, it is looked at
	// again after vainPause, or in another hour of the day.
	vainMost  = 256
	vainPause = 10 * time.Minute
)

// choose returns the next of a playlist; nil where nothing of it may air.
func (ls *listing) choose(p *plan) *choice {
	ls.fill(p)
	if ls.vain && p.at < ls.vainTo && p.hour == ls.vainIn {
		return nil
	}
	ls.barred = 0
	ch := ls.ordered(p)
	if ls.vain = ch == nil && ls.barred > vainMost; ls.vain {
		ls.vainTo, ls.vainIn = p.at+int64(vainPause), p.hour
	}
	return ch
}

// ordered returns the next of a playlist by its order.
func (ls *listing) ordered(p *plan) *choice {
	switch {
	case ls.Plays == PlaysOnce && ls.is && ls.begun:
		return ls.once(p)
	case ls.Order == OrderTurns && ls.Plays != PlaysOnce:
		return ls.byTurns(p)
	case ls.Order == OrderShuffle && ls.Plays != PlaysOnce:
		return ls.byShuffle(p)
	}
	n := len(ls.ids)
	for i, from := 0, ls.after(); i < n; i++ {
		if ch := ls.try(p, (from+i)%n); ch != nil {
			return ch
		}
	}
	return nil
}

// once goes through the playlist from the start of the window that is open, and no further.
func (ls *listing) once(p *plan) *choice {
	from, began := 0, ls.open.from
	if !ls.st.From.Before(began) { // also where a window that lay within this one has closed
		from, began = ls.after(), ls.st.From
	}
	for i := from; i < len(ls.ids); i++ {
		if ch := ls.try(p, i); ch != nil {
			ch.place.From = began
			return ch
		}
	}
	return nil
}

// after returns the place after the last that was heard; len(Paths) after the last of all. The
// playlist may have been changed since: then it is the place after the same track, or what
// stands where that was.
func (ls *listing) after() int {
	i, n := ls.st.Index, len(ls.Paths)
	if ls.st.Path == "" {
		return 0
	}
	for far := range n + 1 {
		for _, j := range []int{i - far, i + far} {
			if j >= 0 && j < n && ls.Paths[j] == ls.st.Path {
				return j + 1
			}
		}
	}
	return min(i, n)
}

// unjudged are the rules that do not judge what the operator has put into a playlist.
func (p *plan) unjudged() breach { return p.bits.split | p.bits.floor | p.bits.gate | p.bits.musicOnly }

// unbroken are the rules that no playlist breaks.
func (p *plan) unbroken() breach { return p.bits.justPlayed | p.bits.limits | p.bits.minimumRest }

// judgeListed returns the rules that a track of a playlist breaks; false if it may not air.
func (p *plan) judgeListed(c *candidate) (breach, bool) {
	if c.hand.category == station.News && !p.timely(c) || p.restsRemoved(c.id) {
		return 0, false
	}
	b := p.judge(c, (breach(1)<<len(p.rules)-1)&^p.unjudged(), &choice{})
	if !c.music {
		b &= p.bits.cooldown | p.bits.justPlayed | p.bits.limits | p.bits.timed
	}
	return b, b&p.unbroken() == 0
}

// bars reports whether one of the rules that no playlist breaks keeps a track off the air. It is
// quick: thousands may be out of season before one that may air.
func (ls *listing) bars(p *plan, id int32) bool {
	t := &p.index.tracks[id]
	if t.Own != nil && t.Own.Limits != (station.Limits{}) && !t.Own.Limits.OpenOn(p.day, p.hour) {
		return true
	}
	ls.barring = hand{category: t.Category, music: t.Category.Music()}
	c := p.card(&ls.barring, id)
	return justPlayed(p, &c) || beyondOwn(p, &c) || notRested(p, &c)
}

// try returns the track at a place; nil if it may not air.
func (ls *listing) try(p *plan, i int) *choice {
	if ls.ids[i] < 0 {
		return nil
	}
	if ls.bars(p, ls.ids[i]) {
		ls.barred++
		return nil
	}
	c := p.single(ls.ids[i])
	b, may := p.judgeListed(c)
	if !may {
		ls.barred++
		return nil
	}
	return ls.choice(c, b, i, fmt.Sprintf("playlist %q, %d of %d", ls.Name, i+1, len(ls.ids)))
}

func (ls *listing) choice(c *candidate, b breach, i int, why string) *choice {
	return &choice{card: c, breach: b, seen: 1, list: ls, place: ListPlace{List: ls.ID, Index: i}, reason: why}
}

// shuffle puts the tracks into the random order of a cycle. It follows from the playlist and the
// cycle, so it is the same in each build; a change of the playlist leaves the rest in order.
//
// Where many were heard ahead of others, those that may not air now lose their turn, and the rest
// come in order until they have caught up: a song out of season must not hold up the list.
func (ls *listing) shuffle(p *plan, cycle int) *randomOrder {
	if o := ls.random[cycle&1]; o != nil && o.cycle == cycle {
		return o
	}
	o := &randomOrder{cycle: cycle}
	ls.random[cycle&1] = o
	times := map[int32]uint64{}
	for i, id := range ls.ids {
		if id < 0 {
			continue
		}
		times[id]++
		key := scramble(hash(ls.Paths[i]) ^ scramble(uint64(ls.ID)<<32^uint64(cycle)) ^ times[id]) //nolint:gosec // mixed
		o.all = append(o.all, shuffled{max(key, 1), i})
	}
	slices.SortFunc(o.all, func(a, b shuffled) int { return cmp.Or(cmp.Compare(a.key, b.key), a.index-b.index) })
	if cycle != ls.st.Cycle {
		return o
	}
	o.base = ls.st.Done
	o.crowded = len(ls.st.Ahead) >= listRemembered
	for _, s := range o.all {
		if s.key > o.base && !slices.Contains(ls.st.Ahead, s.key) && !(o.crowded && ls.bars(p, ls.ids[s.index])) {
			break
		}
		o.base = max(o.base, s.key)
	}
	return o
}

// scramble spreads a number over all of 64 bits (splitmix64).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// byShuffle returns the best of the next few of the random order, and of a new one where nothing
// more of this one may air.
func (ls *listing) byShuffle(p *plan) *choice {
	for _, cycle := range []int{ls.st.Cycle, ls.st.Cycle + 1} {
		o := ls.shuffle(p, cycle)
		var best *choice
		may, most := 0, listAhead
		if cycle == ls.st.Cycle && o.crowded {
			most = 1
		}
		for _, s := range o.all {
			if cycle == ls.st.Cycle && (s.key <= o.base || s.key <= ls.st.Done || slices.Contains(ls.st.Ahead, s.key)) {
				continue
			}
			if may == most {
				break
			}
			ch := ls.try(p, s.index)
			if ch == nil {
				continue
			}
			if may++; best == nil || ch.breach < best.breach {
				best = ch
				best.place.Cycle, best.place.Key, best.place.Done = cycle, s.key, o.base
			}
		}
		if best != nil {
			best.reason = fmt.Sprintf("playlist %q, shuffled", ls.Name)
			best.seen = may
			return best
		}
	}
	return nil
}

// deal makes the hands of a playlist that plays by turns. They are judged as one, by the turns of
// each category on its own: those of a small deck have had many more.
func (ls *listing) deal(p *plan) {
	if ls.hands != nil {
		return
	}
	ls.hands = []*hand{}
	ids := slices.DeleteFunc(slices.Clone(ls.ids), func(id int32) bool { return id < 0 })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > wholeDeck {
		for i := range sampled {
			j := i + p.rng.IntN(len(ids)-i)
			ids[i], ids[j] = ids[j], ids[i]
		}
		ids = ids[:sampled]
	}
	for _, c := range station.Categories() {
		h := &hand{category: c, music: c.Music(), apart: true}
		for _, id := range ids {
			if p.index.tracks[id].Category == c {
				card := p.card(h, id)
				h.cards = append(h.cards, &card)
			}
		}
		if h.size = len(h.cards); h.size > 0 {
			h.settle()
			ls.hands = append(ls.hands, h)
		}
	}
}

// byTurns returns the track that breaks the least rules, then of the fewest turns, then the one
// that waited longest.
func (ls *listing) byTurns(p *plan) *choice {
	ls.deal(p)
	var best *choice
	ties, seen := 0, 0
	for _, h := range ls.hands {
		for _, c := range h.cards {
			seen++
			b, may := p.judgeListed(c)
			if !may {
				continue
			}
			ch := choice{card: c, breach: b}
			order := -1
			if best != nil {
				order = cmp.Or(cmp.Compare(b, best.breach), p.compareFit(&ch, best), cmp.Compare(c.round-h.low, best.card.round-best.card.hand.low), cmp.Compare(c.last, best.card.last))
			}
			if order == 0 {
				ties++
			} else if order < 0 {
				ties = 1
			}
			if order < 0 || order == 0 && p.rng.IntN(ties) == 0 {
				best = &ch
			}
		}
	}
	if best == nil {
		return nil
	}
	i := slices.Index(ls.ids, best.card.id)
	out := ls.choice(best.card, best.breach, i, fmt.Sprintf("playlist %q, by turns", ls.Name))
	out.seen = seen
	return out
}

// compareFit compares by how far off a timed event would be, of tracks that all miss it.
func (p *plan) compareFit(a, b *choice) int {
	if p.fit == nil || a.breach&p.bits.timed == 0 {
		return 0
	}
	return cmp.Compare(p.fit.miss(p.airtime(a.card)), p.fit.miss(p.airtime(b.card)))
}

// renew counts an airing that is planned, by whatever way, for the turns of a playlist.
func (ls *listing) renew(p *plan, aired *candidate) {
	for _, h := range ls.hands {
		for i, c := range h.cards {
			if c.id != aired.id {
				continue
			}
			if c != aired {
				c.air(p.at)
			}
			c.round = p.taken[c.id]
			c.starts = p.plays[c.id]
			h.cards[i] = c
			h.count()
		}
	}
}

// next returns a hand of what may come next, for its length; nil if that is nothing.
func (ls *listing) next(p *plan) *hand {
	ls.fill(p)
	if ls.Order == OrderTurns && ls.Plays != PlaysOnce {
		ls.deal(p)
		var most *hand
		for _, h := range ls.hands {
			if h.music && (most == nil || h.size > most.size) {
				most = h
			}
		}
		return most
	}
	ch := ls.first(p)
	if ch == nil || !ch.card.music {
		return nil
	}
	return ch.card.hand
}

// first returns what would come next of an open playlist, judged once for each place.
func (ls *listing) first(p *plan) *choice {
	if ls.peeked != len(p.out) {
		ls.peeked, ls.peek = len(p.out), ls.choose(p)
	}
	return ls.peek
}

// meanOf returns the mean airtime of what a clock's position that names a playlist brings; 0 if
// it brings nothing, and whether that is music.
func (l *lists) meanOf(p *plan, name string) (mean time.Duration, music bool) {
	ls := l.named(name)
	if ls == nil {
		return 0, true
	}
	if _, open := ls.opened(p); !open {
		return 0, true
	}
	ch := ls.first(p)
	if ch == nil {
		return 0, true
	}
	return p.airtime(ch.card), ch.card.music
}
