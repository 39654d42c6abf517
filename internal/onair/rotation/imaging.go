package rotation

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Of 120 entries about 69 are music and 51 annotated, in some 25 breaks
// (DESIGN *Slots*; mission: *Playlist entry annotation*).
const (
	annotatedPerMusic = 51.0 / 69.0
	mostElements      = 4 // in a break
	// News comes every 20 to 24 entries (mission: *Limits*).
	newsMin, newsMax = 20, 24
)

// pace counts towards the next break, jingle, ad and news. It continues from where the
// previous rotation was left.
type pace struct {
	music, annotated int // entries placed in this build
	sinceBreak       int // music entries since the last break
	breakGap         int // music entries from one break to the next
	slot             int // breaks of this build
	sinceJingle      int // breaks since the last signature jingle
	jingleGap        int
	sinceAd          int // entries since the last ad
	sinceNews        int
	newsGap          int
}

func newPace(p *plan, recent []Heard) pace {
	since := func(c station.Category, most int) int {
		i := slices.IndexFunc(recent, func(h Heard) bool { return h.Category == c })
		if i < 0 {
			i = len(recent)
		}
		return min(i, most)
	}
	pc := pace{
		sinceAd: since(station.Ads, math.MaxInt), sinceNews: since(station.News, newsMax-1),
		breakGap: breakGap(p), jingleGap: jingleGap(p), newsGap: newsGap(p),
	}
	for _, id := range p.prepared {
		if p.index.tracks[id].Category == station.News { // as far apart as the cadence allows
			pc.newsGap = newsMax
		}
	}
	pc.sinceJingle = breaksSinceJingle(recent)
	music := slices.IndexFunc(recent, func(h Heard) bool { return !h.Category.Music() })
	if music < 0 {
		music = len(recent)
	}
	pc.sinceBreak = min(music, pc.breakGap-1)
	return pc
}

// aired returns what was on air, newest first: the recent entries and, before those, the
// history. The forty recent ones do not reach back to the last ad if ads come every
// hundred entries.
func (p *plan) aired() []Heard {
	if len(p.recent) == 0 {
		return nil
	}
	oldest := p.recent[len(p.recent)-1].At.UnixNano()
	var before []Heard
	for id, starts := range p.plays {
		for _, at := range starts {
			if t := &p.index.tracks[id]; at < oldest {
				before = append(before, Heard{Path: t.Path, Category: t.Category, At: time.Unix(0, at)})
			}
		}
	}
	slices.SortFunc(before, func(a, b Heard) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Path, b.Path)) })
	return slices.Concat(p.recent, before)
}

// breaksSinceJingle counts the breaks heard after the last signature jingle.
func breaksSinceJingle(recent []Heard) int {
	n, inBreak := 0, false
	for _, h := range recent {
		switch {
		case h.Category == station.Jingles:
			return n
		case h.Category.Music():
			inBreak = false
		case !inBreak && h.Category != station.News:
			inBreak = true
			n++
		}
	}
	return n
}

// breakGap draws 2 or 3 music entries, 2.75 on average.
func breakGap(p *plan) int {
	if p.rng.IntN(4) == 0 {
		return 2
	}
	return 3
}

func jingleGap(p *plan) int {
	k := p.cfg.Rotation
	return k.SigJingleMinSlots + p.rng.IntN(max(k.SigJingleMaxSlots-k.SigJingleMinSlots, 0)+1)
}

func newsGap(p *plan) int { return newsMin + p.rng.IntN(newsMax-newsMin+1) }

// placed counts one entry.
func (pc *pace) placed(c station.Category) {
	pc.sinceAd++
	pc.sinceNews++
	switch {
	case c.Music():
		pc.music++
		pc.sinceBreak++
		return
	case c == station.Ads:
		pc.sinceAd = 0
	case c == station.News:
		pc.sinceNews = 0
	case c == station.Jingles:
		pc.sinceJingle = 0
	}
	pc.annotated++
}

// goOn opens the rotation with what is overdue: news, and the signature jingle of a
// break that the rebuild cut short.
func (p *plan) goOn(recent []Heard) {
	if p.newsDue(0) {
		p.news(0)
	}
	cut := len(recent) > 0 && !recent[0].Category.Music() && recent[0].Category != station.News
	if cut && p.pace.sinceJingle >= p.cfg.Rotation.SigJingleMaxSlots && !p.full() {
		p.pace.slot++
		p.element(station.Jingles, p.pace.slot)
	}
}

// imaging adds what belongs between two music entries: a break if one is due, and news
// if it is due.
func (p *plan) imaging() {
	pc := &p.pace
	elements := 0
	if pc.sinceBreak >= pc.breakGap {
		elements = p.breakSize()
	}
	if p.scarcity == short {
		elements = p.widened()
		defer p.settleOwed()
	}
	news := p.newsDue(elements)
	if elements == 0 {
		if news {
			p.news(0)
		}
		return
	}
	p.openBreak(elements, news)
}

// openBreak plays an imaging break.
func (p *plan) openBreak(elements int, news bool) {
	pc := &p.pace
	pc.slot++
	pc.sinceJingle++
	pc.sinceBreak, pc.breakGap = 0, breakGap(p)
	n := len(p.out)
	if p.fillBreak(elements, news, pc.slot) {
		return
	}
	pc.slot-- // news alone does not count as a break
	pc.sinceJingle--
	if len(p.out) > n {
		p.out[len(p.out)-1].Slot = 0
	}
}

// breakSize returns how many elements bring annotated entries to their share.
func (p *plan) breakSize() int {
	owed := annotatedPerMusic*float64(p.pace.music) - float64(p.pace.annotated)
	return min(max(int(math.Round(owed)), 1), mostElements)
}

// newsDue reports whether news belongs here: its drawn distance is reached, or the next
// chance would be too late.
func (p *plan) newsDue(elements int) bool {
	here := p.pace.sinceNews + 1
	if elements == 1 {
		elements++ // an ad and a jingle may both be due
	}
	return here >= p.pace.newsGap || here >= newsMin && here+elements+1 > newsMax
}

// fillBreak adds one break: a sound effect by chance, news, the ad and the signature
// jingle when due, sweepers and shorts in the remaining room. It reports whether it
// added more than news.
func (p *plan) fillBreak(elements int, news bool, slot int) bool {
	left := elements
	add := func(c station.Category) bool {
		if !p.full() && p.element(c, slot) {
			left--
			return true
		}
		return false
	}
	if news {
		p.news(slot)
	}
	jingle := p.pace.sinceJingle >= p.pace.jingleGap
	ad := p.cfg.AdEvery > 0 && p.pace.sinceAd+1 >= p.cfg.AdEvery
	if ad {
		add(station.Ads)
	}
	room := func() bool { return left > 0 && (!jingle || left > 1) }
	if p.rng.Float64() < p.cfg.SFXChance && room() {
		add(station.SFX)
	}
	for range mostElements {
		if !room() {
			break
		}
		first, second := station.Sweepers, station.Shorts
		if p.rng.IntN(5) < 2 {
			first, second = second, first
		}
		if !add(first) && !add(second) {
			break
		}
	}
	if jingle && add(station.Jingles) {
		p.pace.jingleGap = jingleGap(p)
	}
	return left < elements
}

// shortsMayAir reports whether the daypart allows shorts, which are Arabic.
func (p *plan) shortsMayAir() bool { return p.hard == "" || p.hard == station.ArabicHits }

// element adds one imaging element; false when all are on cooldown.
func (p *plan) element(c station.Category, slot int) bool {
	if c == station.Shorts && !p.shortsMayAir() {
		return false
	}
	ch := p.post(c)
	if ch == nil {
		ch = p.pickElement(c)
	}
	if ch == nil {
		return false
	}
	p.wanted = c
	p.place(ch, slot)
	return true
}
