package requests

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/library/find"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// reindexEvery keeps a library that is being filled from being read at every file: an
// index of 100,000 tracks takes most of a second to make.
const reindexEvery = 10 * time.Second

// catalogue is what may be asked for, prepared for searching.
type catalogue struct {
	opt   Options
	shelf atomic.Pointer[shelf]
	made  sync.Mutex
}

type shelf struct {
	tracks []station.Track // by artist and title
	keys   [][]string      // of the tracks' artists: rotation.ArtistKeys
	index  *find.Index
}

func newCatalogue(opt Options) *catalogue { return &catalogue{opt: opt} }

// run follows the library until ctx ends.
func (c *catalogue) run(ctx context.Context) {
	changed, cancel := c.opt.Library.Subscribe()
	defer cancel()
	for {
		c.make()
		select {
		case <-ctx.Done():
			return
		case <-time.After(reindexEvery):
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// ready returns the index, which the first who asks may have to wait for.
func (c *catalogue) ready() *shelf {
	if s := c.shelf.Load(); s != nil {
		return s
	}
	return c.make()
}

func (c *catalogue) make() *shelf {
	c.made.Lock()
	defer c.made.Unlock()
	all, _ := c.opt.Library.Tracks()
	s := &shelf{}
	for _, t := range all {
		if c.opt.may(t) {
			s.tracks = append(s.tracks, t)
		}
	}
	folded := map[string]string{}
	for _, t := range s.tracks {
		folded[t.Artist], folded[t.Title] = rotation.Fold(t.Artist), rotation.Fold(t.Title)
	}
	slices.SortFunc(s.tracks, func(a, b station.Track) int {
		return cmp.Or(strings.Compare(folded[a.Artist], folded[b.Artist]), strings.Compare(folded[a.Title], folded[b.Title]), strings.Compare(a.Path, b.Path))
	})
	s.keys = make([][]string, len(s.tracks))
	for i, t := range s.tracks {
		if i > 0 && t.Artist == s.tracks[i-1].Artist {
			s.keys[i] = s.keys[i-1]
		} else {
			s.keys[i] = rotation.ArtistKeys(t.Artist)
		}
	}
	names := make([]find.Track, len(s.tracks))
	for i, t := range s.tracks {
		names[i] = find.Track{Title: t.Title, Artist: t.Artist, Also: t.Own.Spellings()}
	}
	s.index = find.New(names)
	c.shelf.Store(s)
	return s
}

// may reports whether a track is of a kind that may be asked for: a song of a category
// that the operator allows, and no listener's post, which has a queue of its own.
func (o *Options) may(t station.Track) bool {
	return t.Category.Music() && slices.Contains(o.Limits.Categories, t.Category) && t.Submitter == "" && utf8.ValidString(t.Path)
}

// Page is how many tracks one answer of Search holds.
const Page = 20

// Found is a track, and why it may not be asked for now; nil when it may.
type Found struct {
	Track   station.Track
	Refusal *Refusal
}

// Search finds what may be asked for, a page of it from offset on, and how many there
// are. Without a query it is everything, first what no rule stands against now, then the
// rest, each by artist. Errors are the database's.
func (r *Requests) Search(ctx context.Context, from Client, query string, offset int) ([]Found, int, error) {
	s := r.desk.ready()
	m, err := r.moment(ctx, r.opt.DB.Read(), r.sender(from))
	if err != nil {
		return nil, 0, err
	}
	var places []int
	var total int
	if strings.TrimSpace(query) == "" {
		all := r.listed(s, m)
		from := min(max(offset, 0), len(all))
		places, total = all[from:min(from+Page, len(all))], len(all)
	} else {
		places, total = s.index.Search(query, offset, Page, func(i int) bool { return s.tracks[i].Duration >= m.air.Shortest })
	}
	out := []Found{}
	for _, i := range places {
		t, there := r.opt.Library.Find(s.tracks[i].Path)
		if there {
			out = append(out, Found{t, m.of(t).refusal(r.opt.Zone)})
		}
	}
	return out, total, nil
}

// Free reports whether a track may be asked for now, as far as the track and the station go:
// the limits of one listener are not looked at.
func (r *Requests) Free(ctx context.Context, path string) (bool, error) {
	t, there := r.opt.Library.Find(path)
	if !there || !r.opt.may(t) {
		return false, nil
	}
	m, err := r.moment(ctx, r.opt.DB.Read(), sender{})
	if err != nil {
		return false, err
	}
	return t.Duration >= m.air.Shortest && m.of(t).refusal(r.opt.Zone) == nil, nil
}
