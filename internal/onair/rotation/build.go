package rotation

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// spaced remembers when something with a name last starts, Unix ns.
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

// plan is one build under way.
type plan struct {
	index *Index
	cfg   Config
	rng   *rand.Rand
	rules []RuleInfo
	bits  struct{ split, fresh, cooldown, floor, musicOnly, justPlayed breach }

	floor, fresh, cooldown, elementCooldown, rest time.Duration
	albumGap, titleGap, artistGap                 time.Duration
	hard                                          station.Category
	weights                                       map[station.Category]float64

	heard   map[int32]Aired              // history of what is in the index
	known   map[station.Category][]int32 // its keys
	hands   map[handKey]*hand            //
	overlay map[station.Category][]int32 // still to be played
	mix     *mix
	pace    pace

	at          int64 // expected start of the next entry, Unix ns
	wanted      station.Category
	last        []string // paths that just played
	lastArtists []uint64 // of the last music entry
	artists     spaced
	titles      spaced
	albums      spaced
	out         []Entry
}

type handKey struct {
	category station.Category
	poor     bool
}

// Build plans a rotation of BUFFER_MAX entries (mission: *Rotation and
// scheduler configuration*, *Rotation rebuild*, *Limits*). The same request
// gives the same rotation. It is empty only when the index is.
func Build(r Request) Rotation {
	p := newPlan(r)
	p.force(r.Head)
	p.goOn(r.State.Recent)
	for len(p.out) < r.Config.Rotation.BufferMax {
		if !p.music() {
			break
		}
		p.imaging()
	}
	rot := Rotation{Entries: p.out, Daypart: DaypartKey(r.Config, r.Now), Seed: r.Seed, BuiltAt: r.Now}
	for _, t := range r.InFlight {
		rot.InFlight = append(rot.InFlight, t.Path)
	}
	return rot
}

// force opens the rotation with the operator's own choice.
func (p *plan) force(paths []string) {
	for _, path := range paths {
		id, ok := p.index.byPath[path]
		if !ok || len(p.out) >= p.cfg.Rotation.BufferMax {
			continue
		}
		t := p.index.tracks[id]
		p.wanted = t.Category
		h := &hand{category: t.Category, music: t.Category.Music(), overlay: true, size: 1, poor: p.isPoor(id)}
		c := p.card(h, id)
		ch := &choice{card: &c, seen: 1}
		if h.music {
			ch.breach = p.judge(&c, breach(1)<<len(p.rules)-1, &choice{})
		}
		p.place(ch, 0)
		p.out[len(p.out)-1].Why.Reason = "chosen by the operator"
	}
}

func newPlan(r Request) *plan {
	k := r.Config.Rotation
	part, _ := daypart(r.Config, r.Now)
	p := &plan{
		index: r.Index, cfg: r.Config, rng: rand.New(rand.NewPCG(r.Seed, 0x6174686972)), //nolint:gosec // not for secrets
		rules: ladder(), floor: k.MusicMin.Duration(), fresh: k.MusicFresh.Duration(),
		cooldown: k.CooldownPeriod.Duration(), elementCooldown: k.ElementCooldown.Duration(),
		albumGap: k.AlbumGap.Duration(), titleGap: k.TitleGap.Duration(), artistGap: k.ArtistGap.Duration(),
		hard: part.Hard, weights: weights(r.Config, part),
		hands: map[handKey]*hand{}, at: r.starts().UnixNano(),
		artists: spaced{}, titles: spaced{}, albums: spaced{},
	}
	p.bits.split, p.bits.fresh, p.bits.cooldown = bit(p.rules, GenreSplit), bit(p.rules, FreshWindow), bit(p.rules, Cooldown)
	p.bits.floor, p.bits.musicOnly, p.bits.justPlayed = bit(p.rules, QualityFloor), bit(p.rules, MusicOnly), bit(p.rules, JustPlayed)
	p.recall(r)
	p.rest = p.minimumRest()
	p.mix = newMix(p.weights, func(c station.Category) int {
		good, _ := p.index.deck(c, p.floor)
		return len(good)
	}, p.hard != "")
	p.pace = newPace(p, r.State.Recent)
	p.overlay = map[station.Category][]int32{}
	for c, paths := range r.Overlay {
		for _, path := range paths {
			if id, ok := p.index.byPath[path]; ok { // dead paths are dropped
				p.overlay[c] = append(p.overlay[c], id)
			}
		}
	}
	return p
}

// recall takes in what aired and what is about to.
func (p *plan) recall(r Request) {
	p.heard, p.known = map[int32]Aired{}, map[station.Category][]int32{}
	hear := func(path string, a Aired) {
		id, ok := p.index.byPath[path]
		if !ok {
			return
		}
		c := p.index.tracks[id].Category
		if was, twice := p.heard[id]; !twice {
			p.known[c] = append(p.known[c], id)
		} else {
			a.Round = max(a.Round, was.Round)
		}
		p.heard[id] = a
		if c.Music() {
			p.note(id, a.At.UnixNano())
		}
	}
	oldest := r.Now.Add(-historyKept)
	for path, a := range r.State.History.All() {
		if !a.At.Before(oldest) {
			hear(path, a)
		}
	}
	p.last = append(p.last, r.State.LastTrackPlayed)
	p.lastArtists = artistHashes(r.State.LastMusicArtist)
	for _, t := range r.InFlight {
		a := p.heard[p.index.byPath[t.Path]]
		hear(t.Path, Aired{r.Now, a.Round + 1})
		p.last = append(p.last, t.Path)
		if t.Category.Music() {
			p.lastArtists = append(slices.Clip(p.lastArtists), artistHashes(t.Artist)...)
		}
	}
}

// note records the names of a music track that starts at a time.
func (p *plan) note(id int32, at int64) {
	n := p.index.names[id]
	for _, a := range n.artists {
		p.artists.note(a, at)
	}
	p.titles.note(n.title, at)
	p.albums.note(n.album, at)
}

// longestRest bounds the minimum rest of a song.
const longestRest = 30 * time.Minute

// minimumRest is half an hour, or a quarter of all the music there is.
func (p *plan) minimumRest() time.Duration {
	longest := min(longestRest, p.cooldown)
	total := time.Duration(0)
	for c, w := range p.weights {
		good, _ := p.index.deck(c, p.floor)
		for i := 0; i < len(good) && w > 0 && total < 4*longest; i++ {
			total += p.index.tracks[good[i]].Duration
		}
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

// music adds the next music entry; false when there is nothing to play.
func (p *plan) music() bool {
	p.wanted = p.mix.next(p.rng)
	ch := p.fromOverlay(p.wanted, p.bits.fresh)
	if ch == nil {
		ch = p.pickMusic()
	}
	if ch == nil {
		return false
	}
	p.mix.served(ch.card.hand.category)
	p.place(ch, 0)
	return true
}

// fromOverlay takes the first track at the head of a category that breaks no
// rule from limit up.
func (p *plan) fromOverlay(c station.Category, limit breach) *choice {
	for i, id := range p.overlay[c] {
		h := &hand{category: c, music: c.Music(), overlay: true, size: 1}
		card := p.card(h, id)
		if live := p.find(id); live != nil {
			card.last = live.last
		}
		h.poor = c.Music() && p.index.tracks[id].Duration < p.floor
		h.cards = []*candidate{&card}
		ch := &choice{}
		want := breach(1)<<len(p.rules) - 1
		if !c.Music() {
			want = p.bits.cooldown | p.bits.justPlayed
		}
		p.look(ch, h, want, limit)
		if ch.card != nil {
			p.overlay[c] = slices.Delete(slices.Clone(p.overlay[c]), i, i+1)
			return ch
		}
	}
	return nil
}

// find returns the card of a track in the hands dealt so far.
func (p *plan) find(id int32) *candidate {
	for _, h := range p.hands {
		for _, cards := range [][]*candidate{h.cards, h.reserve} {
			for _, c := range cards {
				if c.id == id {
					return c
				}
			}
		}
	}
	return nil
}

// place adds the chosen track and goes on to the time after it.
func (p *plan) place(ch *choice, slot int) {
	c := ch.card
	t := p.index.tracks[c.id]
	cat := c.hand.category
	why := p.why(ch)
	c.air(p.at)
	e := Entry{
		Track: t, Type: typeOf(cat), Cross: crossOf(cat), Slot: slot, Round: c.round,
		Relaxed: ch.breach.rules(p.rules), Why: why,
	}
	if c.hand.overlay {
		if own := p.find(c.id); own != nil {
			own.air(p.at)
			e.Round = own.round
		}
	}
	p.heard[c.id] = Aired{time.Unix(0, p.at), e.Round}
	if c.music {
		p.note(c.id, p.at)
		p.lastArtists = p.index.names[c.id].artists
	}
	p.last = []string{c.path}
	p.out = append(p.out, e)
	p.at += int64(max(t.Duration-e.Cross, 0))
	p.pace.placed(cat)
}
