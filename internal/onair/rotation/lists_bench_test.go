package rotation

import (
	"fmt"
	"testing"
)

// A build beside fifty playlists of 500 tracks, of all kinds, half of which are open; and one beside
// a playlist of 20,000 that has the music to itself.
func BenchmarkBuildWithLists(b *testing.B) {
	tracks := library(typical(10_000), 1)
	plays := []ListPlays{PlaysClock, PlaysShare, PlaysSongs, PlaysHourly, PlaysOnce, PlaysShare, PlaysSongs}
	orders := []ListOrder{OrderSequence, OrderTurns, OrderShuffle}
	var fifty []List
	for i := range 50 {
		l := List{ID: int64(i + 1), Name: fmt.Sprint(i), Plays: plays[i%len(plays)], Order: orders[i%len(orders)], Share: 0.02, Every: 10 + i, Minute: i}
		if i%2 == 0 {
			l.When = []Window{{Start: TimeOfDay(i * 20), End: TimeOfDay(i*20 + 60)}}
		}
		for j := range 500 {
			l.Paths = append(l.Paths, tracks[(i*131+j*7)%len(tracks)].Path)
		}
		fifty = append(fifty, l)
	}
	one := func(order ListOrder) []List {
		l := List{ID: 1, Name: "a", Plays: PlaysOnly, Order: order}
		for j := range 20_000 {
			l.Paths = append(l.Paths, tracks[j*3%len(tracks)].Path)
		}
		return []List{l}
	}
	for _, c := range []struct {
		name  string
		lists []List
	}{{"none", nil}, {"50 of 500", fifty}, {"only sequence", one(OrderSequence)}, {"only turns", one(OrderTurns)}, {"only shuffle", one(OrderShuffle)}} {
		b.Run(c.name, func(b *testing.B) {
			r := Request{Index: NewIndex(tracks), Config: DefaultConfig(), State: threeDays(tracks), Now: noon, Lists: c.lists}
			b.ReportAllocs()
			for i := range b.N {
				r.Seed = uint64(i)
				Build(r)
			}
		})
	}
}
