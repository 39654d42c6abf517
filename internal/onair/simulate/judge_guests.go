package simulate

import (
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// What listeners are promised (docs/planner.md).
const (
	submitterRest = time.Hour      // between two posts of one submitter
	heardWithin   = 48 * time.Hour // of its approval every post has aired
)

// guests judges what listeners brought: how often, whose, and by which rules.
func (j *judge) guests(r Result) {
	c := company{since: map[station.Category]int{}, last: map[string]time.Time{}, first: map[string]time.Time{}, asked: -1, guest: -1}
	for i := range j.log {
		if a := &j.log[i]; !a.exempt() {
			j.guest(i, a, &c)
		}
		c.note(&j.log[i])
	}
	for _, p := range r.Posts {
		at, heard := c.first[p.Track.Path]
		by := p.Approved.Add(heardWithin)
		switch {
		case heard && at.Before(p.Approved):
			j.found(Unapproved, -1, "%s aired %s before it was approved", p.Track.Path, p.Approved.Sub(at).Round(time.Second))
		case heard && at.After(by):
			j.found(PostUnheard, -1, "%s was first heard %s after its approval", p.Track.Path, at.Sub(p.Approved).Round(time.Minute))
		case !heard && by.Before(r.To):
			j.found(PostUnheard, -1, "%s was never heard", p.Track.Path)
		}
	}
}

// company is when guests were last on the air.
type company struct {
	since        map[station.Category]int // entries of each category since its last post; absent before the first
	last, first  map[string]time.Time     // posts: the last of each submitter; the first of each path
	songs        int
	asked, guest int // number of the song that was the last request, or guest; -1 before the first
}

func (j *judge) guest(i int, a *Aired, c *company) {
	k := j.cfg.Rotation
	music := a.Track.Category.Music()
	post, asked := a.Track.Submitter != "", a.Guest == rotation.GuestRequest
	if n, ever := c.since[a.Track.Category]; post && (k.PostEvery == 0 || ever && n+1 < k.PostEvery) {
		j.found(PostShare, i, "a post, %d entries of %s after the last, and at most every %d. may be one", n+1, a.Track.Category, k.PostEvery)
	}
	if at, ever := c.last[a.Track.Submitter]; post && ever && a.At.Sub(at) < submitterRest {
		j.found(SubmitterHour, i, "%s was heard %s before", a.Track.Submitter, a.At.Sub(at).Round(time.Second))
	}
	if post && len(a.Relaxed) > 0 {
		j.found(PostRelaxed, i, "a post for which %v gave way", a.Relaxed)
	}
	if asked && (k.RequestEvery == 0 || c.asked >= 0 && c.songs-c.asked < k.RequestEvery) {
		j.found(RequestShare, i, "a request, %d songs after the last, and at most every %d. may be one", c.songs-c.asked, k.RequestEvery)
	}
	if music && (post || asked) && c.guest >= 0 && c.songs-c.guest < 2 {
		j.found(GuestPair, i, "the song before it was a listener's, too")
	}
}

func (c *company) note(a *Aired) {
	post := a.Track.Submitter != ""
	if n, ever := c.since[a.Track.Category]; ever {
		c.since[a.Track.Category] = n + 1
	}
	if post {
		c.since[a.Track.Category], c.last[a.Track.Submitter] = 0, a.At
		if _, ever := c.first[a.Track.Path]; !ever {
			c.first[a.Track.Path] = a.At
		}
	}
	if !a.Track.Category.Music() {
		return
	}
	if a.Guest == rotation.GuestRequest {
		c.asked = c.songs
	}
	if post || a.Guest != "" {
		c.guest = c.songs
	}
	c.songs++
}
