// Package find finds tracks by what people type: in Arabic or Latin letters,
// whichever of the two the track's tags are in, and while it is being typed.
//
// Words are compared in three ways: folded as artists' names are (rotation.Fold), by
// their beginning, and by their consonants, which both scripts write down: فيروز is
// fairuz, fayrouz and feiruz. Vowels that Arabic writes must be in the Latin word too.
//
// It translates nothing, and knows no names: a singer whose name is not spelled as it
// sounds is found in the spelling of the tags alone.
package find

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Track is what can be found.
type Track struct {
	Title, Artist string
	// Also are other texts by which it is found, after those that fit by title or artist:
	// its album, other spellings, the folders it lies in.
	Also []string
}

// Index finds tracks. It is never changed: make it with New.
type Index struct {
	size  int
	words []string  // sorted
	posts [][]int32 // of each word: tracks, with the part of it in the lowest bits
	keys  []sounding
}

// sounding is one way to read a word of the index; Index.keys is sorted by key.
type sounding struct {
	reading
	word   int32
	arabic bool
}

// How well a word of the query fits one of a track.
const (
	exact   = 100
	begins  = 80
	sounds  = 60
	soundly = 50 // begins with what sounds so
)

// Parts of a track, in the lowest bits of a posting.
const (
	ofTitle = iota
	ofArtist
	ofOther
	partBits = 2
)

// worth is added for a word of a part: what sounds like a title comes before what is an album.
var worth = [...]uint16{ofTitle: 45, ofArtist: 50, ofOther: 0}

// mostWords bounds the words of a query.
const mostWords = 20

// LongestQuery bounds the query in characters; what is longer is cut.
const LongestQuery = 200

// New makes an index. Tracks that fit a query equally well are found in this order.
func New(tracks []Track) *Index {
	seen := map[string]int32{}
	x := &Index{size: len(tracks)}
	cache := map[string][]string{} // an artist has many tracks
	for i, t := range tracks {
		for part, text := range append([]string{t.Title, t.Artist}, t.Also...) {
			part = min(part, ofOther)
			words, known := cache[text]
			if !known {
				words = indexed(text)
				cache[text] = words
			}
			for _, w := range words {
				n, known := seen[w]
				if !known {
					n = int32(len(x.words)) //nolint:gosec // far fewer words
					seen[w] = n
					x.words, x.posts = append(x.words, w), append(x.posts, nil)
				}
				x.posts[n] = append(x.posts[n], int32(i)<<partBits|int32(part)) //nolint:gosec // far fewer tracks
			}
		}
	}
	x.sort()
	for n, w := range x.words {
		for _, r := range readings(w) {
			x.keys = append(x.keys, sounding{r, int32(n), arabic(w)}) //nolint:gosec // as above
		}
	}
	slices.SortFunc(x.keys, func(a, b sounding) int { return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.word, b.word)) })
	return x
}

// sort puts words, and what belongs to them, in order.
func (x *Index) sort() {
	order := make([]int, len(x.words))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(x.words[a], x.words[b]) })
	words, posts := make([]string, len(order)), make([][]int32, len(order))
	for to, from := range order {
		words[to], posts[to] = x.words[from], x.posts[from]
	}
	x.words, x.posts = words, posts
}

// Search returns the places of the tracks that hold every word of a query, the best
// first: at most limit of them, from offset on, and how many there are. keep leaves
// tracks out; nil keeps all. An empty query finds everything.
func (x *Index) Search(query string, offset, limit int, keep func(track int) bool) (found []int, total int) {
	if utf8.RuneCountInString(query) > LongestQuery {
		query = string([]rune(query)[:LongestQuery])
	}
	asked := queried(query)
	if len(asked) == 0 && strings.TrimSpace(query) != "" {
		return nil, 0 // signs alone
	}
	sum := x.score(asked)
	var all []int
	for i := range x.size {
		if (sum == nil || sum[i] > 0) && (keep == nil || keep(i)) {
			all = append(all, i)
		}
	}
	if sum != nil {
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(sum[b], sum[a]) })
	}
	from := min(max(offset, 0), len(all))
	return all[from:min(from+max(limit, 0), len(all))], len(all)
}

// score is how well each track fits all words; 0 where one of them is missing, and nil
// where nothing is asked.
func (x *Index) score(asked [][]string) []uint16 {
	var sum []uint16
	for n, word := range asked {
		best := make([]uint16, x.size)
		for _, form := range word {
			x.each(form, n == len(asked)-1, func(w int32, fits uint16) {
				for _, p := range x.posts[w] {
					i := p >> partBits
					best[i] = max(best[i], fits+worth[p&(1<<partBits-1)])
				}
			})
		}
		if sum == nil {
			sum = best
			continue
		}
		for i := range sum {
			if best[i] == 0 {
				sum[i] = 0
			} else if sum[i] > 0 {
				sum[i] += best[i]
			}
		}
	}
	return sum
}

// each calls fits with every word of the index that a word of the query may mean; the
// last word of a query may be unfinished.
func (x *Index) each(word string, last bool, fits func(w int32, well uint16)) {
	from, _ := slices.BinarySearch(x.words, word)
	for i := from; i < len(x.words) && strings.HasPrefix(x.words[i], word); i++ {
		switch {
		case x.words[i] == word:
			fits(int32(i), exact) //nolint:gosec // far fewer words
		case last || utf8.RuneCountInString(word) > 3:
			fits(int32(i), begins) //nolint:gosec // as above
		}
	}
	for _, r := range readings(word) {
		at, _ := slices.BinarySearchFunc(x.keys, r.key, func(s sounding, key string) int { return strings.Compare(s.key, key) })
		for ; at < len(x.keys) && strings.HasPrefix(x.keys[at].key, r.key); at++ {
			s := &x.keys[at]
			switch {
			case len(s.key) == len(r.key):
				if alike(r, arabic(word), s.reading, s.arabic) {
					fits(s.word, sounds)
				}
			case last && r.solid() >= 2:
				if alike(r, arabic(word), s.reading, s.arabic) {
					fits(s.word, soundly)
				}
			}
		}
	}
}
