package catalog_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var day = time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)

// shelf is a library that tests change.
type shelf struct {
	mu     sync.Mutex
	tracks []station.Track
	now    time.Time
	heard  map[string]int // plays, beside those that each track has
}

func (s *shelf) clock() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now }

func (s *shelf) pass(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.now = s.now.Add(d) }

func (s *shelf) Tracks() []station.Track { s.mu.Lock(); defer s.mu.Unlock(); return s.tracks }
func (s *shelf) set(t []station.Track)   { s.mu.Lock(); defer s.mu.Unlock(); s.tracks = t }

func (*shelf) Standing(tracks []station.Track) func(int) (catalog.State, string) {
	return func(i int) (catalog.State, string) {
		switch n := len(tracks[i].Path) + int(tracks[i].Size); {
		case n%11 == 0:
			return catalog.Refused, "it is broken"
		case n%7 == 0:
			return catalog.Waiting, ""
		}
		return catalog.Airs, ""
	}
}

func (s *shelf) Aired() func(string) catalog.Aired {
	s.mu.Lock()
	heard := s.heard
	s.mu.Unlock()
	return func(path string) catalog.Aired {
		if n := heard[path]; n > 0 {
			return catalog.Aired{Last: day.Add(time.Duration(n) * time.Minute), Plays: 100 + n}
		}
		n := len(path) + int(path[len(path)-5])
		if n%3 == 0 {
			return catalog.Aired{}
		}
		return catalog.Aired{Last: day.Add(-time.Duration(n) * time.Hour), Plays: n % 5}
	}
}

// library is tracks of a station: artists of many songs, in both scripts.
func library(n int, seed uint64) []station.Track {
	r := rand.New(rand.NewPCG(seed, 2))
	syllables := strings.Fields("ما نو رد شا مي كا لي حب عي قل fa ri no la mo sha ka ber tin don")
	word := func() string {
		half, out := 10*r.IntN(2), ""
		for range 2 + r.IntN(3) {
			out += syllables[half+r.IntN(10)]
		}
		return out
	}
	artists := []string{""}
	for range n/40 + 2 {
		artists = append(artists, word()+" "+word())
	}
	categories, genres := station.Categories(), []string{"", "Pop", "طرب", "Rock", "شعبي"}
	out := make([]station.Track, n)
	for i := range out {
		artist := artists[r.IntN(len(artists))]
		out[i] = station.Track{
			Path: fmt.Sprintf("music/%06d %s.mp3", i, word()), Category: categories[r.IntN(len(categories))], Title: word() + " " + word(), Artist: artist,
			Album: artist + " " + []string{"", "Live", "2004"}[r.IntN(3)], Genre: genres[r.IntN(len(genres))], Duration: time.Duration(r.IntN(400)) * time.Second,
			AddedAt: day.Add(-time.Duration(r.IntN(1000)) * time.Hour), Size: int64(r.IntN(1000)),
		}
		if r.IntN(9) == 0 {
			out[i].Own = &station.Own{Aliases: []string{"zulu" + fmt.Sprint(i%3)}, Limits: station.Limits{PerDay: r.IntN(2)}}
		}
	}
	return out
}

func open(tracks []station.Track) (*catalog.Catalog, *shelf) {
	s := &shelf{tracks: tracks, now: day}
	return catalog.New(catalog.Options{Source: s, Now: s.clock, Patience: time.Hour}), s
}

func paths(rows []catalog.Row) (out []string) {
	for _, r := range rows {
		out = append(out, r.Path)
	}
	return out
}

// Whatever is asked, a list holds what reading every track finds, in the order asked for,
// and its parts are parts of the whole.
func TestAListHoldsWhatReadingEveryTrackFinds(t *testing.T) {
	tracks := library(700, 1)
	c, s := open(tracks)
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(of func(station.Track) string) []string {
		var out []string
		for range r.IntN(3) {
			out = append(out, of(tracks[r.IntN(len(tracks))]))
		}
		return out
	}
	standing, aired := s.Standing(tracks), s.Aired()
	for range 300 {
		q := catalog.Query{
			Category: pick(func(t station.Track) string { return string(t.Category) }), Artist: pick(func(t station.Track) string { return t.Artist }),
			Genre: pick(func(t station.Track) string { return t.Genre }), Sort: catalog.Sorts()[r.IntN(len(catalog.Sorts()))], Order: []string{"", "asc", "desc"}[r.IntN(3)],
		}
		if r.IntN(2) == 0 {
			q.Artist = nil
		}
		if r.IntN(3) == 0 {
			q.State = []catalog.State{catalog.States()[r.IntN(len(catalog.States()))]}
		}
		want := map[string]bool{}
		for i, track := range tracks {
			has := func(values []string, v string) bool { return len(values) == 0 || slices.Contains(values, v) }
			is, _ := standing(i)
			ok := has(q.Category, string(track.Category)) && has(q.Artist, track.Artist) && has(q.Genre, track.Genre)
			for _, state := range q.State {
				switch state {
				case catalog.Edited:
					ok = ok && track.Own != nil
				case catalog.Limited:
					ok = ok && track.Own != nil && track.Own.Limits.PerDay > 0
				case catalog.Cut:
					ok = false
				case catalog.NeverYet:
					ok = ok && aired(track.Path).Last.IsZero()
				default:
					ok = ok && is == state
				}
			}
			if ok {
				want[track.Path] = true
			}
		}
		all, err := c.Browse(q, 0, 1000, true)
		if err != nil || all.Total != len(want) || len(all.Rows) != len(want) || all.All != len(tracks) {
			t.Fatalf("%+v: %d of %d, want %d, %v", q, len(all.Rows), all.Total, len(want), err)
		}
		for i, row := range all.Rows {
			if !want[row.Path] {
				t.Fatalf("%+v: %s is no match", q, row.Path)
			}
			if i > 0 && wrongOrder(q, all.Rows[i-1], row) {
				t.Fatalf("%+v: %+v stands before %+v", q, all.Rows[i-1], row)
			}
		}
		from, n := r.IntN(50), r.IntN(60)
		part, err := c.Browse(q, from, n, false)
		whole := paths(all.Rows)
		if err != nil || !slices.Equal(paths(part.Rows), whole[min(from, len(whole)):min(from+n, len(whole))]) {
			t.Fatalf("%+v from %d on: %v, %v", q, from, paths(part.Rows), err)
		}
		for _, count := range all.Facets[catalog.FacetCategory] {
			narrowed := q
			narrowed.Category = []string{count.Value}
			if page, err := c.Browse(narrowed, 0, 1, false); err != nil || page.Total != count.Count {
				t.Fatalf("%+v: %d of %s were promised, %d are there", q, count.Count, count.Value, page.Total)
			}
		}
	}
}

func wrongOrder(q catalog.Query, a, b catalog.Row) bool {
	if q.Order == "desc" {
		a, b = b, a
	}
	switch q.Sort {
	case catalog.ByDuration:
		return a.Duration > b.Duration
	case catalog.ByAdded:
		return a.AddedAt.After(b.AddedAt)
	case catalog.ByPath:
		return a.Path > b.Path
	case catalog.ByAired:
		return a.Aired.Last.After(b.Aired.Last)
	case catalog.ByPlays:
		return a.Aired.Plays > b.Aired.Plays
	case catalog.ByArtist:
		return a.Artist == "" && b.Artist != ""
	}
	return false
}

func TestTextIsFoundInBothScriptsByAliasAlbumAndPath(t *testing.T) {
	c, _ := open([]station.Track{
		{Path: "music/01 nassam.mp3", Title: "نسم علينا الهوى", Artist: "فيروز", Album: "Gold"},
		{Path: "music/02 tamally.mp3", Title: "Tamally Maak", Artist: "Amr Diab", Own: &station.Own{Aliases: []string{"the anthem"}, ArtistLatin: "El Hadaba"}},
		{Path: "live 1999/03.mp3", Title: "Concert", Artist: "B"},
	})
	for text, want := range map[string]string{"fairuz": "music/01 nassam.mp3", "فيروز هوى": "music/01 nassam.mp3", "عمرو دياب": "music/02 tamally.mp3", "anthem": "music/02 tamally.mp3", "hadaba": "music/02 tamally.mp3", "gold": "music/01 nassam.mp3", "1999": "live 1999/03.mp3", "zz": ""} {
		page, err := c.Browse(catalog.Query{Text: text}, 0, 10, false)
		if err != nil || strings.Join(paths(page.Rows), ",") != want {
			t.Errorf("%q: %v, %v", text, paths(page.Rows), err)
		}
	}
}

func TestAChangedLibraryIsSeenAndAWrongQueryIsNamed(t *testing.T) {
	c, s := open(library(10, 1))
	before, err := c.Browse(catalog.Query{}, 0, 5, false)
	if err != nil {
		t.Fatal(err)
	}
	s.set(library(12, 2))
	after, err := c.Browse(catalog.Query{}, 0, 5, false)
	if err != nil || after.Total != 12 || after.Generation == before.Generation {
		t.Errorf("%+v, %v", after, err)
	}
	for _, q := range []catalog.Query{{Sort: "colour"}, {Order: "up"}, {State: []catalog.State{"x"}}, {Text: strings.Repeat("x", 1000)}, {Genre: make([]string, 60)}} {
		if _, err := c.Browse(q, 0, 1, false); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if page, err := c.Browse(catalog.Query{Artist: []string{"nobody"}}, -5, -5, true); err != nil || page.Total != 0 || len(page.Rows) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
}

// A list of what has aired of late is made anew every so often: pages of it must not be mixed
// with those of before. Nor must those of another process.
func TestTheGenerationChangesWithTheListAndTheProcess(t *testing.T) {
	tracks := library(200, 1)
	c, s := open(tracks)
	ask := func(c *catalog.Catalog, q catalog.Query) uint64 {
		t.Helper()
		page, err := c.Browse(q, 0, 5, false)
		if err != nil || page.Generation >= 1<<53 {
			t.Fatalf("%d, %v", page.Generation, err)
		}
		return page.Generation
	}
	plays, titles := catalog.Query{Sort: catalog.ByPlays}, catalog.Query{Sort: catalog.ByTitle}
	before, steady := ask(c, plays), ask(c, titles)
	s.mu.Lock()
	s.heard = map[string]int{tracks[50].Path: 3}
	s.mu.Unlock()
	if ask(c, plays) != before {
		t.Error("it has another number while the list is the same")
	}
	s.pass(time.Minute)
	later := ask(c, plays)
	if later == before || ask(c, titles) != steady {
		t.Errorf("%d, then %d; by title %d, then %d", before, later, steady, ask(c, titles))
	}
	s.pass(time.Minute)
	if ask(c, plays) != later {
		t.Error("a list that holds the same has another number")
	}
	again, other := open(tracks)
	other.pass(time.Hour)
	if ask(again, titles) == steady {
		t.Error("the number of an earlier process is given again")
	}
}

// slow is a library of which the clock takes a second with each look at it.
type slow struct {
	*shelf
	looks atomic.Int64
}

func (s *slow) clock() time.Time { return day.Add(time.Duration(s.looks.Add(1)) * time.Second) }

// What a shelf is asked for counts to what it took: an index that takes a second is not made
// anew with each of a hundred changes.
func TestASearchWhileTheLibraryChangesMakesFewIndexes(t *testing.T) {
	s := &slow{shelf: &shelf{tracks: library(50, 1), now: day}}
	c := catalog.New(catalog.Options{Source: s, Now: s.clock, Patience: time.Hour})
	seen := map[uint64]bool{}
	for n := range 100 {
		s.set(library(50, uint64(n)))
		page, err := c.Browse(catalog.Query{Text: "ma", Sort: catalog.ByTitle}, 0, 5, false)
		if err != nil {
			t.Fatal(err)
		}
		seen[page.Generation] = true
	}
	if len(seen) > 25 {
		t.Errorf("%d shelves were made of 100 changes", len(seen))
	}
}

// While what has just changed is being prepared, what was there before is served.
func TestNobodyWaitsForTheLibraryToBePrepared(t *testing.T) {
	s := &shelf{tracks: library(50, 1), now: day}
	c := catalog.New(catalog.Options{Source: s, Now: s.clock, Patience: time.Nanosecond})
	total := func() int {
		page, err := c.Browse(catalog.Query{Text: "ma"}, 0, 5, false)
		if err != nil {
			t.Error(err)
		}
		return page.All
	}
	if n := total(); n != 50 {
		t.Fatalf("%d tracks", n)
	}
	goOn := make(chan struct{})
	c.Hold(func() { <-goOn })
	page, err := c.Browse(catalog.Query{Sort: catalog.ByPath}, 0, 3, false)
	if err != nil {
		t.Fatal(err)
	}
	edited := slices.Clone(s.Tracks())
	edited[1].Title = "Edited"
	s.set(edited)
	if later, err := c.Browse(catalog.Query{Sort: catalog.ByPath}, 0, 3, false); err != nil || later.Generation != page.Generation || later.Rows[1].Title != "Edited" {
		t.Errorf("what was edited: %+v, %v", later.Rows, err)
	}
	s.set(library(60, 2))
	for range 3 {
		if n := total(); n != 50 {
			t.Errorf("%d tracks before they are prepared", n)
		}
	}
	close(goOn)
	testkit.Eventually(t, "the library as it is", func() bool { return total() == 60 })
}

func TestManyBrowseWhileTheLibraryChanges(t *testing.T) {
	c, s := open(library(300, 1))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 40 {
				if i == 0 {
					s.set(library(300+n, uint64(n)))
				}
				if _, err := c.Browse(catalog.Query{Text: "ma", Sort: catalog.Sorts()[n%10]}, n, 20, true); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkBrowse prints what a part of a list takes in 1,000 tracks and in 100,000: the
// median and the 95th of a hundred, in ms and in ms of a processor, and how many times that of
// the smaller library.
func BenchmarkBrowse(b *testing.B) {
	small := map[string]float64{} // the 95th, by what is asked
	for _, size := range []int{1_000, 100_000} {
		tracks := library(size, 1)
		for _, ask := range []struct {
			name string
			of   func(n int) (catalog.Query, int, bool)
		}{
			{"scroll", func(n int) (catalog.Query, int, bool) { return catalog.Query{}, n * 997 % size, false }},
			{"search", func(n int) (catalog.Query, int, bool) {
				return catalog.Query{Text: []string{"ma", "ribe", "شامي", "fairuz", "no la", "كالي حب"}[n%6] + string(rune('a'+n%26))}, 0, true
			}},
			{"word", func(n int) (catalog.Query, int, bool) {
				return catalog.Query{Text: []string{"ma", "ri", "شا", "حب"}[n%4], Sort: catalog.Sorts()[n/4%10]}, 0, true
			}},
			{"facet", func(n int) (catalog.Query, int, bool) {
				return catalog.Query{Genre: []string{"Pop"}, Sort: catalog.Sorts()[n%10], Order: []string{"asc", "desc"}[n/10%2]}, n, true
			}},
		} {
			b.Run(fmt.Sprintf("%d/%s", size, ask.name), func(b *testing.B) {
				c, _ := open(tracks)
				if _, err := c.Browse(catalog.Query{Text: "ma"}, 0, 1, true); err != nil {
					b.Fatal(err)
				}
				var took, used []time.Duration
				for n := 0; b.Loop(); {
					for range 100 {
						q, offset, facets := ask.of(n)
						begin, processor := time.Now(), processorTime(b)
						if _, err := c.Browse(q, offset, 100, facets); err != nil {
							b.Fatal(err)
						}
						used = append(used, processorTime(b)-processor)
						took, n = append(took, time.Since(begin)), n+1
					}
				}
				slices.Sort(took)
				slices.Sort(used)
				b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms/median")
				b.ReportMetric(took[len(took)*95/100].Seconds()*1000, "ms/p95")
				b.ReportMetric(used[len(used)/2].Seconds()*1000, "cpu-ms/median")
				p95 := used[len(used)*95/100].Seconds() * 1000
				b.ReportMetric(p95, "cpu-ms/p95")
				if size == 1_000 {
					small[ask.name] = p95
				} else if small[ask.name] > 0 {
					b.ReportMetric(p95/small[ask.name], "times-1000/cpu-p95")
				}
			})
		}
	}
}

// processorTime is what the benchmark's own thread has used: it says the same beside other people's programs.
func processorTime(b *testing.B) time.Duration {
	runtime.LockOSThread() // no other thread goes on with it
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// BenchmarkEditThenSearch prints what a search takes that comes right after a change of one
// track, in ms: the median and the 95th of a hundred.
func BenchmarkEditThenSearch(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := &shelf{tracks: library(size, 1)}
			c := catalog.New(catalog.Options{Source: s})
			if _, err := c.Browse(catalog.Query{Text: "ma"}, 0, 1, true); err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			for n := 0; b.Loop(); {
				for range 100 {
					changed := slices.Clone(s.Tracks())
					changed[n*997%size].Title = fmt.Sprint("Edited ", n)
					s.set(changed)
					begin := time.Now()
					if _, err := c.Browse(catalog.Query{Text: []string{"ma", "ri", "شا", "حب"}[n%4]}, 0, 100, true); err != nil {
						b.Fatal(err)
					}
					took, n = append(took, time.Since(begin)), n+1
				}
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms/median")
			b.ReportMetric(took[len(took)*95/100].Seconds()*1000, "ms/p95")
		})
	}
}

// BenchmarkChange prints what the first search after a change of the library takes, which makes
// the index of words anew, and what a state of it holds in memory.
func BenchmarkChange(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			tracks := library(size, 1)
			before := held()
			var last *catalog.Catalog
			for b.Loop() {
				last, _ = open(tracks)
				if _, err := last.Browse(catalog.Query{Text: "ma"}, 0, 100, true); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/first")
			b.ReportMetric((held()-before)/float64(size), "B/track")
			runtime.KeepAlive(last)
			runtime.KeepAlive(tracks)
		})
	}
}

// held is the memory in use, in bytes.
func held() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
