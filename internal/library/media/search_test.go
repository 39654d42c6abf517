package media

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/cases"

	"github.com/athir-radio/athir/internal/station"
)

// searchEach is the search without an index: it folds every track at every search.
func searchEach(tracks []station.Track, q Search) (found []station.Track, total int) {
	fold := cases.Fold()
	want := fold.String(q.Text)
	for _, t := range tracks {
		if q.Category != "" && t.Category != q.Category {
			continue
		}
		if want != "" && !strings.Contains(fold.String(t.Title+"\n"+t.Artist+"\n"+t.Album+"\n"+t.Path), want) {
			continue
		}
		if total >= q.Offset && len(found) < q.Limit {
			found = append(found, t)
		}
		total++
	}
	return found, total
}

// named returns n tracks whose names are made of a few words, sorted by path.
func named(n int, chance *rand.Rand) []station.Track {
	words := strings.Fields("Straße STRASSE İstanbul ΣΊΣΥΦΟΣ حبيبي يا ليل القاهرة Love LOVE song Night فيروز Umm كلثوم Remix 2019 ab c é \xff\xfe")
	text := func() string {
		out := make([]string, 1+chance.IntN(4))
		for i := range out {
			out[i] = words[chance.IntN(len(words))]
		}
		return strings.Join(out, " ")
	}
	categories := station.Categories()
	tracks := make([]station.Track, n)
	for i := range tracks {
		tracks[i] = station.Track{
			Path: fmt.Sprintf("music/%06d %s.mp3", i, text()), Category: categories[chance.IntN(len(categories))],
			Title: text(), Artist: text(), Album: text(),
		}
	}
	return tracks
}

func same(a, b []station.Track) bool { return slices.Equal(a, b) || len(a)+len(b) == 0 }

// Whatever is asked, and however the library changed since the search before, the
// index finds what reading every track finds.
func TestAnIndexedSearchFindsWhatReadingEveryTrackFinds(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "ab", "حب", "حبيبي", "strasse", "STRAßE", "i̇stanbul", "σίσυφος", "love song", "nowhere", "e\nL", "\xff", "\xff\xfe", "00017", "mp3", " "}
	snapshot := &Snapshot{Tracks: named(400, chance)}
	snapshot.Succeed(nil)
	for round := range 30 {
		for range 40 {
			q := Search{Text: texts[chance.IntN(len(texts))], Offset: chance.IntN(3) * chance.IntN(200), Limit: 1 + chance.IntN(150)}
			if chance.IntN(2) == 0 {
				q.Category = station.Categories()[chance.IntN(len(station.Categories()))]
			}
			found, total := snapshot.Search(q)
			want, all := searchEach(snapshot.Tracks, q)
			if !same(found, want) || total != all {
				t.Fatalf("round %d, %+v: %d of %d, want %d of %d", round, q, len(found), total, len(want), all)
			}
		}
		next := &Snapshot{Tracks: slices.DeleteFunc(slices.Clone(snapshot.Tracks), func(station.Track) bool { return chance.IntN(9) == 0 })}
		for i := range next.Tracks {
			if chance.IntN(9) == 0 {
				next.Tracks[i].Title, next.Tracks[i].Artist = next.Tracks[i].Artist, next.Tracks[i].Title
			}
		}
		next.Tracks = append(next.Tracks, named(400, chance)...)[:min(400, len(next.Tracks)+50)]
		slices.SortFunc(next.Tracks, func(a, b station.Track) int { return strings.Compare(a.Path, b.Path) })
		next.Tracks = slices.CompactFunc(next.Tracks, func(a, b station.Track) bool { return a.Path == b.Path })
		next.Succeed(snapshot)
		if chance.IntN(3) > 0 { // else nobody searched the one between
			snapshot = next
			continue
		}
		snapshot = &Snapshot{Tracks: slices.Clone(next.Tracks)}
		snapshot.Succeed(next)
	}
}

// A search allocates for what it finds, not for what there is; after a change it
// folds what changed.
func TestASearchFoldsOnlyWhatChanged(t *testing.T) {
	tracks := named(5000, rand.New(rand.NewPCG(3, 4)))
	snapshot := &Snapshot{Tracks: tracks}
	snapshot.Succeed(nil)
	search := func(s *Snapshot) float64 {
		return testing.AllocsPerRun(1, func() { s.Search(Search{Text: "حبيبي", Limit: 10}) })
	}
	search(snapshot)
	if n := search(snapshot); n > 50 {
		t.Errorf("%g allocations in a search through 5,000 tracks that were searched before", n)
	}
	folded := func(old *Snapshot, index int) (*Snapshot, int) {
		next := &Snapshot{Tracks: slices.Clone(old.Tracks)}
		next.Tracks[index].Title = "Another"
		next.Succeed(old)
		before := old.index.newest().entries
		next.Search(Search{Text: "another", Limit: 10})
		n := 0
		for i, e := range next.index.entries {
			if e != before[i] {
				n++
			}
		}
		return next, n
	}
	if _, n := folded(snapshot, 17); n != 1 {
		t.Errorf("%d keys changed with one track", n)
	}
	unsearched := &Snapshot{Tracks: slices.Clone(tracks)}
	unsearched.Succeed(snapshot)
	next, n := folded(unsearched, 18)
	if n != 1 {
		t.Errorf("%d keys changed with one track, through a snapshot that nobody searched", n)
	}
	if next.index.before != nil {
		t.Error("the index of earlier tracks is kept beside the one that replaced it")
	}
}

// BenchmarkSearch prints what a search through 100,000 tracks costs, and what it cost
// when every search folded every track.
func BenchmarkSearch(b *testing.B) {
	tracks := named(100_000, rand.New(rand.NewPCG(5, 6)))
	snapshot := &Snapshot{Tracks: tracks}
	snapshot.Succeed(nil)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			fresh := &Snapshot{Tracks: tracks}
			fresh.Succeed(nil)
			fresh.Search(Search{Text: "remix 2019", Limit: 100})
		}
	})
	snapshot.Search(Search{Text: "remix", Limit: 1})
	b.Run("after a change", func(b *testing.B) {
		for b.Loop() {
			next := &Snapshot{Tracks: slices.Clone(tracks)}
			next.Succeed(snapshot)
			next.Search(Search{Text: "remix 2019", Limit: 100})
		}
	})
	for _, text := range []string{"remix 2019", "حبيبي يا ليل", "nowhere", "love", "e"} {
		q := Search{Text: text, Limit: 100}
		b.Run("indexed/"+text, func(b *testing.B) {
			for b.Loop() {
				snapshot.Search(q)
			}
		})
		b.Run("folding each/"+text, func(b *testing.B) {
			for b.Loop() {
				searchEach(tracks, q)
			}
		})
	}
	b.Run("category alone", func(b *testing.B) {
		for b.Loop() {
			snapshot.Search(Search{Category: station.News, Limit: 100})
		}
	})
}
