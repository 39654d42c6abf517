package rotation

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// spaced remembers when something of a name last starts, Unix ns.
type spaced map[uint64]int64

func (s spaced) within(key uint64, at int64, gap time.Duration) bool {
	last, ok := s[key]
	return ok && key != 0 && time.Duration(at-last) < gap
}

func (s spaced) note(key uint64, at int64) {
	if last, ok := s[key]; key != 0 && (!ok || last < at) {
		s[key] = at
	}
}

// plan is the state of one build.
type plan struct {
	index *Index
	cfg   Config
	zone  *time.Location
	rng   *rand.Rand
	rules []RuleInfo
	bits  ruleBits

	floor, fresh, cooldown, elementCooldown, rest time.Duration
	albumGap, titleGap, artistGap                 time.Duration

	parts    []Daypart
	part     Daypart // the one that covers at
	hard     station.Category
	scarcity scarcity // of the hard window's deck
	weights  map[station.Category]float64
	mix      *mix

	plays    map[int32][]int64 // starts of tracks in the index, Unix ns, oldest first
	turns    Turns             // turns of what aired
	prepared []int32           // elements that the engine has opened, and should drop
	opened   []int32           // what else it has opened so: it counts as heard
	removed  map[int32]int64   // when what was taken out by hand was, Unix ns
	taken    map[int32]int     // rounds of what is in flight, or planned
	hands    map[handKey]*hand // hands dealt so far
	company  company           // what listeners bring
	lists    *lists            // what the operator's playlists bring
	pace     pace

	tells       map[string]time.Time // that bulletins tell, by path
	renewed     bool                 // a bulletin is made for each free place
	free        freePlace            // for a bulletin, before the next entry
	now         int64                // Unix ns
	began       int64                // expected start of the first entry, Unix ns
	at          int64                // expected start of the next entry, Unix ns
	sameHour    [2]int64             // yesterday's hour of the day: from, to
	day         station.Date         // of at, in the station's zone
	hour        int
	wheel       *wheel        // for the hour of at; nil without a clock
	joins       time.Time     // the hour in which the rotation begins; zero until it is known
	fit         *fit          // what the next music entry should fill; nil means any length is fine
	cross       time.Duration // cross of the entry before the next one
	wanted      station.Category
	drawn       bool     // wanted was drawn by the mix: another category may air in its place
	last        []string // paths that just played
	lastArtists []uint64 // artists of the last music entry
	artists     spaced
	gaps        map[uint64]time.Duration // of artists who cannot keep artistGap
	titles      spaced
	albums      spaced
	recent      []Heard
	starts      time.Time // start of the first entry
	out         []Entry
}

type handKey struct {
	category station.Category
	poor     bool
}

// ruleBits are the bits, in a breach, of rules that the search treats specially.
type ruleBits struct {
	split, fresh, cooldown, floor, musicOnly, justPlayed, timed, turnover, sameHour, limits, gate, minimumRest breach
}

func newPlan(r Request) *plan {
	k := r.Config.Rotation
	rules := ladder()
	p := &plan{
		index: r.Index, cfg: r.Config, zone: r.Now.Location(),
		rng:   rand.New(rand.NewPCG(r.Seed, 0x6174686972)), //nolint:gosec // not for secrets
		rules: rules, floor: k.MusicMin.Duration(), fresh: k.MusicFresh.Duration(),
		cooldown: k.CooldownPeriod.Duration(), elementCooldown: k.ElementCooldown.Duration(),
		albumGap: k.AlbumGap.Duration(), titleGap: k.TitleGap.Duration(), artistGap: k.ArtistGap.Duration(),
		parts: r.Config.dayparts(), turns: r.State.Turns, taken: map[int32]int{},
		hands: map[handKey]*hand{}, cross: r.Cross, artists: spaced{}, titles: spaced{}, albums: spaced{}, recent: r.State.Recent,
		tells: r.Tells, renewed: r.Renewed, now: r.Now.UnixNano(), company: newCompany(k, r.Overlay),
	}
	p.bits = ruleBits{
		split: bit(rules, GenreSplit), fresh: bit(rules, FreshWindow), cooldown: bit(rules, Cooldown), floor: bit(rules, QualityFloor),
		musicOnly: bit(rules, MusicOnly), justPlayed: bit(rules, JustPlayed), timed: bit(rules, TimedEvent), turnover: bit(rules, Turnover), sameHour: bit(rules, SameHour), limits: bit(rules, TrackLimits),
		gate: bit(rules, HardGate), minimumRest: bit(rules, MinimumRest),
	}
	p.began = r.starts().UnixNano()
	p.recall(r)
	p.reach(r.starts().UnixNano())
	p.pace = newPace(p, p.aired())
	p.invite(r)
	p.lists = newLists(p, r)
	return p
}

// recall records what aired and what is about to air.
func (p *plan) recall(r Request) {
	history := r.State.History.All()
	p.plays = make(map[int32][]int64, len(history))
	oldest := r.Now.Add(-HistoryKept)
	for path, starts := range history {
		id, ok := p.index.find(path)
		if !ok {
			continue
		}
		for _, at := range starts {
			if !at.Before(oldest) {
				p.heard(id, at.UnixNano())
			}
		}
	}
	p.removes(r)
	p.last = append(p.last, r.State.LastTrackPlayed)
	p.lastArtists = artistHashes(r.State.LastMusicArtist)
	for _, t := range r.InFlight {
		if id, ok := p.index.find(t.Path); ok {
			p.taken[id] = p.turns.Of(t.Path).Round + 1
			p.heard(id, r.Now.UnixNano())
		}
		p.recent = slices.Insert(slices.Clone(p.recent), 0, Heard{Path: t.Path, Category: t.Category, At: r.Now})
		p.before(t)
	}
	// Prepared tracks should not air, so they count for no turn or cadence. But on a
	// slow disk the engine reads the new list too late to drop them: what airs after
	// all must not be heard twice. What is held is judged as if it was dropped.
	before := func(t station.Track) {
		if len(r.Held) == 0 {
			p.before(t)
		}
	}
	for _, t := range r.Prepared {
		id, ok := p.index.find(t.Path)
		switch {
		case ok && (r.again(t.Path) || r.holds(t.Path)): // it has its place in this one
		case ok && slices.Contains(r.Overlay.Requests, t.Path): // somebody waits for it
			p.plays[id] = append(p.plays[id], r.Now.UnixNano())
			p.opened, p.company.dropped[id] = append(p.opened, id), true
			before(t)
		case ok && t.Category.Music():
			p.plays[id], p.opened = append(p.plays[id], r.Now.UnixNano()), append(p.opened, id)
			if len(r.Held) == 0 {
				p.openedNames()
			}
			before(t)
		case ok:
			p.prepared = append(p.prepared, id)
			if t.Category != station.News { // the newest bulletin may have to open the list
				before(t)
			}
		}
	}
}

// before notes a track that airs before the first entry, for the rules of distance.
func (p *plan) before(t station.Track) {
	p.last = append(p.last, t.Path)
	if t.Category.Music() {
		p.lastArtists = append(slices.Clip(p.lastArtists), artistHashes(t.Artist)...)
	}
}

// openedNames keeps what is planned from now on apart from songs that the engine has opened.
func (p *plan) openedNames() {
	for _, id := range p.opened {
		if !p.company.dropped[id] {
			p.named(id, p.now)
		}
	}
}

// heard records an airing, past or planned; airings of a track come in order.
func (p *plan) heard(id int32, at int64) {
	p.plays[id] = append(p.plays[id], at)
	p.named(id, at)
}

// named notes the names of a song that airs at a time.
func (p *plan) named(id int32, at int64) {
	if p.index.tracks[id].Category.Music() {
		n := p.index.names[id]
		for _, a := range n.artists {
			p.artists.note(a, at)
		}
		p.titles.note(n.title, at)
		p.albums.note(n.album, at)
	}
}

// time returns the expected start of the next entry, in the station's zone.
func (p *plan) time() time.Time { return time.Unix(0, p.at).In(p.zone) }

// reach moves on to a time and, if its daypart is another, takes that one's weights.
func (p *plan) reach(at int64) {
	p.at = at
	t := p.time()
	p.day, p.hour = station.DateOf(t), t.Hour()
	from := time.Date(t.Year(), t.Month(), t.Day()-1, t.Hour(), 0, 0, 0, p.zone)
	p.sameHour = [2]int64{from.UnixNano(), from.Add(time.Hour).UnixNano()}
	part, _ := covering(p.parts, t)
	if p.mix != nil && part.same(p.part) {
		return
	}
	p.part, p.hard = part, part.Hard
	p.weights = weights(p.cfg, part)
	p.scarcity = p.index.scarce(p.hard, p.cooldown)
	p.mix = p.index.mixOf(p.cfg, part)
	p.rest = p.minimumRest()
	p.mix.settle(p.rng)
	p.gaps = gapsOf(p.index, p.mix, p.artistGap)
}

// minimumRest returns MIN_REST_MS, or a quarter of the playing time of a smaller library.
// Of a short deck that airs alone it is two thirds.
func (p *plan) minimumRest() time.Duration {
	longest := min(p.cfg.Rotation.MinRest.Duration(), p.cooldown)
	total := time.Duration(0)
	weighed := p.weights
	if p.scarcity == empty {
		weighed = weights(p.cfg, Daypart{})
	}
	for c, w := range weighed {
		good, _ := p.index.deck(c, p.floor)
		for i := 0; i < len(good) && w > 0 && total < 4*longest; i++ {
			total += p.index.tracks[good[i]].Duration
		}
	}
	if p.scarcity == short {
		return min(longest, total*2/3)
	}
	return min(longest, total/4)
}

func (p *plan) hand(c station.Category, poor bool) *hand {
	key := handKey{c, poor}
	h := p.hands[key]
	if h == nil {
		h = p.deal(c, poor)
		p.hands[key] = h
	}
	return h
}

// find returns the card of a track in the hands dealt so far.
func (p *plan) find(id int32) *candidate {
	for _, h := range p.hands {
		for _, c := range h.cards {
			if c.id == id {
				return c
			}
		}
	}
	return nil
}
