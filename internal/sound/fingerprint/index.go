package fingerprint

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Index finds the recordings that a new one equals without comparing it with
// each: an inverted index from parts of fingerprint items to where they occur.
// About 7 KB of memory a track. It may be used from several goroutines.
type Index struct {
	mu     sync.RWMutex
	ids    map[string]int32
	tracks []track
	heads  []int32 // of lists in posts, by key; -1: none
	posts  []post
}

type track struct {
	id    string
	print Print // nil: removed
}

// post is one occurrence of a key.
type post struct{ track, item, next int32 }

const (
	keyBits = 18 // of an item's 32: fewer survive more damage, and match more by chance
	// sampled keeps one item in four, chosen by its key, so that both sides
	// keep the same ones.
	sampled = 4
	nearby  = 4      // items by which alignments that agree may lie apart
	least   = 3      // alignments that agree, before two tracks are compared
	tried   = 32     // tracks compared, the likeliest first
	effort  = 40_000 // items of the candidates compared, where that makes more than tried
	brief   = 100    // items below which one alignment is enough
	longest = 4096
)

// NewIndex returns an empty index.
func NewIndex() *Index {
	x := &Index{ids: map[string]int32{}, heads: make([]int32, 1<<keyBits)}
	for i := range x.heads {
		x.heads[i] = -1
	}
	return x
}

// key is the part of an item that is looked up; ok is false where it is left out.
func key(item uint32) (k uint32, ok bool) {
	k = item >> (32 - keyBits)
	return k, (k*2654435761)>>30 == 0 // a multiplicative hash: one in sampled
}

// Add puts a print in, in the place of one of the same id, which means nothing here.
func (x *Index) Add(id string, print Print) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(id)
	if len(print) == 0 {
		return
	}
	n := int32(len(x.tracks))
	x.tracks, x.ids[id] = append(x.tracks, track{id, print}), n
	last := ^uint32(0)
	for i, item := range print {
		k, ok := key(item)
		if !ok || k == last { // a held note repeats itself
			continue
		}
		last = k
		x.posts = append(x.posts, post{n, int32(i), x.heads[k]})
		x.heads[k] = int32(len(x.posts) - 1)
	}
}

// Remove takes a track out. Its postings stay, and lead nowhere, until the
// index is made anew.
func (x *Index) Remove(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(id)
}

func (x *Index) remove(id string) {
	n, ok := x.ids[id]
	if !ok {
		return
	}
	x.tracks[n] = track{}
	delete(x.ids, id)
}

// Match is a print that equals the one asked about.
type Match struct {
	ID         string
	Difference float64 // share of differing bits, 0 to Alike; up to Same it is the same recording beyond doubt
	// Covered is the share of the longer one that lies over the other, 0 to 1: where a
	// jingle opens a song, the song matches the jingle and little of it is covered.
	Covered float64
}

// Find returns the prints that are the same recording as one that was fingerprinted,
// by one print or several Versions of it, the likest first. One of the same id is
// not among them.
func (x *Index) Find(id string, versions ...Print) []Match {
	x.mu.RLock()
	defer x.mu.RUnlock()
	found := map[string]Match{}
	for _, print := range versions {
		if !print.telling() {
			continue
		}
		for _, c := range x.candidates(print) {
			t := x.tracks[c.track]
			l := lay(t.print, print, int(c.offset))
			if t.id == id || l.share > limit(l.items) {
				continue
			}
			if best, ok := found[t.id]; !ok || l.share < best.Difference {
				found[t.id] = Match{t.id, l.share, float64(l.items) / float64(max(len(t.print), len(print)))}
			}
		}
	}
	out := slices.Collect(maps.Values(found))
	slices.SortFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Difference, b.Difference), cmp.Compare(a.ID, b.ID))
	})
	return out
}

type candidate struct{ track, offset, votes int32 }

// place is a track and an offset in it as one number, which sorts by both.
func place(track, offset int32) uint64 { return uint64(track)<<32 | uint64(offset+1<<30) }

// candidates are the tracks on whose alignment the most items agree. An alignment that
// drifts, and half an item of it, fall on neighbours: those within nearby are one. Of a
// short print few items are looked up, and comparing it is cheap: one that agrees is enough.
func (x *Index) candidates(print Print) []candidate {
	var places []uint64
	last := ^uint32(0)
	for i, item := range print {
		k, ok := key(item)
		if !ok || k == last {
			continue
		}
		last = k
		n := 0
		for at := x.heads[k]; at >= 0 && n < longest; at, n = x.posts[at].next, n+1 {
			if p := x.posts[at]; x.tracks[p.track].print != nil {
				places = append(places, place(p.track, p.item-int32(i)))
			}
		}
	}
	slices.Sort(places)
	least, tried := int32(least), max(tried, effort/len(print))
	if len(print) < brief {
		least = 1
	}
	var all []candidate
	for i, j := 0, 0; i < len(places); i++ {
		for j < len(places) && places[j] <= places[i]+nearby {
			j++
		}
		track, votes := int32(places[i]>>32), int32(j-i)
		c := candidate{track, int32(uint32(places[(i+j)/2])) - 1<<30, votes}
		switch n := len(all) - 1; {
		case votes < least:
		case n < 0 || all[n].track != track:
			all = append(all, c)
		case votes > all[n].votes:
			all[n] = c
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.votes, a.votes), cmp.Compare(a.track, b.track))
	})
	return all[:min(tried, len(all))]
}

// Len is the number of prints.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.ids)
}
