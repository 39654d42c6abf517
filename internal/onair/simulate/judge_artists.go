package simulate

import (
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// choir is how much each artist sings of the music of a daypart, and how long a song of
// it is on air.
type choir struct {
	share map[string]float64
	mean  time.Duration
}

// ownGap is the part of the mean distance between an artist's songs that the artist gap
// may take (docs/planner.md). slightly is for songs that came or went since the first day.
const (
	ownGap   = 0.75
	slightly = 0.95
)

// artistGap returns ARTIST_GAP; for an artist who sings too much of a daypart to keep it,
// ownGap of the mean distance that the artist's songs have if all songs air alike.
func (j *judge) artistGap(name string, w rotation.Daypart) time.Duration {
	gap := j.cfg.Rotation.ArtistGap.Duration()
	c, known := j.choirs[windowKey(w)]
	if !known {
		c = j.choirOf(w)
		j.choirs[windowKey(w)] = c
	}
	if share := c.share[name]; share > 0 {
		gap = min(gap, time.Duration(slightly*ownGap*float64(c.mean)/share))
	}
	return gap
}

func windowKey(w rotation.Daypart) string { return w.Name + w.Start.String() + w.End.String() }

// choirOf counts who sings how much of a daypart: of each category by its songs, and of
// the whole by the shares of the categories.
func (j *judge) choirOf(w rotation.Daypart) choir {
	c := choir{share: map[string]float64{}}
	w = gateless(w, j.has)
	shares := filled(TargetsOf(j.cfg, w), j.size, w.Hard != "")
	songs, length := map[station.Category]float64{}, map[station.Category]float64{}
	for _, t := range j.library {
		songs[t.Category]++
		length[t.Category] += float64(t.Duration - CrossOf(t.Category))
	}
	for _, t := range j.library {
		if share := shares[t.Category]; t.Category.Music() && share > 0 {
			for _, name := range j.names(t) {
				c.share[name] += share / songs[t.Category]
			}
		}
	}
	for cat, share := range shares {
		if songs[cat] > 0 {
			c.mean += time.Duration(share * length[cat] / songs[cat])
		}
	}
	return c
}

// filled moves to arabic_hits what it fills in for categories of few tracks: they keep a
// fifteenth of their share for each. Without it, empty categories leave theirs to all.
func filled(targets map[station.Category]float64, size map[station.Category]int, hard bool) map[station.Category]float64 {
	out, sum := map[station.Category]float64{}, 0.0
	for c, share := range targets {
		kept := share
		switch n := size[c]; {
		case hard:
		case size[station.ArabicHits] == 0 && n == 0:
			kept = 0
		case size[station.ArabicHits] > 0 && n < fewTracks && c != station.ArabicHits:
			kept = share * float64(n) / fewTracks
			out[station.ArabicHits] += share - kept
			sum += share - kept
		}
		out[c] += kept
		sum += kept
	}
	for c := range out {
		out[c] /= sum
	}
	return out
}
