package rotation

import (
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// lists is what the operator's playlists bring to one build. Nil: there are none.
type lists struct {
	all   []*listing
	timed bool                // one of them has timed events
	names map[string]*listing // by the names in clocks; nil: none is called so
}

// listing is one playlist, and where it stands in a build.
type listing struct {
	*List
	st    ListState // as if all that is planned had aired
	since int       // of PlaysSongs: songs since its last
	ids   []int32   // by place, -1 where the library has none; nil until it is needed

	open  spell // that covers the time until it is looked at again
	is    bool  // open at look
	look  int64 // Unix ns: from then on it is looked at again
	begun bool  // look was set

	peeked int     // entries of the rotation when peek was made; -1: it was not
	peek   *choice // what would come next then; nil: nothing

	events    []time.Time // ahead, ascending
	eventsFor int64       // Unix ns: from then on they are looked for again

	random [2]*randomOrder // the last two, by the parity of the cycle

	vain    bool // nothing of many may air, until vainTo (Unix ns) within the hour vainIn
	vainTo  int64
	vainIn  int
	barred  int  // places that choose has tried in vain
	barring hand // of bars

	hands []*hand // of OrderTurns: its tracks by category
}

const (
	// listTolerance is how far off its time a playlist's event may start.
	listTolerance = 30 * time.Second
	// listEarly is how early a window that takes over the music opens for the planner, as
	// early as its event may be.
	listEarly = listTolerance / 3
	// lookAhead is how long it is known whether a window is open before it is computed again.
	lookAhead = 6 * time.Hour
)

func newLists(p *plan, r Request) *lists {
	if len(r.Lists) == 0 {
		return nil
	}
	l := &lists{names: map[string]*listing{}}
	for i := range r.Lists {
		ls := &listing{List: &r.Lists[i], st: r.State.Lists[r.Lists[i].ID], peeked: -1}
		if ls.st.Due.After(r.Now.Add(2 * mostLate)) { // the clock was set back since
			ls.st.Due = time.Time{}
		}
		if ls.st.From.After(r.Now.Add(2 * mostLate)) {
			ls.st.From = time.Time{}
		}
		l.all = append(l.all, ls)
		l.timed = l.timed || ls.List.timed()
	}
	for _, t := range r.InFlight {
		if pl, ok := r.Listed[t.Path]; ok {
			if ls := l.byID(pl.List); ls != nil {
				ls.st = ls.st.heard(pl, t.Path, r.Now)
			}
		}
	}
	l.count(p, r)
	return l
}

func (l *lists) byID(id int64) *listing {
	i := slices.IndexFunc(l.all, func(ls *listing) bool { return ls.ID == id })
	if i < 0 {
		return nil
	}
	return l.all[i]
}

// named returns the playlist of which a clock's position has the name; nil if there is none.
func (l *lists) named(name string) *listing {
	if l == nil {
		return nil
	}
	ls, known := l.names[name]
	if !known {
		if i := slices.IndexFunc(l.all, func(ls *listing) bool { return ls.IsNamed(name) }); i >= 0 {
			ls = l.all[i]
		}
		l.names[name] = ls
	}
	return ls
}

// count counts the songs since each playlist of PlaysSongs was last heard, from what aired and
// what is in flight.
func (l *lists) count(p *plan, r Request) {
	var songs []int64
	for _, ls := range l.all {
		if ls.Plays != PlaysSongs {
			continue
		}
		if songs == nil {
			songs = p.songStarts(r)
		}
		last := int64(never)
		if !ls.st.At.IsZero() {
			last = min(ls.st.At.UnixNano(), p.now) // the clock may have been set back since
		}
		if open, is := ls.opened(p); is && len(ls.When) > 0 {
			last = max(last, ls.openSince(p, open, last)-1)
		}
		after, _ := slices.BinarySearch(songs, last+1)
		ls.since = len(songs) - after
	}
}

// openSince returns since when a playlist has been open, Unix ns: windows of whole days are one
// stretch. It does not look beyond the time back to which songs are counted.
func (ls *listing) openSince(p *plan, open spell, back int64) int64 {
	back = max(back, p.now-int64(HistoryKept))
	for open.from.UnixNano() > back {
		before, was := ls.spell(p.parts, open.from.Add(-time.Nanosecond))
		if !was {
			break
		}
		open = before
	}
	return open.from.UnixNano()
}

// songStarts returns when songs aired within the history, and those in flight, ascending.
func (p *plan) songStarts(r Request) []int64 {
	songs := []int64{}
	for path, starts := range r.State.History.All() {
		if id, ok := p.index.find(path); ok && p.index.tracks[id].Category.Music() {
			for _, at := range starts {
				songs = append(songs, at.UnixNano())
			}
		}
	}
	for _, t := range r.InFlight {
		if t.Category.Music() {
			songs = append(songs, r.Now.UnixNano())
		}
	}
	slices.Sort(songs)
	return songs
}

// again reports whether what the engine has opened ahead is of a playlist that goes in order, its
// own or a random one: once dropped, its place is the next. It is asked before there is a plan.
func (r Request) again(path string) bool {
	pl, listed := r.Listed[path]
	i := slices.IndexFunc(r.Lists, func(l List) bool { return l.ID == pl.List })
	return listed && i >= 0 && (r.Lists[i].Order != OrderTurns || r.Lists[i].Plays == PlaysOnce)
}

// opened returns the stretch in which a playlist may play in the next place.
func (ls *listing) opened(p *plan) (spell, bool) {
	if ls.begun && p.at < ls.look {
		return ls.open, ls.is
	}
	at := p.time()
	if ls.Plays == PlaysOnly || ls.Plays == PlaysOnce {
		at = at.Add(listEarly)
	}
	was := ls.is || !ls.begun
	ls.open, ls.is = ls.spell(p.parts, at)
	if ls.is && !was {
		ls.since = 0 // counted from the window's start
	}
	until := at.Add(lookAhead)
	if next := ls.starts(p.parts, at, until, true); len(next) > 0 {
		until = next[0]
	}
	if ls.is && ls.open.to.Before(until) {
		until = ls.open.to
	}
	ls.begun, ls.look = true, p.at+int64(until.Sub(at))
	return ls.open, ls.is
}

// fill finds the tracks of a playlist in the library. Listeners' posts air in their own ways.
func (ls *listing) fill(p *plan) {
	if ls.ids != nil {
		return
	}
	ls.ids = make([]int32, len(ls.Paths))
	for i, path := range ls.Paths {
		id, ok := p.index.find(path)
		if !ok || p.index.tracks[id].Submitter != "" {
			id = -1
		}
		ls.ids[i] = id
	}
}

// place adds an entry of a playlist in a place for music. False: the place is ordinary.
func (l *lists) place(p *plan, drawn bool) bool {
	if l == nil || p.full() {
		return false
	}
	for _, ls := range l.claims(p) {
		ch := ls.choose(p)
		if ch == nil {
			continue
		}
		if drawn && ls.Plays == PlaysShare {
			l.serve(p, ch)
		}
		p.placeListed(ch)
		return true
	}
	return false
}

// serve counts a song for its category: it came in the place of one that the mix would have
// drawn. What has the music to itself is none of the mix, which goes on as it was after it.
func (l *lists) serve(p *plan, ch *choice) {
	if ch.card.music {
		p.mix.next(p.rng)
		p.mix.served(ch.card.hand.category)
	}
}

// placeListed adds an entry of a playlist, imaging to the break before it.
func (p *plan) placeListed(ch *choice) {
	slot := 0
	if !ch.card.music {
		slot, _ = p.openSlot()
	}
	p.wanted = ch.card.hand.category
	p.place(ch, slot)
}

// claims returns whose the next place for music is, the first that can fill it: a playlist that
// plays once, then those that have the music to themselves, by turns, then one by chance.
func (l *lists) claims(p *plan) []*listing {
	var once, only, some []*listing
	chance, drawn := 0.0, -1.0
	for _, ls := range l.all {
		if ls.Plays != PlaysOnce && ls.Plays != PlaysOnly && ls.Plays != PlaysShare {
			continue
		}
		if _, open := ls.opened(p); !open {
			continue
		}
		switch ls.Plays {
		case PlaysOnce:
			once = append(once, ls)
		case PlaysOnly:
			only = append(only, ls)
		default:
			if drawn < 0 {
				drawn = p.rng.Float64()
			}
			if was := chance; was <= drawn && drawn < was+ls.Share {
				some = append(some, ls)
			}
			chance += ls.Share
		}
	}
	slices.SortStableFunc(once, func(a, b *listing) int { return b.open.from.Compare(a.open.from) })
	slices.SortStableFunc(only, func(a, b *listing) int { return a.st.At.Compare(b.st.At) })
	return slices.Concat(once, only, some)
}

// position adds what a clock's position that names a playlist wants; false when there is nothing
// to play at all.
func (p *plan) position(name string) bool {
	missing := fmt.Sprintf("no playlist is called %q: ", name)
	if ls := p.lists.named(name); ls != nil {
		missing = fmt.Sprintf("playlist %q has nothing that may air now: ", name)
		if ch := ls.chosen(p); ch != nil && !p.full() {
			p.lists.serve(p, ch)
			p.placeListed(ch)
			return true
		}
	}
	n := len(p.out)
	if !p.music() {
		return false
	}
	p.out[n].Why.Reason = missing + p.out[n].Why.Reason
	return true
}

// chosen is choose for a playlist that must be open.
func (ls *listing) chosen(p *plan) *choice {
	if _, open := ls.opened(p); !open {
		return nil
	}
	return ls.choose(p)
}

// interject adds one of a playlist after every so many songs, unless a timed event comes first.
func (l *lists) interject(p *plan) bool {
	if l == nil || p.full() {
		return false
	}
	for _, ls := range l.all {
		if ls.Plays != PlaysSongs {
			continue
		}
		if _, open := ls.opened(p); !open || ls.since < ls.Every {
			continue
		}
		ch := ls.choose(p)
		if ch == nil {
			continue
		}
		if p.wheel != nil {
			if ev, ahead := p.ahead(p.wheel); ahead && ev.due().Sub(p.time()) < p.airtime(ch.card)-slackOf(ev.tolerance()) {
				continue
			}
		}
		l.serve(p, ch)
		if p.placeListed(ch); ch.card.music && p.wheel == nil {
			p.imaging()
		}
		return true
	}
	return false
}

// placed counts an entry that was added, whosever it is.
func (l *lists) placed(p *plan, ch *choice, e *Entry) {
	if l == nil {
		return
	}
	if ch.list != nil {
		e.List, e.ListName, e.Place = ch.list.ID, ch.list.Name, ch.place
		ch.list.st = ch.list.st.heard(ch.place, e.Track.Path, time.Unix(0, p.at))
	}
	for _, ls := range l.all {
		switch {
		case ls == ch.list:
			ls.since = 0
		case e.Type == musicType:
			ls.since++
		}
		ls.renew(p, ch.card)
	}
}

// hand returns what music for the next place comes from while a playlist has it to itself, for
// the lengths that may follow; nil while none has.
func (l *lists) hand(p *plan) *hand {
	if l == nil {
		return nil
	}
	for _, ls := range l.all {
		if ls.Plays != PlaysOnly && ls.Plays != PlaysOnce {
			continue
		}
		if _, open := ls.opened(p); !open {
			continue
		}
		if h := ls.next(p); h != nil {
			return h
		}
	}
	return nil
}

// sooner returns the next timed event of a playlist, if it comes before that of a clock.
func (l *lists) sooner(p *plan, ev event, timed bool) (event, bool) {
	if l == nil || !l.timed {
		return ev, timed
	}
	for _, ls := range l.all {
		if at, due := ls.event(p); due && (!timed || at.Before(ev.due())) {
			ev, timed = event{list: ls, at: at}, true
		}
	}
	return ev, timed
}

// event returns the next timed event of a playlist within three hours.
func (ls *listing) event(p *plan) (time.Time, bool) {
	if !ls.timed() {
		return time.Time{}, false
	}
	if ls.eventsFor == 0 || p.at >= ls.eventsFor {
		at := p.time()
		ls.events, ls.eventsFor = ls.eventsIn(p, at.Add(-mostLate), at.Add(3*time.Hour)), p.at+int64(time.Hour)
	}
	for len(ls.events) > 0 {
		due := ls.events[0]
		if due.After(ls.st.Due) && p.time().Sub(due) <= mostLate {
			return due, true
		}
		ls.events = ls.events[1:]
	}
	return time.Time{}, false
}

// eventsIn returns the timed events after one time and before another. A window that had opened
// before the rotation begins is no event: its places are the playlist's already.
func (ls *listing) eventsIn(p *plan, after, before time.Time) (out []time.Time) {
	if ls.Plays != PlaysHourly {
		if began := time.Unix(0, p.began).In(p.zone); after.Before(began) {
			after = began
		}
		return ls.starts(p.parts, after, before, ls.Plays == PlaysOnce)
	}
	for hour := hourOf(after); hour.Before(before); hour = hourOf(hour.Add(time.Hour)) {
		at := hour.Add(time.Duration(ls.Minute) * time.Minute)
		if _, open := ls.spell(p.parts, at); open && at.After(after) && at.Before(before) {
			out = append(out, at)
		}
	}
	return out
}

// strike adds a timed event of a playlist. After it the mission's spacing goes on where it was,
// or the clock of the hour.
func (l *lists) strike(p *plan, ev event) {
	ls, off := ev.list, p.time().Sub(ev.at)
	ls.st.Due, ls.vain = ev.at, false
	if ls.Plays != PlaysHourly { // it may be struck before its window opens
		ls.open, ls.is = ls.spell(p.parts, ev.at)
		ls.begun, ls.look = true, ev.at.UnixNano()
	}
	if p.wheel != nil && p.wheel.open() {
		p.wheel = nil
	}
	if off > mostLate || p.full() {
		return
	}
	ch := ls.choose(p)
	if ch == nil {
		return
	}
	ch.place.Due = ev.at
	if ls.Plays == PlaysHourly {
		l.serve(p, ch)
	}
	n := len(p.out)
	if follows := p.free.open || n > 0 && !p.out[n-1].Due.IsZero(); !follows {
		if off.Abs() <= listTolerance {
			p.inTime()
		}
		p.placeListed(ch)
		e := &p.out[n]
		e.Due, e.Tolerance = ev.at, listTolerance
		p.missed(e, off)
		return
	}
	p.placeListed(ch) // another event was due then, too: right after that is in time
}

// airedAt reports whether a clock's timed event of a playlist has aired.
func (l *lists) airedAt(s step) bool {
	name, ok := listOf(s.category)
	if !ok {
		return false
	}
	ls := l.named(name)
	return ls != nil && ls.st.Due.Equal(s.due)
}

// struck notes that a clock's timed event is an entry of a playlist.
func (l *lists) struck(e *Entry) {
	if l == nil || e.List == 0 {
		return
	}
	e.Place.Due = e.Due
	if ls := l.byID(e.List); ls != nil {
		ls.st.Due = e.Due
	}
}

// newsBetween adds news that is due between two breaks of an hour without a clock, as where no
// event is ahead.
func (l *lists) newsBetween(p *plan, gap time.Duration) bool {
	if l == nil || !l.timed || !p.wheel.open() || !p.newsDue(0) || p.meanStep(string(station.News)) > gap {
		return false
	}
	n := len(p.out)
	p.news(0)
	return len(p.out) > n
}

// crowded reports whether a break of an hour without a clock might last too long before an event:
// single elements fill the time then.
func (l *lists) crowded(p *plan, category string, room time.Duration) bool {
	if l == nil || !l.timed || !p.wheel.open() || category != anyBreak {
		return false
	}
	longest := mostElements*p.meanStep(string(station.Sweepers)) + p.meanStep(string(station.Ads))
	if p.newsDue(mostElements) {
		longest += p.meanStep(string(station.News))
	}
	return longest > room
}
