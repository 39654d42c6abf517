package catalog

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/library/find"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// shelf is one state of the library, prepared for browsing. It is never changed but for what
// it makes once, when it is first asked for.
type shelf struct {
	tracks     []station.Track // sorted by path
	generation uint64
	made       time.Time
	took       time.Duration

	columns map[Facet]*column
	orders  map[Sort]*lazy[[]int32] // places in the order of a sort, ascending
	words   *lazy[*find.Index]
}

// lazy is made when it is first asked for.
type lazy[T any] struct {
	of    func() T
	now   func() time.Time
	once  sync.Once
	value T
	made  atomic.Bool
	took  atomic.Int64
}

func (l *lazy[T]) get() T {
	l.once.Do(func() {
		begin := l.now()
		l.value = l.of()
		l.took.Store(int64(max(0, l.now().Sub(begin))))
		l.made.Store(true)
	})
	return l.value
}

// cost is how long the shelf took to make, with all that it was asked for.
func (s *shelf) cost() time.Duration {
	sum := int64(s.took) + s.words.took.Load()
	for _, order := range s.orders {
		sum += order.took.Load()
	}
	return time.Duration(sum)
}

// prepare makes what an earlier shelf was asked for, so that nobody waits for it.
func (s *shelf) prepare(was *shelf) {
	for by, order := range was.orders {
		if order.made.Load() {
			s.orders[by].get()
		}
	}
	if was.words.made.Load() {
		s.words.get()
	}
}

// column is one facet of every track.
type column struct {
	names []string // by value
	of    []int32  // value, by track
	value map[string]int32
}

func newShelf(tracks []station.Track, generation uint64, now func() time.Time) *shelf {
	s := &shelf{tracks: tracks, generation: generation, columns: map[Facet]*column{}, orders: map[Sort]*lazy[[]int32]{}}
	for _, facet := range Facets() {
		if text := facet.text(); text != nil {
			s.columns[facet] = newColumn(tracks, text)
		}
	}
	for _, sort := range Sorts() {
		if sort.live() {
			continue
		}
		s.orders[sort] = &lazy[[]int32]{of: func() []int32 { return s.sorted(sort) }, now: now}
	}
	s.words = &lazy[*find.Index]{of: func() *find.Index { return find.New(found(tracks)) }, now: now}
	return s
}

func newColumn(tracks []station.Track, text func(*station.Track) string) *column {
	c := &column{of: make([]int32, len(tracks)), value: map[string]int32{}}
	for i := range tracks {
		name := text(&tracks[i])
		v, known := c.value[name]
		if !known {
			v = int32(len(c.names)) //nolint:gosec // far fewer
			c.value[name], c.names = v, append(c.names, name)
		}
		c.of[i] = v
	}
	return c
}

// found is what tracks are found by.
func found(tracks []station.Track) []find.Track {
	out := make([]find.Track, len(tracks))
	for i := range tracks {
		t := &tracks[i]
		also := []string{t.Album, t.Genre, strings.TrimSuffix(t.Path, path.Ext(t.Path))}
		out[i] = find.Track{Title: t.Title, Artist: t.Artist, Also: append(also, t.Own.Spellings()...)}
	}
	return out
}

// sorted returns the places of all tracks in the order of a sort.
func (s *shelf) sorted(by Sort) []int32 {
	out := make([]int32, len(s.tracks))
	for i := range out {
		out[i] = int32(i) //nolint:gosec // far fewer tracks
	}
	// Equal ones stay in the order of their paths.
	slices.SortStableFunc(out, s.comparing(by))
	return out
}

// comparing compares tracks, by their places.
func (s *shelf) comparing(by Sort) func(a, b int32) int {
	switch by {
	case ByTitle:
		key := folded(s.tracks, func(t *station.Track) string { return t.Title })
		return func(a, b int32) int { return last(key[a], key[b]) }
	case ByArtist:
		artist, album, title := s.rank(FacetArtist), s.rank(FacetAlbum), folded(s.tracks, func(t *station.Track) string { return t.Title })
		return func(a, b int32) int {
			return cmp.Or(cmp.Compare(artist[a], artist[b]), cmp.Compare(album[a], album[b]), last(title[a], title[b]))
		}
	case ByAlbum:
		artist, album := s.rank(FacetArtist), s.rank(FacetAlbum)
		return func(a, b int32) int {
			return cmp.Or(cmp.Compare(album[a], album[b]), cmp.Compare(artist[a], artist[b]))
		}
	case ByGenre:
		genre := s.rank(FacetGenre)
		return func(a, b int32) int { return cmp.Compare(genre[a], genre[b]) }
	case ByCategory:
		place := map[station.Category]int{}
		for i, c := range station.Categories() {
			place[c] = i
		}
		return func(a, b int32) int { return cmp.Compare(place[s.tracks[a].Category], place[s.tracks[b].Category]) }
	case ByDuration:
		return func(a, b int32) int { return cmp.Compare(s.tracks[a].Duration, s.tracks[b].Duration) }
	case ByAdded:
		return func(a, b int32) int { return s.tracks[a].AddedAt.Compare(s.tracks[b].AddedAt) }
	}
	return cmp.Compare[int32] // by path
}

// rank is the place of each track's value among all values of a column, folded: an artist
// stands many times, and is folded once.
func (s *shelf) rank(facet Facet) []int32 {
	c := s.columns[facet]
	keys, order := make([]string, len(c.names)), make([]int32, len(c.names))
	for v, name := range c.names {
		keys[v], order[v] = rotation.Fold(name), int32(v) //nolint:gosec // far fewer
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(last(keys[a], keys[b]), cmp.Compare(a, b)) })
	ranks, n := make([]int32, len(order)), int32(-1)
	for i, v := range order {
		if i == 0 || keys[v] != keys[order[i-1]] {
			n++
		}
		ranks[v] = n
	}
	out := make([]int32, len(c.of))
	for i, v := range c.of {
		out[i] = ranks[v]
	}
	return out
}

func folded(tracks []station.Track, text func(*station.Track) string) []string {
	out := make([]string, len(tracks))
	for i := range tracks {
		out[i] = rotation.Fold(text(&tracks[i]))
	}
	return out
}

// last compares texts, the empty one last.
func last(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	return strings.Compare(a, b)
}
