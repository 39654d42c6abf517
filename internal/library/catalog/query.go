package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Sort names an order.
type Sort string

// The orders.
const (
	ByTitle    Sort = "title"
	ByArtist   Sort = "artist"
	ByAlbum    Sort = "album"
	ByGenre    Sort = "genre"
	ByCategory Sort = "category"
	ByDuration Sort = "duration"
	ByAdded    Sort = "added"
	ByAired    Sort = "aired"
	ByPlays    Sort = "plays"
	ByPath     Sort = "path"
)

// Sorts returns all of them.
func Sorts() []Sort {
	return []Sort{ByTitle, ByArtist, ByAlbum, ByGenre, ByCategory, ByDuration, ByAdded, ByAired, ByPlays, ByPath}
}

// live reports an order that changes with each airing.
func (s Sort) live() bool { return s == ByAired || s == ByPlays }

// Facet names what tracks are counted by.
type Facet string

// The facets.
const (
	FacetCategory Facet = "category"
	FacetArtist   Facet = "artist"
	FacetAlbum    Facet = "album"
	FacetGenre    Facet = "genre"
	FacetState    Facet = "state"
)

// Facets returns all of them.
func Facets() []Facet {
	return []Facet{FacetCategory, FacetState, FacetGenre, FacetArtist, FacetAlbum}
}

// text is the value of a track; nil where it is not one text.
func (f Facet) text() func(*station.Track) string {
	switch f {
	case FacetCategory:
		return func(t *station.Track) string { return string(t.Category) }
	case FacetArtist:
		return func(t *station.Track) string { return t.Artist }
	case FacetAlbum:
		return func(t *station.Track) string { return t.Album }
	case FacetGenre:
		return func(t *station.Track) string { return t.Genre }
	}
	return nil
}

// Query says which tracks, and in which order. A track must have one of the values of each
// facet that is named.
type Query struct {
	Text     string   `json:"q,omitempty"`
	Category []string `json:"category,omitempty"`
	Artist   []string `json:"artist,omitempty"`
	Album    []string `json:"album,omitempty"`
	Genre    []string `json:"genre,omitempty"`
	State    []State  `json:"state,omitempty"`
	Sort     Sort     `json:"sort,omitempty"`  // empty: the best fit first where there is a text, else by artist
	Order    string   `json:"order,omitempty"` // desc: the other way round
}

const (
	longestText = 200
	mostValues  = 50
)

// Check says what is wrong with a query. It is a station.ErrInvalid.
func (q Query) Check() error {
	bad := func(field, want string) error { return fmt.Errorf("%s: %s: %w", field, want, station.ErrInvalid) }
	switch {
	case len(q.Text) > 4*longestText:
		return bad("q", "is too long")
	case q.Sort != "" && !slices.Contains(Sorts(), q.Sort):
		return bad("sort", fmt.Sprintf("must be one of %v", Sorts()))
	case q.Order != "" && q.Order != "asc" && q.Order != "desc":
		return bad("order", "must be asc or desc")
	}
	for _, state := range q.State {
		if !slices.Contains(States(), state) {
			return bad("state", fmt.Sprintf("must be of %v", States()))
		}
	}
	for name, values := range map[string]int{"category": len(q.Category), "artist": len(q.Artist), "album": len(q.Album), "genre": len(q.Genre), "state": len(q.State)} {
		if values > mostValues {
			return bad(name, fmt.Sprintf("are %d at most", mostValues))
		}
	}
	return nil
}

// key tells queries apart.
func (q Query) key() string {
	text, err := json.Marshal(q)
	if err != nil {
		panic(err) // strings alone
	}
	return string(text)
}

// Page is a part of a list.
type Page struct {
	Generation uint64        // another where asking again would find others
	Total      int           // that match
	All        int           // of the library
	Duration   time.Duration // of all that match
	Rows       []Row
	Facets     map[Facet][]Count
}

// Row is one track.
type Row struct {
	station.Track
	Aired  Aired
	State  State
	Reason string
}

// Count is how many of the matches have a value.
type Count struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// mostCounts bounds the values of a facet.
const mostCounts = 50

// Browse returns the matches from an offset on, at most limit of them. Facets are counted where
// they are asked for: of each the matches that have it, whatever it is narrowed to itself, so
// that another value can be chosen beside.
func (c *Catalog) Browse(q Query, offset, limit int, facets bool) (Page, error) {
	if err := q.Check(); err != nil {
		return Page{}, err
	}
	s := c.current()
	state := c.opt.Source.Standing(s.tracks)
	aired := c.opt.Source.Aired()
	v := &view{shelf: s, state: state, aired: aired}
	l := c.lists.get(s.generation, q.key(), q.volatile(), c.opt.Now(), func() list {
		if q.volatile() {
			return v.list(q).printed()
		}
		return v.list(q)
	})
	page := Page{Generation: l.generation(s.generation), Total: len(l.places), All: len(s.tracks), Duration: l.duration}
	from := min(max(offset, 0), len(l.places))
	for _, i := range l.places[from:min(from+max(limit, 0), len(l.places))] {
		page.Rows = append(page.Rows, v.row(i))
	}
	c.freshen(s, page.Rows)
	if facets {
		page.Facets = v.facets(q)
	}
	return page, nil
}

// freshen shows tracks as they are by now where a shelf is of a moment ago: what was just edited
// must not look as if it were not.
func (c *Catalog) freshen(s *shelf, rows []Row) {
	tracks := c.opt.Source.Tracks()
	if station.Same(s.tracks, tracks) {
		return
	}
	for i := range rows {
		if at, there := station.Find(tracks, rows[i].Path); there {
			rows[i].Track = tracks[at]
		}
	}
}

// Row is one track; false where there is none of that path.
func (c *Catalog) Row(path string) (Row, bool) {
	tracks := c.opt.Source.Tracks()
	i, ok := station.Find(tracks, path)
	if !ok {
		return Row{}, false
	}
	state, reason := c.opt.Source.Standing(tracks)(i)
	return Row{Track: tracks[i], Aired: c.opt.Source.Aired()(path), State: state, Reason: reason}, true
}

// Each calls with every match, in order, until it returns false.
func (c *Catalog) Each(q Query, with func(Row) bool) error {
	if err := q.Check(); err != nil {
		return err
	}
	s := c.current()
	v := &view{shelf: s, state: c.opt.Source.Standing(s.tracks), aired: c.opt.Source.Aired()}
	for _, i := range v.list(q).places {
		if !with(v.row(i)) {
			return nil
		}
	}
	return nil
}

// volatile reports that the answer may change while the library does not.
func (q Query) volatile() bool { return len(q.State) > 0 || q.Sort.live() }

// view is a shelf with what changes faster than it.
type view struct {
	*shelf
	state func(i int) (State, string)
	aired func(path string) Aired
}

func (v *view) row(i int32) Row {
	t := v.tracks[i]
	state, reason := v.state(int(i))
	return Row{Track: t, Aired: v.aired(t.Path), State: state, Reason: reason}
}

// list is what a query finds.
type list struct {
	places   []int32
	duration time.Duration
	print    uint64 // of places, where those change while the library does not; else 0
}

// generation is that of the answer: another where the library has changed, and where a list that
// is made anew every so often holds others. Browsers read numbers of 53 bits.
func (l list) generation(shelf uint64) uint64 { return (shelf ^ l.print) & (1<<53 - 1) }

// printed is a list with its print.
func (l list) printed() list {
	h := fnv.New64a()
	for _, i := range l.places {
		_, _ = h.Write([]byte{byte(i), byte(i >> 8), byte(i >> 16), byte(i >> 24)}) // never fails
	}
	l.print = h.Sum64()
	return l
}

func (v *view) list(q Query) (out list) {
	keep := v.keeping(q, "")
	for _, i := range v.order(q) {
		if keep(i) {
			out.places = append(out.places, i)
			out.duration += v.tracks[i].Duration
		}
	}
	return out
}

// order returns the places that the text of a query finds, in its order.
func (v *view) order(q Query) []int32 {
	text := strings.TrimSpace(q.Text)
	var hits []int32
	if text != "" {
		all, _ := v.words.get().Search(text, 0, len(v.tracks), nil)
		hits = make([]int32, len(all))
		for i, at := range all {
			hits[i] = int32(at) //nolint:gosec // far fewer
		}
		if q.Sort == "" {
			return turned(hits, q.Order)
		}
	}
	by := cmp.Or(q.Sort, ByArtist)
	var places []int32
	if by.live() {
		places = v.byAirings(by)
	} else {
		places = v.orders[by].get()
	}
	if text != "" {
		is := make([]bool, len(v.tracks))
		for _, i := range hits {
			is[i] = true
		}
		var some []int32
		for _, i := range places {
			if is[i] {
				some = append(some, i)
			}
		}
		places = some
	}
	return turned(places, q.Order)
}

func turned(places []int32, order string) []int32 {
	if order != "desc" {
		return places
	}
	out := slices.Clone(places)
	slices.Reverse(out)
	return out
}

// byAirings sorts by when, or how often, tracks have aired of late.
func (v *view) byAirings(by Sort) []int32 {
	all := make([]Aired, len(v.tracks))
	out := make([]int32, len(v.tracks))
	for i := range v.tracks {
		all[i], out[i] = v.aired(v.tracks[i].Path), int32(i) //nolint:gosec // far fewer
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		if by == ByPlays {
			return cmp.Or(cmp.Compare(all[a].Plays, all[b].Plays), all[a].Last.Compare(all[b].Last))
		}
		return all[a].Last.Compare(all[b].Last)
	})
	return out
}

// keeping returns whether a track has what a query asks of its facets, but for one of them.
func (v *view) keeping(q Query, but Facet) func(int32) bool {
	var tests []func(int32) bool
	for facet, values := range map[Facet][]string{FacetCategory: q.Category, FacetArtist: q.Artist, FacetAlbum: q.Album, FacetGenre: q.Genre} {
		if len(values) == 0 || facet == but {
			continue
		}
		c := v.columns[facet]
		want := map[int32]bool{}
		for _, name := range values {
			if value, known := c.value[name]; known {
				want[value] = true
			}
		}
		tests = append(tests, func(i int32) bool { return want[c.of[i]] })
	}
	if len(q.State) > 0 && but != FacetState {
		tests = append(tests, func(i int32) bool {
			return slices.ContainsFunc(q.State, func(s State) bool { return v.stands(i, s) })
		})
	}
	return func(i int32) bool {
		for _, test := range tests {
			if !test(i) {
				return false
			}
		}
		return true
	}
}

// stands reports whether a track is in a state.
func (v *view) stands(i int32, s State) bool {
	own := v.tracks[i].Own
	switch s {
	case Edited:
		return own != nil
	case Cut:
		return own != nil && (own.Cut.In > 0 || own.Cut.Out > 0)
	case Limited:
		return own != nil && own.Limits != station.Limits{}
	case NeverYet:
		return v.aired(v.tracks[i].Path).Last.IsZero()
	}
	is, _ := v.state(int(i))
	return is == s
}

// facets counts the matches by each facet.
func (v *view) facets(q Query) map[Facet][]Count {
	matches := v.order(Query{Text: q.Text, Sort: ByPath})
	out := map[Facet][]Count{}
	for _, facet := range Facets() {
		keep := v.keeping(q, facet)
		if facet == FacetState {
			out[facet] = v.states(matches, keep)
			continue
		}
		c := v.columns[facet]
		counts := make([]int, len(c.names))
		for _, i := range matches {
			if keep(i) {
				counts[c.of[i]]++
			}
		}
		out[facet] = c.most(counts)
	}
	return out
}

func (v *view) states(matches []int32, keep func(int32) bool) []Count {
	counts := make([]int, len(States()))
	for _, i := range matches {
		if !keep(i) {
			continue
		}
		for n, s := range States() {
			if v.stands(i, s) {
				counts[n]++
			}
		}
	}
	out := []Count{}
	for n, s := range States() {
		if counts[n] > 0 {
			out = append(out, Count{string(s), counts[n]})
		}
	}
	return out
}

// most returns the values that most have, those without a name left out.
func (c *column) most(counts []int) []Count {
	out := []Count{}
	for v, n := range counts {
		if n > 0 && c.names[v] != "" {
			out = append(out, Count{c.names[v], n})
		}
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Value, b.Value)) })
	return out[:min(len(out), mostCounts)]
}
