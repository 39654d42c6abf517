package fingerprint

import (
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
	votes   = 3  // alignments that agree, before two tracks are compared
	tried   = 24 // tracks compared, the likeliest first
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

// Match is a track that equals the one asked about.
type Match struct {
	ID         string
	Difference float64 // share of differing bits, 0 to Same
}

// Find returns the tracks that are the same recording as print, the likest
// first. A track of the same id is not among them.
func (x *Index) Find(id string, print Print) []Match {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if !print.telling() {
		return nil
	}
	var out []Match
	for _, c := range x.candidates(print) {
		t := x.tracks[c.track]
		if t.id == id {
			continue
		}
		best := 1.0
		for o := c.offset - 2; o <= c.offset+2; o++ {
			best = min(best, at(t.print, print, int(o)))
		}
		if best <= Same {
			out = append(out, Match{ID: t.id, Difference: best})
		}
	}
	slices.SortFunc(out, func(a, b Match) int { return compare(a.Difference, b.Difference) })
	return out
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

type candidate struct{ track, offset, votes int32 }

// candidates counts, for each track, the alignments its items agree on.
func (x *Index) candidates(print Print) []candidate {
	type place struct{ track, offset int32 }
	count := map[place]int32{}
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
				count[place{p.track, p.item - int32(i)}]++
			}
		}
	}
	best := map[int32]candidate{}
	for p, n := range count {
		n += count[place{p.track, p.offset + 1}] // half an item off falls on two
		if n >= votes && n > best[p.track].votes {
			best[p.track] = candidate{p.track, p.offset, n}
		}
	}
	var all []candidate
	for _, c := range best {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		if d := b.votes - a.votes; d != 0 {
			return int(d)
		}
		return int(a.track - b.track)
	})
	return all[:min(tried, len(all))]
}

// Len is the number of prints.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.ids)
}
