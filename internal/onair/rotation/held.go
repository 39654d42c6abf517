package rotation

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// What is held by hand goes into each rotation as it stands, before all that the planner
// chooses. It is counted as if it had aired, so the planner goes on behind it as after any
// other entry; and it is judged at its new time by the planner's own rules, which its
// Relaxed says, and Weigh.

// MostHeld bounds how many entries are held.
const MostHeld = 50

// Removed is a track that was taken out by hand: it rests as if it had just been heard.
type Removed struct {
	Path string    `json:"path"`
	At   time.Time `json:"at"`
}

// mostRemoved bounds how many are remembered.
const mostRemoved = 200

// stillRemoved returns those of the removed that may still have to rest, the newest last.
func stillRemoved(all []Removed, now time.Time) []Removed {
	out := slices.DeleteFunc(slices.Clone(all), func(r Removed) bool { return now.Sub(r.At) > HistoryKept })
	return slices.Clip(out[max(len(out)-mostRemoved, 0):])
}

// Placed is the entry of a track that was put into its place by hand.
func Placed(t station.Track) Entry {
	return Entry{
		Track: t, Type: typeOf(t.Category), Cross: CrossFor(&t), Hand: true,
		Why: Why{Reason: byHand, Wanted: t.Category, Considered: 1},
	}
}

const byHand = "placed by hand"

// Moved is an entry that was put into another place by hand: it keeps what it is of.
func (e Entry) Moved() Entry {
	if !e.Hand {
		e.Why.Reason = byHand + "; " + e.Why.Reason
	}
	e.Hand = true
	return e
}

// hold goes on with what is held. A file that is gone drops out, and so does a track that was taken
// off the air since, a bulletin that would tell a wrong time, and once what opens the rotation
// already.
func (p *plan) hold(entries []Entry) (broken []Break) {
	if len(entries) == 0 {
		return nil
	}
	opened := map[string]bool{}
	for _, e := range p.out {
		opened[e.Track.Path] = true
	}
	was := 0 // slot of the entry before, as it was
	for i, e := range entries {
		id, there := p.index.find(e.Track.Path)
		if !there {
			continue
		}
		if opened[e.Track.Path] {
			delete(opened, e.Track.Path)
			continue
		}
		c := p.single(id)
		if p.closedSince(c, e) {
			continue
		}
		starts := time.Unix(0, p.at+int64(p.later(CrossFor(&p.index.tracks[id])))).In(p.zone)
		if tells := p.tells[c.path]; !Timely(tells, starts) {
			broken = append(broken, Break{
				Entry: i, Rule: BulletinTime, Late: starts.Sub(tells), Due: tells,
				Detail: "it tells " + tells.In(p.zone).Format("15:04") + " and would be heard at " + starts.Format("15:04"),
			})
			continue
		}
		if e.Slot > 0 && (e.Slot != was || len(p.out) == 0 || p.out[len(p.out)-1].Slot == 0) {
			p.pace.slot++
		}
		was = e.Slot
		if p.restores(e) {
			p.recent = slices.Insert(slices.Clone(p.recent), 0, Heard{Category: station.News, At: starts, Due: e.Due})
		} else {
			e.AfterNews = false
		}
		broken = append(broken, p.keep(c, e, i, starts)...)
	}
	p.openedNames()
	slot := p.pace.slot
	p.pace = newPace(p, p.aired())
	p.pace.slot = slot
	return broken
}

// closedSince reports that an operator has taken a track off the air for the next place after it
// was held: that is the newer word.
func (p *plan) closedSince(c *candidate, e Entry) bool {
	was := station.Limits{}
	if e.Track.Own != nil {
		was = e.Track.Own.Limits
	}
	return c.limits != nil && *c.limits != was && !c.limits.OpenOn(p.day, p.hour)
}

// restores reports that the place for news before an entry is still to be filled.
func (p *plan) restores(e Entry) bool {
	return e.AfterNews && !slices.ContainsFunc(p.recent, func(h Heard) bool {
		return h.Category == station.News && p.time().Sub(h.At) < NewsLate
	}) && (len(p.out) == 0 || p.out[len(p.out)-1].Track.Category != station.News)
}

// keep adds a held entry, which starts at a time, and returns the rules that it breaks there.
func (p *plan) keep(c *candidate, e Entry, index int, at time.Time) []Break {
	ls := p.lists.of(e.List)
	p.wanted = c.hand.category
	b, broken := p.weigh(c, e, ls, index)
	p.place(&choice{card: c, breach: b, seen: 1, guest: e.Guest, list: ls, place: e.Place}, 0)
	out := &p.out[len(p.out)-1]
	out.Held, out.Hand, out.Why, out.Clock, out.AfterNews = e.Held, e.Hand, e.Why, e.Clock, e.AfterNews
	out.List, out.ListName, out.Place, out.Due, out.Tolerance = e.List, e.ListName, e.Place, e.Due, e.Tolerance
	if out.Guest == "" {
		out.Guest = e.Guest
	}
	if e.Slot > 0 {
		out.Slot = p.pace.slot
	}
	// Of the rules that go by how it was chosen, there is what was said then.
	for _, r := range e.Relaxed {
		if r == GenreSplit || r == Turnover {
			out.Relaxed = append(out.Relaxed, r)
		}
	}
	slices.SortStableFunc(out.Relaxed, func(x, y Rule) int { return int(bit(p.rules, y)) - int(bit(p.rules, x)) })
	out.Relaxed = slices.Compact(out.Relaxed)
	if !e.Due.IsZero() && !e.AfterNews {
		p.missed(out, at.Sub(e.Due))
	}
	if off := at.Sub(e.Due); !e.Due.IsZero() && off.Abs() > e.Tolerance {
		broken = append(broken, Break{Entry: index, Rule: TimedEvent, Detail: eventOff(e.Due, off), Late: off, Due: e.Due})
	}
	p.recent = slices.Insert(slices.Clone(p.recent), 0, Heard{Path: c.path, Artist: out.Track.Artist, Category: c.hand.category, At: at, Due: e.Due})
	return broken
}

// of returns the playlist of an ID; nil for none.
func (l *lists) of(id int64) *listing {
	if l == nil || id == 0 {
		return nil
	}
	return l.byID(id)
}

// removes notes what was taken out by hand, as if it had just been heard.
// A track that is still held elsewhere has its rest from there. It was not heard: it counts for
// no play a day, and for no turn of a listener.
func (p *plan) removes(r Request) {
	p.removed = map[int32]int64{}
	for _, out := range r.Removed {
		id, there := p.index.find(out.Path)
		if !there || out.At.After(r.Now) || r.holds(out.Path) {
			continue
		}
		p.removed[id] = max(p.removed[id], out.At.UnixNano())
	}
}

// holds reports that a path is held.
func (r Request) holds(path string) bool {
	return slices.ContainsFunc(r.Held, func(e Entry) bool { return e.Track.Path == path })
}

// restSince has a card rest since it was taken out by hand.
func (p *plan) restSince(c *candidate) {
	if at, there := p.removed[c.id]; there {
		c.last = max(c.last, at)
	}
}

// restsRemoved reports that a track was taken out by hand and rests since: no playlist brings it
// back meanwhile.
func (p *plan) restsRemoved(id int32) bool {
	at, there := p.removed[id]
	rest := p.elementCooldown
	if p.index.tracks[id].Category.Music() {
		rest = p.cooldown
	}
	return there && time.Duration(p.at-at) < rest
}
