package rotation

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Overlay is what listeners bring to the programme. No part of it breaks a rule to get in:
// what no place suits waits for the next rotation.
type Overlay struct {
	// Posts are paths of posts, by their category, the best first. Only tracks of the
	// library that have a Submitter are posts, and those air in no other way.
	Posts map[station.Category][]string
	// Requests are paths of songs of the library that listeners asked for and that have
	// not aired since, in the order in which they should air.
	Requests []string
}

// Guest says that listeners put an entry on the air, and how.
type Guest string

// The guests.
const (
	GuestPost    Guest = "post"    // a listener's own
	GuestRequest Guest = "request" // a song of the library that a listener asked for
)

// Guests remembers what listeners had on the air, as heard: a post that has left the
// library since still counts.
type Guests struct {
	Asked      time.Time                      // when the last request began
	Posts      map[station.Category]time.Time // when the last post of each category began
	Submitters map[string]time.Time           // when the last post of each began, of late
}

// submitterGap is the time between two posts of one submitter. Listeners are promised an
// hour; an entry that is skipped or fails brings the later ones forward by its length.
const submitterGap = time.Hour + 5*time.Minute

// note returns the guests with one more airing; the receiver stays as it was.
func (g Guests) note(m Marker, asked bool) Guests {
	if asked && m.At.After(g.Asked) {
		g.Asked = m.At
	}
	if m.Submitter == "" {
		return g
	}
	g.Posts, g.Submitters = maps.Clone(g.Posts), maps.Clone(g.Submitters)
	if g.Posts == nil {
		g.Posts = map[station.Category]time.Time{}
	}
	if g.Submitters == nil {
		g.Submitters = map[string]time.Time{}
	}
	if m.At.After(g.Posts[m.Category]) {
		g.Posts[m.Category] = m.At
	}
	if m.At.After(g.Submitters[m.Submitter]) {
		g.Submitters[m.Submitter] = m.At
	}
	maps.DeleteFunc(g.Submitters, func(_ string, at time.Time) bool { return m.At.Sub(at) > 2*submitterGap })
	return g
}

// asked returns those of tracks that the overlay has as requests.
func (o Overlay) asked(tracks []station.Track) (paths []string) {
	for _, t := range tracks {
		if slices.Contains(o.Requests, t.Path) {
			paths = append(paths, t.Path)
		}
	}
	return paths
}

// company is what listeners may put into one build, and how long ago they last did. What
// aired and what is planned count alike, so that rebuilding changes no share.
type company struct {
	postEvery, askEvery int
	posts               map[station.Category]*bench
	requests            []int32
	dropped             map[int32]bool           // requests that the engine had opened, and should drop
	since               map[station.Category]int // picks of each category since its last post
	sinceAsked          int                      // songs since the last request
	sinceGuest          int                      // songs since the last post or request
	submitters          map[string]int64         // start of the last post of each, Unix ns
	planned             map[string]bool          // submitters with a post in this rotation
	picks               map[station.Category]int // airings of each category within the history
	reserved            map[string]station.Category
}

// longAgo is more entries than any knob asks for.
const longAgo = 1 << 20

func newCompany(k Knobs, o Overlay) company {
	g := company{
		postEvery: k.PostEvery, askEvery: k.RequestEvery, posts: map[station.Category]*bench{}, dropped: map[int32]bool{},
		since: map[station.Category]int{}, submitters: map[string]int64{}, planned: map[string]bool{},
		picks: map[station.Category]int{}, reserved: map[string]station.Category{},
	}
	for c, paths := range o.Posts {
		if len(paths) > 0 && k.PostEvery > 0 {
			g.posts[c] = &bench{category: c, paths: paths}
		}
	}
	return g
}

// invite fills in who waits, and counts from what aired and what is about to air.
func (p *plan) invite(r Request) {
	g := &p.company
	for _, path := range r.Overlay.Requests {
		id, ok := p.index.find(path)
		if ok && p.index.tracks[id].Category.Music() && p.index.tracks[id].Submitter == "" && !slices.Contains(g.requests, id) {
			g.requests = append(g.requests, id)
		}
	}
	if len(g.posts) == 0 && len(g.requests) == 0 {
		return
	}
	l := p.lastGuests(r)
	if l.asked == never {
		g.sinceAsked = longAgo
	}
	if l.music == never {
		g.sinceGuest = longAgo
	}
	for _, c := range station.Categories() {
		g.since[c] = longAgo
		if _, ever := l.posts[c]; ever {
			g.since[c] = 0
		}
	}
	for id, starts := range p.plays {
		for _, at := range starts {
			p.count(id, at, 1, l)
		}
	}
	for _, id := range p.opened { // heard as if it aired, but it should be dropped
		if p.index.tracks[id].Category.Music() {
			p.count(id, r.Now.UnixNano(), -1, l)
		}
	}
	p.reserve()
}

// firstOf is how many posts at the head of a category's order have their submitter's place
// in the rotation kept for them.
const firstOf = 2

// reserve keeps the places of submitters for posts that never aired and come next in their
// category, the rarest category first. Otherwise who sends many songs, of which one airs
// in each rotation, would never be heard with a mashup.
func (p *plan) reserve() {
	g := &p.company
	cats := slices.SortedFunc(maps.Keys(g.posts), func(a, b station.Category) int {
		return cmp.Or(g.picks[a]-g.picks[b], cmp.Compare(a, b))
	})
	for _, c := range cats {
		if g.picks[c] == 0 || c.Music() && p.weights[c] <= 0 {
			continue // nobody knows when its turn comes
		}
		b := g.posts[c]
		for i := 0; i < firstOf && (i < len(b.waits) || b.more(p)); i++ {
			id := b.waits[i].id
			t := &p.index.tracks[id]
			_, kept := g.reserved[t.Submitter]
			if !kept && !p.isPoor(id) && p.turns.Of(t.Path).Round == 0 && len(p.plays[id]) == 0 && p.removed[id] == 0 {
				g.reserved[t.Submitter] = c
			}
		}
	}
}

// lastGuests is when listeners last had something on the air, Unix ns.
type lastGuests struct {
	posts        map[station.Category]int64
	asked, music int64 // the last request; the last guest of all among songs
}

func (p *plan) lastGuests(r Request) lastGuests {
	l := lastGuests{posts: map[station.Category]int64{}, asked: never, music: never}
	post := func(c station.Category, submitter string, at int64) {
		if was, ok := l.posts[c]; c != "" && (!ok || was < at) {
			l.posts[c] = at
		}
		if was, ok := p.company.submitters[submitter]; submitter != "" && (!ok || was < at) {
			p.company.submitters[submitter] = at
		}
	}
	was := r.State.Guests
	for c, at := range was.Posts {
		post(c, "", at.UnixNano())
	}
	for who, at := range was.Submitters {
		post("", who, at.UnixNano())
	}
	for id, starts := range p.plays {
		if t := &p.index.tracks[id]; t.Submitter != "" {
			post(t.Category, t.Submitter, starts[len(starts)-1])
		}
	}
	if !was.Asked.IsZero() {
		l.asked = was.Asked.UnixNano()
	}
	now := r.Now.UnixNano()
	for _, t := range slices.Concat(r.InFlight, r.Prepared) { // what may air after all counts as aired
		if t.Submitter != "" {
			post(t.Category, t.Submitter, now)
		}
	}
	if len(r.Overlay.asked(slices.Concat(r.InFlight, r.Prepared))) > 0 {
		l.asked = now
	}
	l.music = l.asked
	for c, at := range l.posts {
		if c.Music() {
			l.music = max(l.music, at)
		}
	}
	return l
}

// count adds n airings of a track to the picks since the last guests, if it is later.
func (p *plan) count(id int32, at int64, n int, l lastGuests) {
	g, c := &p.company, p.index.tracks[id].Category
	g.picks[c] += n
	if last, ever := l.posts[c]; ever && at > last {
		g.since[c] += n
	}
	if !c.Music() {
		return
	}
	if at > l.asked {
		g.sinceAsked += n
	}
	if at > l.music {
		g.sinceGuest += n
	}
}

// placed counts an entry.
func (g *company) placed(id int32, t station.Track, guest Guest, at int64) {
	g.since[t.Category]++
	if guest == GuestPost {
		g.since[t.Category] = 0
		g.submitters[t.Submitter], g.planned[t.Submitter] = at, true
	}
	if !t.Category.Music() {
		return
	}
	g.sinceAsked++
	g.sinceGuest++
	if guest != "" {
		g.sinceGuest = 0
	}
	if guest == GuestRequest {
		g.sinceAsked = 0
		g.requests = slices.DeleteFunc(slices.Clone(g.requests), func(r int32) bool { return r == id })
	}
}

// guest returns what a listener brings to the next place for music, a request before a
// post, because somebody waits for it; nil if there is none. Two guests never follow each
// other, so at least half of the music is the station's own.
func (p *plan) guest() *choice {
	if p.company.sinceGuest < 1 {
		return nil
	}
	if ch := p.request(); ch != nil {
		return ch
	}
	return p.post(p.wanted)
}

// mostTried bounds how many posts are judged for one place. The next place goes on behind
// those that cannot air for a while.
const mostTried = 256

// request returns the first request that keeps every rule. It may take the place of
// another category, which is owed it from then on, and the hour in which it aired
// yesterday: both are what its listener asked for.
func (p *plan) request() *choice {
	g := &p.company
	if g.askEvery == 0 || g.sinceAsked < g.askEvery-1 {
		return nil
	}
	may := p.bits.turnover | p.bits.sameHour
	if p.drawn {
		may |= p.bits.split
	}
	ch := &choice{guest: GuestRequest}
	for _, id := range g.requests[:min(len(g.requests), mostTried)] {
		card := p.single(id)
		if g.dropped[id] {
			if len(p.out) < dropRoom {
				continue
			}
			card.unheard()
			p.restSince(card)
		}
		if p.try(ch, card, breach(1)<<len(p.rules)-1, may) {
			return ch
		}
	}
	return nil
}

// dropRoom is how many entries lie before a request that the engine had opened: if it airs
// after all, the list is built again before it airs twice.
const dropRoom = 2

// unheard takes back the airing that is assumed of what the engine has opened.
func (c *candidate) unheard() {
	if n := len(c.starts); n > 0 {
		c.starts = slices.Clone(c.starts[:n-1])
	}
	c.last = never
	if n := len(c.starts); n > 0 {
		c.last = c.starts[n-1]
	}
}

// post returns the best post of a category that keeps every rule; nil if there is none.
func (p *plan) post(c station.Category) *choice {
	g := &p.company
	b := g.posts[c]
	if b == nil || g.since[c] < g.postEvery-1 || c.Music() && outsideGate(p, &candidate{music: true, hand: &hand{category: c}}) {
		return nil
	}
	want := p.bits.cooldown | p.bits.justPlayed
	if c.Music() {
		want = breach(1)<<len(p.rules) - 1
	}
	ch := &choice{guest: GuestPost, of: len(b.paths)}
	for i := b.from; ch.seen < mostTried; i++ {
		if i == len(b.waits) && !b.more(p) {
			break
		}
		w := &b.waits[i]
		if w.until > p.at {
			continue
		}
		if w.until = p.withheld(w.id); w.until > p.at {
			b.skip()
			continue
		}
		card := p.single(w.id)
		if !p.held(card) && p.try(ch, card, want, 0) {
			return ch
		}
		w.until = p.at + 1
	}
	return nil
}

// try judges a card, and takes it if it breaks no rule but those that it may.
func (p *plan) try(ch *choice, c *candidate, want, may breach) bool {
	ch.seen++
	b := p.judge(c, want, &choice{})
	if b&^may != 0 {
		ch.pass(c, b&^may)
		return false
	}
	ch.card, ch.breach = c, b
	return true
}

// bench is the posts of a category. It is read as far as a build needs it.
type bench struct {
	category station.Category
	paths    []string
	read     int // of paths
	waits    []waiting
	from     int // those before it air no more in this build
}

// waiting is a post that may be tried from a time on, Unix ns.
type waiting struct {
	id    int32
	until int64
}

// more reads the next post that the library has; false if there is none.
func (b *bench) more(p *plan) bool {
	for b.read < len(b.paths) {
		id, ok := p.index.find(b.paths[b.read])
		b.read++
		if ok && p.index.tracks[id].Category == b.category && p.index.tracks[id].Submitter != "" {
			b.waits = append(b.waits, waiting{id, math.MinInt64})
			return true
		}
	}
	return false
}

// skip moves on past the posts that air no more.
func (b *bench) skip() {
	for b.from < len(b.waits) && b.waits[b.from].until == math.MaxInt64 {
		b.from++
	}
}

// withheld returns until when a post may not air, as far as that is cheap to know: one of
// each submitter in a rotation, reserve's choice if it made one, and the rests that many posts may have in common. So
// thousands that rest hide none that may air.
func (p *plan) withheld(id int32) int64 {
	t := &p.index.tracks[id]
	if p.company.planned[t.Submitter] || p.isPoor(id) {
		return math.MaxInt64
	}
	if c, ok := p.company.reserved[t.Submitter]; ok && c != t.Category {
		return math.MaxInt64
	}
	until := int64(math.MinInt64)
	if at, ok := p.company.submitters[t.Submitter]; ok {
		until = at + int64(submitterGap)
	}
	rest := p.elementCooldown
	if t.Category.Music() {
		rest = max(p.fresh, p.cooldown)
		until = max(until, p.apartFrom(p.index.names[id]))
	}
	if starts := p.plays[id]; len(starts) > 0 {
		until = max(until, starts[len(starts)-1]+int64(rest))
	}
	if at, there := p.removed[id]; there {
		until = max(until, at+int64(rest))
	}
	return until
}

// apartFrom returns from when a song of these names keeps its distances.
func (p *plan) apartFrom(n names) int64 {
	until := int64(math.MinInt64)
	after := func(s spaced, key uint64, gap time.Duration) {
		if last, ok := s[key]; ok && key != 0 {
			until = max(until, last+int64(gap))
		}
	}
	for _, a := range n.artists {
		gap, own := p.gaps[a]
		if !own {
			gap = p.artistGap
		}
		after(p.artists, a, gap)
	}
	after(p.titles, n.title, p.titleGap)
	after(p.albums, n.album, p.albumGap)
	return until
}
