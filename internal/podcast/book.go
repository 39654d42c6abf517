package podcast

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // RFC 4122 names it for UUIDs of version 5
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// record is an episode as it is kept. It is never changed once it is in a book.
type record struct {
	Episode
	was, lost State // of stages
	born      int64 // when it became an episode; these three: epoch milliseconds
	opens     int64 // listeners may hear it from then on; 0: at once
	again     int64 // when it is tried again; 0: not by itself
	tries     int   // that failed in a row
}

// shown is the episode for operators, who are told why nobody hears it.
func (r *record) shown() Episode {
	e := r.Episode
	if e.Withheld && e.Problem == "" {
		e.Problem = "its post waits for a moderator: nobody hears the episode until the post is approved again"
		e.ProblemAR = "مشاركتها تنتظر مشرفًا: لا يسمعها أحد حتى يُوافَق على المشاركة من جديد"
	}
	return e
}

// age is when it began to count as the show's.
func (r *record) age() int64 { return cmp.Or(r.Published, r.born) }

// shelf is a show with all its episodes. It is never changed once it is in a book.
type shelf struct {
	Show
	said    int64 // when the operator last said something
	numbers int   // the last that was given
	records map[string]*record
	gone    map[string]int64 // ids of what was an episode, and when it went

	// Of the records, made as the shelf goes into a book.
	published []Episode      // all of that state that are not withheld, the newest first
	at        map[string]int // places in it by id
}

// book is everything. It is replaced as a whole and never changed.
type book struct {
	shelves map[string]*shelf
	bytes   int64 // of all files
}

func (s *shelf) clone() *shelf {
	c := *s
	c.records, c.gone = map[string]*record{}, map[string]int64{}
	maps.Copy(c.records, s.records)
	maps.Copy(c.gone, s.gone)
	return &c
}

// edit returns a record that may be changed; nil where there is none.
func (s *shelf) edit(id string) *record {
	r := s.records[id]
	if r == nil {
		return nil
	}
	c := *r
	s.records[id] = &c
	return &c
}

// forget takes an episode away for good. Its source makes none by itself again.
func (s *shelf) forget(id string, now int64) {
	delete(s.records, id)
	s.gone[id] = now
}

// settle makes what follows from the records.
func (s *shelf) settle() {
	s.Bytes = 0
	var of []*record
	for _, r := range s.records {
		s.Bytes += r.Bytes
		if r.State == Published && !r.Withheld {
			of = append(of, r)
		}
	}
	slices.SortFunc(of, func(a, b *record) int {
		return cmp.Or(cmp.Compare(b.Published, a.Published), cmp.Compare(b.Number, a.Number))
	})
	s.published, s.at = make([]Episode, len(of)), make(map[string]int, len(of))
	for i, r := range of {
		s.published[i], s.at[r.ID] = r.Episode, i
	}
}

// touch notes that what listeners see has changed: its time is later than any that they saw.
func (s *shelf) touch(now time.Time) {
	last, at := s.Changed, now.UnixMilli()
	for _, r := range s.records {
		if r.Published <= at {
			last = max(last, r.Published)
		}
	}
	s.Changed = max(last+1, at)
}

// opened is the place of the first of published that listeners may hear by now.
func (s *shelf) opened(now int64) int {
	at, _ := slices.BinarySearchFunc(s.published, now, func(e Episode, now int64) int {
		if e.Published > now {
			return -1
		}
		return 1
	})
	return at
}

// publishAt is a time for an episode, at which no other of the show is: lists are paged by it. It
// is not later than t, so that what is published now is heard now.
func (s *shelf) publishAt(t int64, id string) int64 {
	taken := map[int64]bool{}
	for _, r := range s.records {
		if r.ID != id {
			taken[r.Published] = true
		}
	}
	for taken[t] {
		t--
	}
	return t
}

// replaced is the book with a shelf in the place of one; nil takes it away.
func (b *book) replaced(slug string, s *shelf) *book {
	n := &book{shelves: maps.Clone(b.shelves)}
	if s == nil {
		delete(n.shelves, slug)
	} else {
		n.shelves[slug] = s
	}
	for _, s := range n.shelves {
		n.bytes += s.Bytes
	}
	return n
}

// view is what listeners see of a book from one moment until another.
type view struct {
	book        *book
	from, until int64
	shows       []*Show
	bySlug      map[string]*Show
	heard       map[string][]Episode
}

const never = 1<<63 - 1

func (b *book) view(now time.Time) *view {
	v := &view{book: b, from: now.UnixMilli(), until: never, bySlug: map[string]*Show{}, heard: map[string][]Episode{}}
	for slug, s := range b.shelves {
		at := s.opened(v.from)
		if at > 0 {
			v.until = min(v.until, s.published[at-1].Published)
		}
		heard, show := s.published[at:], s.Show
		show.Episodes = len(heard)
		if len(heard) > 0 {
			show.Latest = heard[0].Published
			show.Changed = max(show.Changed, show.Latest)
		}
		v.shows, v.bySlug[slug] = append(v.shows, &show), &show
		if show.Public() {
			v.heard[slug] = slices.Clip(heard)
		}
	}
	slices.SortFunc(v.shows, func(a, b *Show) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)), strings.Compare(a.Slug, b.Slug))
	})
	return v
}

// idOf is the id of an episode: of its show and its source.
func idOf(guid string, from Source) string {
	sum := sha256.Sum256([]byte(guid + "\x00" + string(from.Kind) + "\x00" + from.Key))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

// uuid5 is a UUID of version 5 (RFC 9562) of a name within a namespace.
func uuid5(namespace, name string) string {
	space, _ := hex.DecodeString(strings.ReplaceAll(namespace, "-", ""))
	sum := sha1.Sum(append(space, name...)) //nolint:gosec // as above
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// podcasts is the namespace of podcast:guid, in which a name is a feed's address without its scheme
// and without slashes at its end.
const podcasts = "ead4c236-bf58-58c6-a2c6-a6b28d128cb6"

func guidOf(feed string) string {
	if _, after, ok := strings.Cut(feed, "://"); ok {
		feed = after
	}
	return uuid5(podcasts, strings.TrimRight(feed, "/"))
}
