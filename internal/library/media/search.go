package media

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/cases"

	"github.com/athir-radio/athir/internal/station"
)

// index finds tracks by a part of what they are called. It folds the case of each
// track once, at the first search, and takes over from the index before it what did
// not change. Its methods may be called from any goroutine.
type index struct {
	tracks []station.Track

	build   sync.Once
	entries []entry // by index of tracks, once built

	mu     sync.Mutex
	before *index // built, of earlier tracks; nil once this one is built

	byID func() map[string]int32 // places of tracks by their ids, made when first asked for
}

// entry is one track as it is searched.
type entry struct {
	key   string   // title, artist, album and path, folded
	grams trigrams // of key
}

// trigrams is the set of the runs of three bytes in a text, each hashed to one of 256
// bits: a text that holds another has all its bits. Of tracks' keys, some 80 bytes
// long, a quarter of the bits is set, so that a word of five letters passes over 98
// of 100 keys without reading them; what passes is compared.
type trigrams [4]uint64

func trigramsOf(text string) (m trigrams) {
	for i := 0; i+3 <= len(text); i++ {
		// Fibonacci hashing: the upper bits of the product are the well mixed ones.
		h := (uint32(text[i]) | uint32(text[i+1])<<8 | uint32(text[i+2])<<16) * 2654435769 >> 24
		m[h>>6] |= 1 << (h & 63)
	}
	return m
}

func (m *trigrams) holds(part *trigrams) bool {
	return m[0]&part[0] == part[0] && m[1]&part[1] == part[1] && m[2]&part[2] == part[2] && m[3]&part[3] == part[3]
}

// indexOf returns the index of tracks, sorted by path. old is the index before it,
// or nil.
func indexOf(tracks []station.Track, old *index) *index {
	if old != nil && sameSlice(old.tracks, tracks) {
		return old
	}
	return &index{tracks: tracks, before: old.newest(), byID: sync.OnceValue(func() map[string]int32 {
		ids := make(map[string]int32, len(tracks))
		for i := range tracks {
			ids[station.TrackID(tracks[i].Path)] = int32(i) //nolint:gosec // far fewer tracks
		}
		return ids
	})}
}

// newest returns the index itself once it is built, else the one before it: what
// was never searched is not kept.
func (x *index) newest() *index {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.before == nil && x.entries != nil {
		return x
	}
	return x.before
}

// folded returns the entries, and makes them the first time.
func (x *index) folded() []entry {
	x.build.Do(func() {
		x.mu.Lock()
		before := x.before
		x.mu.Unlock()
		fold := cases.Fold()
		entries, at := make([]entry, len(x.tracks)), 0
		for i := range x.tracks {
			t := &x.tracks[i]
			if before != nil {
				for at < len(before.tracks) && before.tracks[at].Path < t.Path {
					at++
				}
				if at < len(before.tracks) && called(&before.tracks[at], t) {
					entries[i] = before.entries[at]
					continue
				}
			}
			key := fold.String(t.Title + "\n" + t.Artist + "\n" + t.Album + "\n" + t.Path)
			entries[i] = entry{key, trigramsOf(key)}
		}
		x.mu.Lock()
		x.entries, x.before = entries, nil
		x.mu.Unlock()
	})
	return x.entries
}

// called reports that two tracks have the same key.
func called(a, b *station.Track) bool {
	return a.Path == b.Path && a.Title == b.Title && a.Artist == b.Artist && a.Album == b.Album
}

// Search is what a search asks for.
type Search struct {
	Text          string           // part of title, artist, album or path; empty: any. Case does not matter
	Category      station.Category // empty: any
	Offset, Limit int              // of the matches, by path
}

// Search returns the matches from Offset on, at most Limit, and how many there are in
// all. It costs the same whatever the offset.
func (s *Snapshot) Search(q Search) (found []station.Track, total int) {
	if q.Text == "" && q.Category == "" {
		return page(s.Tracks, q), len(s.Tracks)
	}
	for i := range s.indexed().matches(q) {
		if total >= q.Offset && len(found) < q.Limit {
			found = append(found, s.Tracks[i])
		}
		total++
	}
	return found, total
}

// Succeed takes over what an earlier snapshot, or nil, knows of the tracks that are in
// both. Call it before the snapshot is shared.
func (s *Snapshot) Succeed(old *Snapshot) {
	var before *index
	if old != nil {
		before = old.index
	}
	s.index = indexOf(s.Tracks, before)
}

// indexed returns the index of the tracks; of a snapshot that was not given one, a
// new one each time.
func (s *Snapshot) indexed() *index {
	if s.index == nil || !sameSlice(s.index.tracks, s.Tracks) {
		return indexOf(s.Tracks, nil)
	}
	return s.index
}

func page(tracks []station.Track, q Search) []station.Track {
	from := min(q.Offset, len(tracks))
	return slices.Clone(tracks[from:min(from+q.Limit, len(tracks))])
}

// matches yields the indices of the tracks that match, in order.
func (x *index) matches(q Search) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		if q.Text == "" {
			for i := range x.tracks {
				if x.tracks[i].Category == q.Category && !yield(i) {
					return
				}
			}
			return
		}
		want := cases.Fold().String(q.Text)
		part, entries := trigramsOf(want), x.folded()
		for i := range entries {
			e := &entries[i]
			if e.grams.holds(&part) && (q.Category == "" || x.tracks[i].Category == q.Category) && strings.Contains(e.key, want) && !yield(i) {
				return
			}
		}
	}
}
