package e2e

import (
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
	j := judgement{T: t, cfg: cfg, pieces: pieces, heard: heard, rotations: rotations}
	j.repeats()
	j.artists()
	j.floor()
	j.gate()
	j.news()
	j.jinglesAndAds()
	j.switches()
}

type judgement struct {
	*testing.T
	cfg       rotation.Config
	pieces    []piece
	heard     []airing
	rotations []committed
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
			j.Errorf("entry %d: tone %d twice in a row", i, h.ID)
		case music && rest < k.MinRest.Duration():
			j.Errorf("entry %d: song %d again after %s", i, h.ID, h.Start-was)
		case music && rest < k.CooldownPeriod.Duration() && !h.gave(rotation.Cooldown):
			j.Errorf("entry %d: song %d on cooldown: again after %s", i, h.ID, h.Start-was)
		case music && rest < k.MusicFresh.Duration() && !h.gave(rotation.FreshWindow) && !h.gave(rotation.Cooldown):
			j.Errorf("entry %d: song %d within the fresh window: again after %s", i, h.ID, h.Start-was)
		case !music && rest < k.ElementCooldown.Duration():
			j.Errorf("entry %d: element %d again after %s", i, h.ID, h.Start-was)
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
				j.Errorf("entry %d: %s twice in a row", i, s)
			}
			if was, again := last[s]; again && h.Start-was+slack < j.cfg.Rotation.ArtistGap.Duration() && !h.gave(rotation.ArtistGap) {
				j.Errorf("entry %d: %s again after %s", i, s, h.Start-was)
			}
			last[s] = h.Start
		}
		before = p.singers
	}
}

// floor: no music below it.
func (j *judgement) floor() {
	for i, h := range j.heard {
		if p := j.piece(i); p.length == tooShort && p.category.Music() {
			j.Errorf("entry %d: song %d is below the quality floor", i, h.ID)
		}
	}
}

// boundaryGrace is the mission's: rebuilt within 60 s of a daypart's boundary.
const boundaryGrace = time.Minute

// gate: in a hard window, once its rotation is there, nothing but its category,
// and no shorts, which are Arabic.
func (j *judgement) gate() {
	gated, early := 0, 0
	for i, h := range j.heard {
		began, hard := j.window(h.at)
		if !hard {
			continue
		}
		c := j.piece(i).category
		wrong := c.Music() && c != radio.English || c == radio.Shorts
		switch {
		case j.rotations[h.rotation].seen.Before(began) && h.at.Before(began.Add(boundaryGrace)):
			early++ // what was on air as the window began, or about to
		case wrong:
			j.Errorf("entry %d: %s in the English-only window, %s after its begin", i, c, h.at.Sub(began))
		default:
			gated++
		}
	}
	j.Logf("hard window: %d entries, %d before its rotation came", gated, early)
	if gated < 10 {
		j.Errorf("only %d entries heard of the hard window", gated)
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
	last, count := -1, 0
	for i := range j.heard {
		if j.piece(i).category != radio.News {
			continue
		}
		if count++; last >= 0 && (i-last < newsNearest || i-last > newsFarthest) {
			j.Errorf("entry %d: news after %d entries", i, i-last)
		}
		last = i
		if later := j.heard[i].ID + 1; later < len(j.pieces) && j.pieces[later].category == radio.News {
			j.Errorf("entry %d: an old bulletin", i)
		}
	}
	if count < 2 {
		j.Errorf("%d bulletins in %d entries", count, len(j.heard))
	}
}

// jinglesAndAds: a signature jingle every so many breaks, an ad every so many
// entries. A bulletin by itself is no break.
func (j *judgement) jinglesAndAds() {
	k := j.cfg.Rotation
	breaks, jingle, jingles, ad, ads, inBreak := 0, -1, 0, -1, 0, false
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
				j.Errorf("entry %d: signature jingle after %d breaks", i, d)
			}
			jingle, jingles = breaks, jingles+1
		case radio.Ads:
			if d := i - ad; ad >= 0 && (d < j.cfg.AdEvery || d > j.cfg.AdEvery+adWaits) {
				j.Errorf("entry %d: ad after %d entries", i, d)
			}
			ad, ads = i, ads+1
		}
	}
	if jingles < 2 || ads < 2 {
		j.Errorf("%d jingles and %d ads in %d entries", jingles, ads, len(j.heard))
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
		j.Logf("rotation %d left after %d of %d entries, %d of them after the next was committed", a.rotation, consumed, length, inFlight)
		if inFlight > 1 {
			j.Errorf("%d entries of rotation %d are heard after the next was committed", inFlight, a.rotation)
		}
		if used := float64(consumed) >= j.cfg.Rotation.RefreshFraction*float64(length); !used && !j.boundary(next.seen) && a.rotation > 0 {
			j.Errorf("rotation %d was left after %d of %d entries", a.rotation, consumed, length)
		}
	}
}

// boundary reports that a daypart began or ended within a minute before.
func (j *judgement) boundary(at time.Time) bool {
	now := at.UTC().Hour()*60 + at.UTC().Minute()
	for _, d := range j.cfg.Dayparts {
		for _, b := range []rotation.TimeOfDay{d.Start, d.End} {
			if since := (now - int(b) + 24*60) % (24 * 60); since <= 1 {
				return true
			}
		}
	}
	return false
}
