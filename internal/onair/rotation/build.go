package rotation

import (
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Build plans a rotation of BUFFER_MAX entries (mission: *Rotation and
// scheduler configuration*, *Rotation rebuild*, *Limits*). It follows the clock of
// each hour, or the mission's slot spacing if the hour has none. The same request
// gives the same rotation. It is empty only when the index is.
func Build(r Request) Rotation {
	rot, _ := build(r)
	return rot
}

// build is Build, with the rules that what is held breaks.
func build(r Request) (Rotation, []Break) {
	p := newPlan(r)
	p.force(r.Head)
	p.forceOf(r.HeadOf, r.Held)
	broken := p.hold(r.Held)
	if p.turnWheel(); p.wheel == nil || p.wheel.open() {
		p.goOn(p.recent)
	}
	for len(p.out) < r.Config.Rotation.BufferMax {
		if p.turnWheel(); p.lists.interject(p) {
			continue
		}
		if p.wheel != nil {
			if !p.follow() {
				break
			}
			continue
		}
		if !p.music() {
			break
		}
		p.imaging()
	}
	return r.rotation(p.out, r.Seed, p.starts), broken
}

// Continue is a rotation of entries that were planned with another one, was: those in flight,
// with which they begin, and those that the index no longer has are left out.
func Continue(r Request, was Rotation, planned []Entry) Rotation {
	var out []Entry
	for _, e := range planned[min(len(r.InFlight), len(planned)):] {
		if _, there := r.Index.find(e.Track.Path); there {
			out = append(out, e)
		}
	}
	return r.rotation(out, was.Seed, r.starts())
}

func (r Request) rotation(entries []Entry, seed uint64, starts time.Time) Rotation {
	rot := Rotation{Entries: entries, Daypart: DaypartKey(r.Config, r.Now), Seed: seed, BuiltAt: r.Now, Starts: starts}
	for _, t := range slices.Concat(r.InFlight, r.Prepared) {
		rot.InFlight = append(rot.InFlight, t.Path)
	}
	rot.Listed, rot.ListKey = r.Listed, ListKey(r.Config, r.Lists, r.Now)
	rot.Asked = r.Overlay.asked(slices.Concat(r.InFlight, r.Prepared))
	rot.Removed, rot.HeldBy, rot.Flown = stillRemoved(r.Removed, r.Now), r.HeldBy, r.Flown
	for _, path := range r.Opened {
		if !slices.Contains(rot.InFlight, path) {
			rot.InFlight = append(rot.InFlight, path)
		}
	}
	return rot
}

// force opens the rotation with what was queued or chosen.
func (p *plan) force(paths []string) {
	for _, path := range paths {
		id, ok := p.index.find(path)
		if !ok || p.full() {
			continue
		}
		c := p.single(id)
		p.wanted = c.hand.category
		ch := &choice{card: c, seen: 1}
		if c.music {
			ch.breach = p.judge(c, breach(1)<<len(p.rules)-1, &choice{})
		}
		p.place(ch, 0)
		why := &p.out[len(p.out)-1].Why
		if why.Reason = "chosen by the operator"; !p.tells[path].IsZero() {
			why.Reason = "the newest bulletin"
		}
	}
}

// forceOf opens the rotation with the track of a category that breaks the least
// rules, and that is not held if there is another; of news with the newest bulletin, because an
// older one tells the wrong time.
func (p *plan) forceOf(c station.Category, held []Entry) {
	if !c.Valid() || p.full() {
		return
	}
	for _, e := range held { // each comes anyway
		p.last = append(slices.Clip(p.last), e.Track.Path)
	}
	p.wanted = c
	ch := &choice{}
	all := breach(1)<<len(p.rules) - 1
	p.look(ch, p.hand(c, false).cards, all, all+1)
	if ch.card == nil {
		p.look(ch, p.hand(c, true).cards, all, all+1)
	}
	if ch.card == nil {
		return
	}
	if c == station.News {
		if ch.card = p.newest(p.hand(c, false)); !p.timely(ch.card) {
			return
		}
	}
	if !c.Music() {
		ch.breach = 0
	}
	p.place(ch, 0)
	p.out[len(p.out)-1].Why.Reason = fmt.Sprintf("the best of %s, which the operator chose", c)
}

func (p *plan) full() bool { return len(p.out) >= p.cfg.Rotation.BufferMax }

// music adds the next music entry; false when there is nothing to play.
func (p *plan) music() bool {
	if p.lists.place(p, true) {
		return true
	}
	p.wanted, p.drawn = p.mix.next(p.rng), true
	ch := p.song()
	p.drawn = false
	if ch == nil {
		return false
	}
	if len(p.gaps) > 0 && !ch.card.hand.apart && ch.card.round > ch.card.hand.low {
		ch = p.elsewhere(ch)
	}
	p.place(ch, 0)
	p.mix.served(ch.card.hand.category)
	return true
}

// elsewhere serves a category ahead of its turn if its song is due, while the songs that
// are due in the wanted one have to wait for an artist who has just been heard: drawing
// an artist's rivals in their place would air them more often than that artist.
func (p *plan) elsewhere(ch *choice) *choice {
	was := p.wanted
	for _, c := range p.mix.others(was) {
		p.wanted = c
		other := p.pickMusic()
		if other != nil && other.breach <= ch.breach && other.card.hand.category == c && other.card.round <= other.card.hand.low {
			return other
		}
	}
	p.wanted = was
	return ch
}

// musicOf adds a music entry of the wanted category, or of another in its place.
func (p *plan) musicOf() *choice {
	ch := p.song()
	if ch != nil {
		p.place(ch, 0)
	}
	return ch
}

// song returns the next music entry; nil if the rotation ends here.
func (p *plan) song() *choice {
	ch := p.chosen()
	if ch != nil && p.apart(ch) {
		ch = p.chosen()
	}
	if ch == nil || p.full() || p.enough(ch) {
		return nil
	}
	return ch
}

// chosen returns the best music entry of the wanted category, or of another in its place;
// nil if there is none at all.
func (p *plan) chosen() *choice {
	if ch := p.guest(); ch != nil {
		return ch
	}
	return p.pickMusic()
}

// single returns a hand of one track that need not be in a deck.
func (p *plan) single(id int32) *candidate {
	t := &p.index.tracks[id]
	h := &hand{category: t.Category, music: t.Category.Music(), apart: true, size: 1, poor: p.isPoor(id)}
	c := p.card(h, id)
	h.cards, h.low = []*candidate{&c}, c.round
	return &c
}

// place adds the chosen track and moves on to the time after it.
func (p *plan) place(ch *choice, slot int) {
	c := ch.card
	t := p.index.tracks[c.id]
	cat := c.hand.category
	why := p.why(ch)
	cross := CrossFor(&t)
	p.at += int64(p.later(cross))
	c.air(p.at)
	if c.hand.apart {
		if own := p.find(c.id); own != nil {
			own.air(p.at)
			c.round = own.round
		}
	}
	e := Entry{
		Track: t, Type: typeOf(cat), Cross: cross, Slot: slot, Round: c.round,
		AfterNews: p.free.open, Due: p.free.due, Tolerance: p.free.tolerance, Relaxed: ch.breach.rules(p.rules), Why: why,
	}
	if e.Guest = ch.guest; t.Submitter != "" {
		e.Guest = GuestPost // the operator's choice too
	}
	p.company.placed(c.id, t, e.Guest, p.at)
	p.free = freePlace{}
	if p.wheel != nil {
		e.Clock = p.wheel.clock.Name
	}
	p.taken[c.id] = c.round
	p.heard(c.id, p.at)
	if c.music {
		p.lastArtists = p.index.names[c.id].artists
	}
	p.last = []string{c.path}
	if len(p.out) == 0 {
		p.starts = p.time()
	}
	p.lists.placed(p, ch, &e)
	p.out = append(p.out, e)
	p.cross = e.Cross
	p.reach(p.at + int64(airtime(t, e.Cross)))
	p.pace.placed(cat)
}

// later returns how much later the next entry starts than a song would: the engine
// overlaps neighbours by the shorter of their crosses.
func (p *plan) later(cross time.Duration) time.Duration { return p.cross - min(p.cross, cross) }

// airtime returns how long an entry is on air before a song that follows it.
func airtime(t station.Track, cross time.Duration) time.Duration { return max(t.Duration-cross, 0) }

// Expected returns when each entry starts if the first one starts at the given time.
func Expected(entries []Entry, at time.Time) []time.Time {
	out := make([]time.Time, len(entries))
	for i, e := range entries {
		out[i] = at
		cross := e.Cross
		if i+1 < len(entries) {
			cross = min(cross, entries[i+1].Cross)
		}
		at = at.Add(airtime(e.Track, cross))
	}
	return out
}
