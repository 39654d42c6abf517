// Package match finds the station's tracks that entries of another program's playlist mean.
// It would rather find none than another track: what could be two is not found.
package match

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/kit/playlistfile"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Matcher finds tracks. It is never changed: make it with New.
type Matcher struct {
	tracks []station.Track
	places []place          // sorted by key
	first  map[string]int32 // by title and artists, folded: the first track
	titled map[string]int32 // by title alone
	// next lead to further tracks of the same name; none: -1.
	next, nextTitled []int32
}

// place is where a track lies: the parts of its path, the last first, each followed by end.
type place struct {
	key   string
	track int32
}

// end follows each part of a key; no path has it.
const end = "\x00"

const none = -1

// mostAlike bounds the tracks of one name that are compared.
const mostAlike = 50

// New makes one of all tracks. Where two have one path the first is found.
func New(tracks []station.Track) *Matcher {
	m := &Matcher{
		tracks: tracks, places: make([]place, len(tracks)),
		first: make(map[string]int32, len(tracks)), titled: make(map[string]int32, len(tracks)),
		next: make([]int32, len(tracks)), nextTitled: make([]int32, len(tracks)),
	}
	artists := map[string]string{} // an artist has many tracks
	for i := len(tracks) - 1; i >= 0; i-- {
		t, n := tracks[i], int32(i) //nolint:gosec // far fewer tracks
		m.places[i] = place{key(parts(t.Path)), n}
		m.next[i], m.nextTitled[i] = none, none
		title := rotation.Fold(t.Title)
		if title == "" {
			continue
		}
		chain(m.titled, m.nextTitled, title, n)
		by, known := artists[t.Artist]
		if !known {
			by = people(t.Artist)
			artists[t.Artist] = by
		}
		if by != "" {
			chain(m.first, m.next, title+end+by, n)
		}
	}
	slices.SortStableFunc(m.places, func(a, b place) int { return strings.Compare(a.key, b.key) })
	return m
}

// chain puts a track before those of the same name.
func chain(heads map[string]int32, next []int32, name string, track int32) {
	if head, known := heads[name]; known {
		next[track] = head
	}
	heads[name] = track
}

// people is a form of artists in which guests may come in any order and be named in any way.
func people(artist string) string { return strings.Join(rotation.ArtistKeys(artist), end) }

// Find returns the path of the track that an entry means: by where it lies, and where that
// says nothing by its title and artists.
func (m *Matcher) Find(e playlistfile.Entry) (file string, ok bool) {
	for _, l := range locations(e.Location) {
		if t, found := m.lying(l, e); found {
			return m.tracks[t].Path, true
		}
	}
	for _, n := range names(e) {
		if t, found := m.named(n.by, n.title, e.Duration); found {
			return m.tracks[t].Path, true
		}
	}
	return "", false
}

// location is one way to read where an entry lies.
type location struct {
	text   string // a path, with either separator
	remote bool   // it is the path of an address
}

// locations are the ways to read a location, the likeliest first: as it is written, and
// with its escapes read. A path may have percent signs of its own.
func locations(text string) (out []location) {
	var l location
	scheme, rest, found := strings.Cut(text, ":")
	switch {
	case found && strings.EqualFold(scheme, "file"):
		l.text = rest
		if host, ok := strings.CutPrefix(rest, "//"); ok {
			if i := strings.IndexByte(host, '/'); i >= 0 {
				l.text = host[i:]
			}
		}
	case found && len(scheme) > 1 && strings.HasPrefix(rest, "//"):
		u, err := url.Parse(text)
		if err != nil {
			return nil
		}
		return []location{{u.Path, true}}
	default:
		l.text = text
	}
	out = append(out, l)
	if plain, err := url.PathUnescape(l.text); err == nil && plain != l.text {
		out = append(out, location{plain, false})
	}
	if strings.EqualFold(scheme, "file") { // escaped, unless the program knew no better
		slices.Reverse(out)
	}
	return out
}

// parts are those of a path, the last first, as file systems of any kind compare them:
// without case, composed (macOS writes them decomposed), without drives and dots.
func parts(file string) []string {
	file = strings.ToLower(norm.NFC.String(file))
	all := strings.FieldsFunc(file, func(r rune) bool { return r == '/' || r == '\\' || r == 0 })
	all = slices.DeleteFunc(all, func(s string) bool { return s == "." || s == ".." })
	if len(all) > 0 && len(all[0]) == 2 && all[0][1] == ':' {
		all = all[1:]
	}
	slices.Reverse(all)
	return all
}

func key(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p)
		b.WriteString(end)
	}
	return b.String()
}

// lying finds the track whose path has the most parts at its end in common with a location.
func (m *Matcher) lying(l location, e playlistfile.Entry) (track int32, ok bool) {
	asked := parts(l.text)
	if len(asked) == 0 {
		return 0, false
	}
	whole := key(asked)
	at, _ := slices.BinarySearchFunc(m.places, whole, func(p place, k string) int { return strings.Compare(p.key, k) })
	common := 0
	for _, i := range []int{at - 1, at} { // of all keys, its neighbours have the most in common
		if i >= 0 && i < len(m.places) {
			common = max(common, inCommon(m.places[i].key, asked))
		}
	}
	// Of those with as many parts in common, a path that is all there is meant.
	for n := common; n > 0; n-- {
		begin := key(asked[:n])
		from, exact := slices.BinarySearchFunc(m.places, begin, func(p place, k string) int { return strings.Compare(p.key, k) })
		if exact {
			track, ok = m.same(m.places[from:], begin, l.text)
			return track, ok && (n == len(asked) && !l.remote || !m.doubtful(track, e, n, l))
		}
		if n < common {
			continue
		}
		alike := m.places[from:]
		alike = alike[:min(len(alike), mostAlike+1)]
		if i := slices.IndexFunc(alike, func(p place) bool { return !strings.HasPrefix(p.key, begin) }); i >= 0 {
			alike = alike[:i]
		}
		if track, ok = m.one(alike, e); ok && !m.doubtful(track, e, n, l) {
			return track, true
		}
	}
	return 0, false
}

// inCommon counts the parts with which a key begins.
func inCommon(k string, parts []string) (n int) {
	for _, p := range parts {
		rest, ok := strings.CutPrefix(k, p)
		if !ok || !strings.HasPrefix(rest, end) {
			return n
		}
		k = rest[len(end):]
		n++
	}
	return n
}

// same is the track with a key: of those that differ in case alone, the one as written, and
// if there is none so written the only one.
func (m *Matcher) same(from []place, k, written string) (track int32, ok bool) {
	n := 0
	for n < len(from) && from[n].key == k {
		if p := m.tracks[from[n].track].Path; strings.HasSuffix(written, p) || strings.HasSuffix(strings.ReplaceAll(written, `\`, "/"), p) {
			return from[n].track, true
		}
		n++
	}
	return from[0].track, n == 1
}

// one is the only track among some that an entry can mean, by its names and its length.
func (m *Matcher) one(alike []place, e playlistfile.Entry) (track int32, ok bool) {
	if len(alike) == 1 {
		return alike[0].track, true
	}
	if len(alike) > mostAlike {
		return 0, false
	}
	var left []int32
	for _, p := range alike {
		left = append(left, p.track)
	}
	title := rotation.Fold(e.Title)
	left = narrowed(left, func(t int32) bool { return title != "" && rotation.Fold(m.tracks[t].Title) == title })
	if left = narrowed(left, func(t int32) bool { return near(m.tracks[t].Duration, e.Duration) }); len(left) != 1 {
		return 0, false
	}
	return left[0], true
}

// narrowed are those that fit; where none does, all.
func narrowed(all []int32, fits func(int32) bool) (out []int32) {
	for _, t := range all {
		if fits(t) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// near reports whether two lengths are known and one. Players round to seconds, and count
// silence at the ends of an MP3 in different ways.
func near(a, b time.Duration) bool { return a > 0 && b > 0 && (a-b).Abs() <= 2*time.Second }

// doubtful reports whether a track may be another than the entry's, though n parts at the
// end of their paths are one: their lengths differ, or only the name of the file is common
// and such a file is in every album.
func (m *Matcher) doubtful(t int32, e playlistfile.Entry, n int, l location) bool {
	if d := m.tracks[t].Duration; d > 0 && e.Duration > 0 && (d-e.Duration).Abs() > 5*time.Second {
		return true
	}
	return n == 1 && (l.remote || generic(stem(l.text)))
}

// generic reports whether the name of a file says nothing of what is in it.
func generic(name string) bool {
	for w := range strings.FieldsSeq(rotation.Fold(name)) {
		w = strings.TrimFunc(w, unicode.IsDigit)
		if w != "" && !slices.Contains([]string{"track", "audiotrack", "audio", "cd", "untitled", "unknown", "titel", "piste", "pista", "مقطع", "مسار"}, w) {
			return false
		}
	}
	return true
}

// stem is the name of a file without its ending.
func stem(location string) string {
	name := path.Base(strings.ReplaceAll(location, `\`, "/"))
	return strings.TrimSuffix(name, path.Ext(name))
}

type name struct{ by, title string }

// names are the ways to read those of an entry. Some programs put the title first.
func names(e playlistfile.Entry) (out []name) {
	add := func(by, title string) {
		if title = rotation.Fold(title); title != "" {
			out = append(out, name{people(by), title})
		}
	}
	both := func(by, title string) {
		add(by, title)
		if by != "" {
			add(title, by)
		}
	}
	switch {
	case e.Title != "":
		both(e.Creator, e.Title)
		if e.Creator != "" {
			add("", e.Creator+" - "+e.Title) // a title of two halves
		}
	case e.Location != "":
		for _, l := range locations(e.Location) {
			text := stem(l.text)
			unnumbered := strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune(" .-_", r) })
			for _, s := range slices.Compact([]string{text, unnumbered}) {
				if by, title, ok := strings.Cut(strings.ReplaceAll(s, "_", " "), " - "); ok {
					both(by, title)
				}
			}
		}
	}
	return out
}

// named finds the only track of a name; without artists its length has to be the same.
func (m *Matcher) named(by, title string, length time.Duration) (track int32, ok bool) {
	heads, next := m.first, m.next
	if by == "" {
		heads, next = m.titled, m.nextTitled
	} else {
		title += end + by
	}
	var all []int32
	t, found := heads[title]
	for ; found && t != none; t = next[t] {
		if all = append(all, t); len(all) > mostAlike {
			return 0, false
		}
	}
	if by == "" {
		all = slices.DeleteFunc(all, func(t int32) bool { return !near(m.tracks[t].Duration, length) })
	}
	if len(all) > 1 {
		all = narrowed(all, func(t int32) bool { return near(m.tracks[t].Duration, length) })
	}
	if len(all) != 1 {
		return 0, false
	}
	return all[0], true
}
