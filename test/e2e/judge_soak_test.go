//go:build soak

package e2e

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	radio "github.com/athir-radio/athir/internal/station"
)

// The mission's cadences, as the ear counts them.
const (
	newsNearest, newsFarthest = 20, 24
	// An ad waits for the next break: at most three songs, a bulletin and the
	// elements before it in the break.
	adWaits = 8
)

// slack is what a heard distance may fall short of a planned one: at a rebuild
// the plan begins before what is on air has ended.
const slack = song

// judgeProgramme holds what was heard against the mission's rules. A rule that
// may give way must have been declared by the entry; the others must stand.
func judgeProgramme(t *testing.T, cfg rotation.Config, pieces []piece, heard []airing, rotations []committed) {
	t.Helper()
	j := judgement{cfg: cfg, pieces: pieces, heard: heard, rotations: rotations}
	for _, fault := range j.faults() {
		t.Error(fault)
	}
	t.Logf("of %d entries %d in the hard window; rotations left after %v", len(heard), j.gated, j.left)
	if j.gated < 10 || j.bulletins < 2 || j.jingles < 2 || j.ads < 2 {
		t.Errorf("too little was heard: %d entries of the hard window, %d bulletins, %d jingles, %d ads", j.gated, j.bulletins, j.jingles, j.ads)
	}
}

type judgement struct {
	cfg       rotation.Config
	pieces    []piece
	heard     []airing
	rotations []committed

	found                          []string
	gated, bulletins, jingles, ads int
	left                           []int // entries heard of each rotation
}

func (j *judgement) faults() []string {
	j.repeats()
	j.artists()
	j.floor()
	j.gate()
	j.news()
	j.jinglesAndAds()
	j.switches()
	return j.found
}

func (j *judgement) fault(i int, format string, args ...any) {
	j.found = append(j.found, fmt.Sprintf("entry %d (tone %d): ", i, j.heard[i].ID)+fmt.Sprintf(format, args...))
}

func (j *judgement) piece(i int) piece { return j.pieces[j.heard[i].ID] }

// gave reports that an entry says itself that a rule had to give way.
func (a airing) gave(r rotation.Rule) bool { return slices.Contains(a.Relaxed, string(r)) }

// repeats: nothing again within its window.
func (j *judgement) repeats() {
	last := map[int]time.Duration{}
	for i, h := range j.heard {
		was, again := last[h.ID]
		last[h.ID] = h.Start
		if !again {
			continue
		}
		rest, k := h.Start-was+slack, j.cfg.Rotation
		switch music := j.piece(i).category.Music(); {
		case i > 0 && j.heard[i-1].ID == h.ID:
			j.fault(i, "twice in a row")
		case music && rest < k.MinRest.Duration():
			j.fault(i, "the song again after %s", h.Start-was)
		case music && rest < k.CooldownPeriod.Duration() && !h.gave(rotation.Cooldown):
			j.fault(i, "a song on cooldown, again after %s", h.Start-was)
		case music && rest < k.MusicFresh.Duration() && !h.gave(rotation.FreshWindow) && !h.gave(rotation.Cooldown):
			j.fault(i, "a song within the fresh window, again after %s", h.Start-was)
		case !music && rest < k.ElementCooldown.Duration():
			j.fault(i, "the element again after %s", h.Start-was)
		}
	}
}

// artists: never one twice in a row, under whatever spelling, and apart in time.
func (j *judgement) artists() {
	last := map[string]time.Duration{}
	var before []string
	for i, h := range j.heard {
		p := j.piece(i)
		if !p.category.Music() {
			continue
		}
		for _, s := range p.singers {
			if slices.Contains(before, s) {
				j.fault(i, "%s twice in a row", s)
			}
			if was, again := last[s]; again && h.Start-was+slack < j.gapOf(s) && !h.gave(rotation.ArtistGap) {
				j.fault(i, "%s again after %s", s, h.Start-was)
			}
			last[s] = h.Start
		}
		before = p.singers
	}
}

// gapOf returns ARTIST_GAP; for an artist who sings too much of a deck to keep it, three
// quarters of the mean airtime of a song, divided by the part of that deck (docs/planner.md,
// which divides by the share of the mix: that is no greater).
func (j *judgement) gapOf(singer string) time.Duration {
	type deck struct {
		songs, theirs int
		airtime       time.Duration
	}
	decks := map[radio.Category]deck{}
	for _, p := range j.pieces {
		if d := decks[p.category]; p.category.Music() {
			d.songs, d.airtime = d.songs+1, d.airtime+max(p.length-rotation.CrossOf(p.category), 0)
			if slices.Contains(p.singers, singer) {
				d.theirs++
			}
			decks[p.category] = d
		}
	}
	gap, part, mean := j.cfg.Rotation.ArtistGap.Duration(), 0.0, time.Duration(math.MaxInt64)
	for _, d := range decks {
		part, mean = max(part, float64(d.theirs)/float64(d.songs)), min(mean, d.airtime/time.Duration(d.songs))
	}
	if part > 0 {
		gap = min(gap, time.Duration(0.75*float64(mean)/part))
	}
	return gap
}

// floor: no music below it.
func (j *judgement) floor() {
	for i := range j.heard {
		if p := j.piece(i); p.length == tooShort && p.category.Music() {
			j.fault(i, "below the quality floor")
		}
	}
}

// boundaryGrace is the mission's: rebuilt within 60 s of a daypart's boundary.
const boundaryGrace = time.Minute

// gate: in a hard window, once its rotation is there, nothing but its category,
// and no shorts, which are Arabic.
func (j *judgement) gate() {
	for i, h := range j.heard {
		began, hard := j.window(h.at)
		if !hard {
			continue
		}
		c := j.piece(i).category
		wrong := c.Music() && c != radio.English || c == radio.Shorts
		switch {
		case j.rotations[h.rotation].seen.Before(began) && h.at.Before(began.Add(boundaryGrace)):
			// What was on air as the window began, or about to.
		case wrong:
			j.fault(i, "%s in the English-only window, %s after its begin", c, h.at.Sub(began))
		default:
			j.gated++
		}
	}
}

// window returns when the hard window that holds a time began.
func (j *judgement) window(at time.Time) (began time.Time, hard bool) {
	at = at.UTC()
	for _, d := range j.cfg.Dayparts {
		since := (at.Hour()*60 + at.Minute() - int(d.Start) + 24*60) % (24 * 60)
		if long := (int(d.End-d.Start) + 24*60) % (24 * 60); d.Hard != "" && since < long {
			return at.Truncate(time.Minute).Add(-time.Duration(since) * time.Minute), true
		}
	}
	return time.Time{}, false
}

// news: the newest bulletin, once every 20 to 24 entries.
func (j *judgement) news() {
	last := -1
	for i := range j.heard {
		if j.piece(i).category != radio.News {
			continue
		}
		if j.bulletins++; last >= 0 && (i-last < newsNearest || i-last > newsFarthest) {
			j.fault(i, "news after %d entries", i-last)
		}
		last = i
		if later := j.heard[i].ID + 1; later < len(j.pieces) && j.pieces[later].category == radio.News {
			j.fault(i, "an old bulletin")
		}
	}
}

// jinglesAndAds: a signature jingle every so many breaks, an ad every so many
// entries. A bulletin by itself is no break.
func (j *judgement) jinglesAndAds() {
	k := j.cfg.Rotation
	breaks, jingle, ad, inBreak := 0, -1, -1, false
	for i := range j.heard {
		c := j.piece(i).category
		switch {
		case c.Music():
			inBreak = false
		case !inBreak && c != radio.News:
			breaks, inBreak = breaks+1, true
		}
		switch c {
		case radio.Jingles:
			if d := breaks - jingle; jingle >= 0 && (d < k.SigJingleMinSlots || d > k.SigJingleMaxSlots) {
				j.fault(i, "signature jingle after %d breaks", d)
			}
			jingle = breaks
			j.jingles++
		case radio.Ads:
			if d := i - ad; ad >= 0 && (d < j.cfg.AdEvery || d > j.cfg.AdEvery+adWaits) {
				j.fault(i, "ad after %d entries", d)
			}
			ad = i
			j.ads++
		}
	}
}

// switches: a rotation is left where it is used up, at a daypart's boundary, or
// for a library that was still being read; and once the next is committed at
// most one entry of it, which the engine had begun to mix in, is still heard.
func (j *judgement) switches() {
	for i := 1; i < len(j.heard); i++ {
		a, b := j.heard[i-1], j.heard[i]
		if a.rotation == b.rotation {
			continue
		}
		next := j.rotations[b.rotation]
		inFlight := 0
		for k := i - 1; k >= 0 && j.heard[k].rotation == a.rotation && j.heard[k].at.After(next.seen); k-- {
			inFlight++
		}
		consumed, length := a.position+1, len(j.rotations[a.rotation].entries)
		j.left = append(j.left, consumed)
		if inFlight > 1 {
			j.fault(i, "%d entries of rotation %d are heard after the next was committed", inFlight, a.rotation)
		}
		if used := float64(consumed) >= j.cfg.Rotation.RefreshFraction*float64(length); !used && !j.boundary(next.seen) && a.rotation > 0 {
			j.fault(i, "rotation %d was left after %d of %d entries", a.rotation, consumed, length)
		}
	}
}

// boundary reports that a daypart began or ended within a minute before.
func (j *judgement) boundary(at time.Time) bool {
	midnight := at.UTC().Truncate(24 * time.Hour)
	for _, d := range j.cfg.Dayparts {
		for _, b := range []rotation.TimeOfDay{d.Start, d.End} {
			since := at.Sub(midnight.Add(time.Duration(b) * time.Minute))
			if since < 0 {
				since += 24 * time.Hour
			}
			if since <= boundaryGrace {
				return true
			}
		}
	}
	return false
}
