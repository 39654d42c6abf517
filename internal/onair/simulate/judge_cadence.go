package simulate

import (
	"github.com/athir-radio/athir/internal/station"
)

// The specification's distances, in entries (*Limits*), and the most that a break holds:
// four elements, news, and an overdue ad and jingle.
const (
	NewsLeast    = 20 // from news to news
	NewsMost     = 24
	adSlack      = 8 // entries that an ad may wait for its break
	longestBreak = 7
)

// cadence judges what comes regularly. Distances count from the previous occurrence; a
// takeover or a forced entry restarts the count.
func (j *judge) cadence() {
	c := counts{news: -1, ad: -1, jingle: -1}
	for i := range j.log {
		a := &j.log[i]
		if a.exempt() || j.interrupted(i) {
			c = counts{news: -1, ad: -1, jingle: -1, from: i}
		}
		j.breaks(i, &c)
		j.regular(i, &c)
	}
	j.overdue(c)
}

// counts is where each regular element was last on air.
type counts struct {
	from       int // index at which counting began
	news, ad   int // index; -1 before the first
	jingle     int // number of the break with the last one
	breaks     int
	run        int  // entries in a row that are not music
	inBreak    bool // these are not only news
	lastJingle int  // index
}

// breaks counts the breaks and their elements; news alone is not a break.
func (j *judge) breaks(i int, c *counts) {
	a := &j.log[i]
	switch {
	case a.Track.Category.Music():
		c.run, c.inBreak = 0, false
	case !c.inBreak && a.Track.Category != station.News:
		c.breaks, c.inBreak = c.breaks+1, true
		fallthrough
	default:
		if c.run++; c.run == longestBreak+1 && !j.clocked(i, i) {
			j.found(BreakLength, i, "more than %d entries without music", longestBreak)
		}
	}
}

// regular judges the distance of news, ads and signature jingles.
func (j *judge) regular(i int, c *counts) {
	switch j.log[i].Track.Category {
	case station.News:
		if d := i - c.news; c.news >= 0 && (d < NewsLeast || d > NewsMost) && !j.clocked(c.news, i) {
			j.found(NewsCadence, i, "news after %d entries, want %d to %d", d, NewsLeast, NewsMost)
		}
		c.news = i
	case station.Ads:
		every := j.cfg.AdEvery
		if d := i - c.ad; c.ad >= 0 && every > 0 && (d < every || d > every+adSlack) && !j.clocked(c.ad, i) {
			j.found(AdCadence, i, "an ad after %d entries, want %d to %d", d, every, every+adSlack)
		}
		c.ad = i
	case station.Jingles:
		k := j.cfg.Rotation
		if d := c.breaks - c.jingle; c.jingle >= 0 && (d < k.SigJingleMinSlots || d > k.SigJingleMaxSlots) && !j.clocked(c.lastJingle, i) {
			j.found(JingleSpacing, i, "a signature jingle after %d breaks, want %d to %d", d, k.SigJingleMinSlots, k.SigJingleMaxSlots)
		}
		c.jingle, c.lastJingle = c.breaks, i
	}
}

// overdue finds what never aired although there was material.
func (j *judge) overdue(c counts) {
	last := len(j.log) - 1
	if last < 0 || j.clocked(c.from, last) {
		return
	}
	if d := last - max(c.news, c.from); j.size[station.News] > 0 && d > NewsMost {
		j.found(NewsCadence, last, "no news for the last %d entries", d)
	}
	if d := last - max(c.ad, c.from); j.size[station.Ads] > 0 && j.cfg.AdEvery > 0 && d > j.cfg.AdEvery+adSlack {
		j.found(AdCadence, last, "no ad for the last %d entries", d)
	}
	if d := c.breaks - max(c.jingle, 0); j.size[station.Jingles] > 0 && d > j.cfg.Rotation.SigJingleMaxSlots {
		j.found(JingleSpacing, last, "no signature jingle for the last %d breaks", d)
	}
}

// interrupted reports whether something else was on air before an entry.
func (j *judge) interrupted(i int) bool {
	if i == 0 {
		return false
	}
	for _, s := range j.live {
		if s.From.After(j.log[i-1].At) && !s.To.After(j.log[i].At) {
			return true
		}
	}
	return false
}
