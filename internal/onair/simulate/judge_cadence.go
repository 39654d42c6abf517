package simulate

import (
	"github.com/athir-radio/athir/internal/station"
)

// The specification's distances, in entries (*Limits*), and what a break holds
// at most: four elements, news, and an ad and a jingle that cannot wait.
const (
	NewsLeast, NewsMost = 20, 24
	adSlack             = 8 // entries that an ad may wait for its break
	longestBreak        = 7
)

// cadence judges what comes regularly. Distances count from the occurrence
// before; what was cut off by a takeover, or forced, begins the count anew.
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

// counts is where each thing was last heard.
type counts struct {
	from       int // index at which counting began
	news, ad   int // index; -1 before the first
	jingle     int // number of the break
	breaks     int
	run        int  // entries in a row that are no music
	inBreak    bool // and not only news
	lastJingle int  // index
}

// breaks counts the breaks, and what they hold; news alone is none.
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

// overdue finds what never came although there is some to play.
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

// interrupted reports that something else was on air before an entry.
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
