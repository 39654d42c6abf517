package rotation

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Rules of what is held that are none of the ladder: the planner never breaks them.
const (
	// PlaylistOrder says that a playlist that plays in sequence would go on elsewhere.
	PlaylistOrder Rule = "playlist-order"
	// BulletinTime says that a bulletin would tell a wrong time: it drops out.
	BulletinTime Rule = "bulletin-time"
)

// Break is a rule that an entry breaks in the place in which it is held.
type Break struct {
	Entry  int // index in the order that was weighed
	Rule   Rule
	Detail string
	// Late is how far off its time it is, of a timed event and a bulletin, and Due that time.
	Late time.Duration
	Due  time.Time
	// After is how long it begins after the airing to which it is too near, and Other the track
	// of that, unless it is the same one.
	After time.Duration
	Other station.Track
}

// weigh judges a held entry for the next place.
func (p *plan) weigh(c *candidate, e Entry, ls *listing, index int) (b breach, broken []Break) {
	if h := p.hand(c.hand.category, c.hand.poor); len(h.cards) > 0 {
		c.hand.low = h.low // so that its turn is judged against its deck
	}
	all := breach(1)<<len(p.rules) - 1
	if !c.music {
		all = p.bits.cooldown | p.bits.justPlayed | p.bits.limits
	}
	b = p.judge(c, all, &choice{})
	for _, r := range b.rules(p.rules) {
		b := Break{Entry: index, Rule: r, Detail: p.detail(c, r)}
		b.After, b.Other = p.near(c, r)
		broken = append(broken, b)
	}
	if instead, out := ls.outOfOrder(p, c, e); out {
		broken = append(broken, Break{Entry: index, Rule: PlaylistOrder, Detail: fmt.Sprintf("number %d of playlist %q comes, its next is number %d", e.Place.Index+1, ls.Name, instead+1)})
	}
	return b, broken
}

// outOfOrder reports that a playlist that plays in sequence would go on with another of its
// tracks, and with which.
func (ls *listing) outOfOrder(p *plan, c *candidate, e Entry) (instead int, out bool) {
	if ls == nil || ls.Plays != PlaysOnce && (ls.Order == OrderTurns || ls.Order == OrderShuffle) {
		return 0, false
	}
	ls.opened(p)
	if ls.bars(p, c.id) { // which is said of the track itself
		return 0, false
	}
	ch := ls.choose(p)
	if ch == nil || ch.place.Index == e.Place.Index || ch.card.id == c.id {
		return 0, false
	}
	return ch.place.Index, true
}

// near returns how long after the airing to which it is too near a track begins in the next place,
// and the track of that, unless it is its own.
func (p *plan) near(c *candidate, r Rule) (after time.Duration, other station.Track) {
	to := func(s spaced, key uint64, is func(names) bool) (time.Duration, station.Track) {
		return time.Duration(p.at - s[key]), p.airedAt(s[key], is)
	}
	switch r {
	case ArtistGap:
		if a, _ := p.artistNear(c); a != 0 {
			return to(p.artists, a, func(n names) bool { return slices.Contains(n.artists, a) })
		}
	case TitleGap:
		return to(p.titles, c.title, func(n names) bool { return n.title == c.title })
	case AlbumGap:
		return to(p.albums, c.album, func(n names) bool { return n.album == c.album })
	case FreshWindow, Cooldown, MinimumRest:
		return c.since(p.at), other
	case TrackLimits:
		if c.limits != nil && c.since(p.at) < c.limits.Rest {
			return c.since(p.at), other
		}
	}
	return 0, other
}

// airedAt returns the track with certain names that begins at a time.
func (p *plan) airedAt(at int64, is func(names) bool) (t station.Track) {
	least := int32(math.MaxInt32)
	for id, starts := range p.plays {
		if id < least && slices.Contains(starts, at) && is(p.index.names[id]) {
			least, t = id, p.index.tracks[id]
		}
	}
	return t
}

// artistNear returns the artist of a track who was heard too short a time before, and the gap.
func (p *plan) artistNear(c *candidate) (artist uint64, gap time.Duration) {
	for _, a := range c.artists {
		if !p.artists.within(a, p.at, p.artistGap) {
			continue
		}
		own, shorter := p.gaps[a]
		if !shorter {
			return a, p.artistGap
		}
		if p.artists.within(a, p.at, own) {
			return a, own
		}
	}
	return 0, 0
}

// detail says in words how a track breaks a rule in the next place.
func (p *plan) detail(c *candidate, r Rule) string {
	apart := func(s spaced, key uint64, gap time.Duration) string {
		return fmt.Sprintf("%s after the one before, %s should lie between", span(time.Duration(p.at-s[key])), span(gap))
	}
	rested := func(least time.Duration) string {
		return fmt.Sprintf("it begins %s after it last did, it should rest %s", span(c.since(p.at)), span(least))
	}
	switch r {
	case ArtistGap:
		if a, gap := p.artistNear(c); a != 0 {
			return "a song of the artist begins " + apart(p.artists, a, gap)
		}
	case TitleGap:
		return "a recording of the same song begins " + apart(p.titles, c.title, p.titleGap)
	case AlbumGap:
		return "a song of the album begins " + apart(p.albums, c.album, p.albumGap)
	case FreshWindow:
		return rested(p.fresh)
	case Cooldown:
		if c.music {
			return rested(p.cooldown)
		}
		return rested(p.elementCooldown)
	case MinimumRest:
		return rested(p.rest)
	case DayLimit:
		return fmt.Sprintf("it has aired %d times within 24 hours", p.cfg.Rotation.MaxPlaysDay)
	case HardGate:
		if p.hard != "" {
			return fmt.Sprintf("%s alone airs then", p.hard)
		}
		return fmt.Sprintf("no %s airs then", c.hand.category)
	case TrackLimits:
		return p.limitBroken(c)
	case QualityFloor:
		return fmt.Sprintf("it lasts %s", span(p.index.tracks[c.id].Duration))
	}
	for _, info := range p.rules {
		if info.Rule == r {
			return info.Why
		}
	}
	return ""
}

// limitBroken says which of a track's own limits forbids it in the next place.
func (p *plan) limitBroken(c *candidate) string {
	l := c.limits
	switch {
	case l == nil:
	case !l.OpenOn(p.day, p.hour):
		return "its own dates, days or hours do not allow it then"
	case c.since(p.at) < l.Rest:
		return fmt.Sprintf("it begins %s after it last did, its own rest is %s", span(c.since(p.at)), span(l.Rest))
	}
	return "its own plays a day are used up"
}

func eventOff(due time.Time, off time.Duration) string {
	way := "after"
	if off < 0 {
		way = "before"
	}
	return fmt.Sprintf("planned %s %s its time, %s", span(off.Abs()), way, due.Format("15:04:05"))
}

func span(d time.Duration) string { return d.Round(time.Second).String() }

// Order is an order of what comes, as somebody would have it.
type Order struct {
	Entries []Entry
	From    []int // where each entry stands before, -1 for a new one
	Touched int   // so many of the entries before were looked at
	Removed int   // which of them was taken out; -1 for none
}

// Weigh returns the rules that an order breaks and the entries before it do not, and those that
// it mends. Entry counts in before; of a new entry, at index i of the order, it is -1-i. Timed
// events that are not held are taken from where the planner has them behind it. was and is are
// what the rotation would be built of before and after.
func Weigh(was, is Request, before []Entry, o Order) (breaks, lifts []Break) {
	was.Held, is.Held = before[:o.Touched], o.Entries
	p := newPlan(was)
	p.force(was.Head)
	now := p.hold(was.Held)
	rot, then := build(is)
	place := func(i int) int {
		if o.From[i] >= 0 {
			return o.From[i]
		}
		return -1 - i
	}
	same := func(i int, b Break) func(Break) bool {
		return func(other Break) bool { return other.Entry == i && other.Rule == b.Rule }
	}
	for _, b := range then {
		from := o.From[b.Entry]
		k := slices.IndexFunc(now, same(from, b))
		if from < 0 || k < 0 || b.Late.Abs() > now[k].Late.Abs()+listTolerance {
			b.Entry = place(b.Entry)
			breaks = append(breaks, b)
		}
	}
	for _, b := range now {
		i := slices.Index(o.From, b.Entry)
		if i < 0 && b.Entry != o.Removed { // the planner's again
			continue
		}
		if i < 0 || !slices.ContainsFunc(then, same(i, b)) {
			lifts = append(lifts, b)
		}
	}
	return append(breaks, delayed(was, before, o, rot)...), lifts
}

// delayed returns the timed events of the planner's own that a new rotation has out of their
// tolerance, or not at all, and the entries before did not.
func delayed(was Request, before []Entry, o Order, rot Rotation) (out []Break) {
	expected, at := Expected(rot.Entries, rot.Starts), Expected(before, was.starts())
	end := rot.Starts
	if n := len(rot.Entries); n > 0 {
		end = expected[n-1]
	}
	for i, e := range before {
		if e.Due.IsZero() || i == o.Removed || slices.Contains(o.From, i) || e.Due.After(end) {
			continue
		}
		if at[i].Sub(e.Due).Abs() > e.Tolerance {
			continue
		}
		k := slices.IndexFunc(rot.Entries, func(n Entry) bool { return n.Due.Equal(e.Due) })
		if k < 0 {
			held := rot.Starts
			for j := range rot.Entries {
				if rot.Entries[j].Held {
					held = expected[j].Add(airtime(rot.Entries[j].Track, rot.Entries[j].Cross))
				}
			}
			if off := held.Sub(e.Due); off > e.Tolerance {
				out = append(out, Break{Entry: i, Rule: TimedEvent, Detail: fmt.Sprintf("it would not air: what is held goes on %s after its time, %s", span(off), e.Due.Format("15:04:05")), Late: off, Due: e.Due})
			}
			continue
		}
		if off := expected[k].Sub(e.Due); off.Abs() > e.Tolerance {
			out = append(out, Break{Entry: i, Rule: TimedEvent, Detail: eventOff(e.Due, off), Late: off, Due: e.Due})
		}
	}
	return out
}
