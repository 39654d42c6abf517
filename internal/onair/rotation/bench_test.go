package rotation

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// A build of 120 entries, with three days of history, by the size of the library.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{300, 1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			tracks := library(typical(n), 1)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			x := NewIndex(tracks)
			runtime.GC()
			runtime.ReadMemStats(&after)
			r := Request{Index: x, Config: DefaultConfig(), State: threeDays(tracks), Now: noon}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				r.Seed = uint64(i)
				Build(r)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "indexbytes/track")
		})
	}
}

// threeDays is a history of 72 hours: 1,300 songs, the rest imaging.
func threeDays(tracks []station.Track) State {
	var plays []Play
	for i := range 1300 {
		plays = append(plays, Play{Path: tracks[i%len(tracks)].Path, At: noon.Add(-time.Duration(1300-i) * 200 * time.Second)})
	}
	return State{}.RememberAll(plays)
}

// A build beside 10,000 posts and more: by as many submitters, by sixty, and by one.
func BenchmarkBuildWithPosts(b *testing.B) {
	own := library(typical(10_000), 1)
	for _, c := range []struct{ posts, submitters int }{{0, 1}, {300, 60}, {10_000, 10_000}, {10_000, 60}, {10_000, 1}, {100_000, 1000}} {
		b.Run(fmt.Sprint(c.posts, " by ", c.submitters), func(b *testing.B) {
			songs, order := posted(c.posts*8/10, c.submitters, station.ArabicHits)
			more, rest := posted(c.posts/20, c.submitters, station.Mashups, station.Sweepers, station.SFX, station.Jingles)
			maps.Copy(order, rest)
			tracks := slices.Concat(own, songs, more)
			r := Request{Index: NewIndex(tracks), Config: DefaultConfig(), State: threeDays(tracks), Now: noon, Overlay: Overlay{Posts: order}}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				r.Seed = uint64(i)
				Build(r)
			}
		})
	}
}
