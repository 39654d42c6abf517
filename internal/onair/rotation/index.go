package rotation

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// shortsBelow is the mission's limit: Shorts are shorter than 60 s.
const shortsBelow = time.Minute

// Index is a library prepared for planning. It is immutable and serves any number of
// builds.
type Index struct {
	tracks []station.Track
	names  []names // by track
	byPath map[string]int32
	decks  map[station.Category][]int32 // longest first, then by path
	music  map[station.Category]chorus  // who sings each music deck
	gone   map[string]bool              // paths that are left out
}

// names are the folded, hashed names of a track; 0 means unknown.
type names struct {
	artists      []uint64
	title, album uint64
}

// NewIndex prepares tracks, which must not change afterwards. Of tracks with the same
// path it takes the first; it leaves out unknown categories. Listeners' posts are in no
// deck: only Request.Overlay airs them.
func NewIndex(tracks []station.Track) *Index {
	x := &Index{
		tracks: tracks,
		names:  make([]names, len(tracks)),
		byPath: make(map[string]int32, len(tracks)),
		decks:  map[station.Category][]int32{},
	}
	artists := map[string][]uint64{}
	for i, t := range tracks {
		if _, twice := x.byPath[t.Path]; twice || !t.Category.Valid() {
			continue
		}
		x.byPath[t.Path] = int32(i) //nolint:gosec // a library holds fewer than 2^31 tracks
		if t.Submitter == "" {      // a listener's post airs by the overlay alone
			x.decks[t.Category] = append(x.decks[t.Category], int32(i))
		}
		keys, ok := artists[t.Artist]
		if !ok {
			keys = artistHashes(t.Artist)
			artists[t.Artist] = keys
		}
		x.names[i] = names{keys, nameHash(t.Title), nameHash(t.Album)}
	}
	for _, deck := range x.decks {
		slices.SortFunc(deck, func(a, b int32) int {
			return cmp.Or(cmp.Compare(tracks[b].Duration, tracks[a].Duration), cmp.Compare(tracks[a].Path, tracks[b].Path))
		})
	}
	x.music = map[station.Category]chorus{}
	for c := range x.decks {
		if c.Music() {
			x.music[c] = x.chorusOf(c)
		}
	}
	return x
}

// Without returns the index without some paths, which must not change afterwards. It
// shares all else with x, so that leaving out a few tracks of a large library costs as
// little as there are few.
func (x *Index) Without(paths map[string]bool) *Index {
	out := *x
	out.gone, out.decks = paths, maps.Clone(x.decks)
	ids, of := map[int32]bool{}, map[station.Category]bool{}
	for path := range paths {
		if id, ok := x.find(path); ok {
			ids[id], of[x.tracks[id].Category] = true, true
		}
	}
	for c := range of {
		out.decks[c] = slices.DeleteFunc(slices.Clone(x.decks[c]), func(id int32) bool { return ids[id] })
	}
	return &out
}

// find returns the track with that path, unless it is left out.
func (x *Index) find(path string) (int32, bool) {
	id, ok := x.byPath[path]
	return id, ok && !x.gone[path]
}

func artistHashes(artist string) []uint64 {
	var out []uint64
	for _, k := range ArtistKeys(artist) {
		out = append(out, hash(k))
	}
	return out
}

func nameHash(s string) uint64 {
	if f := Fold(s); f != "" {
		return hash(f)
	}
	return 0
}

// deck splits a category into tracks that meet the quality floor and others (mission:
// *Limits*): music lasts at least floor, shorts less than a minute, imaging and news
// any length.
func (x *Index) deck(c station.Category, floor time.Duration) (good, poor []int32) {
	deck := x.decks[c]
	cut := func(at time.Duration) int { // the number of tracks of at least this length
		n, _ := slices.BinarySearchFunc(deck, at, func(i int32, at time.Duration) int {
			if x.tracks[i].Duration >= at {
				return -1
			}
			return 1
		})
		return n
	}
	switch {
	case c.Music():
		n := cut(floor)
		return deck[:n], deck[n:]
	case c == station.Shorts:
		n := cut(shortsBelow)
		return deck[n:], deck[:n]
	default:
		return deck, nil
	}
}
