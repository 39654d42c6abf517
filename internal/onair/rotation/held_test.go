package rotation

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// heldStation is a request with playlists, a clock, requests and posts, after three days of air.
func heldStation(seed uint64, clocks bool) Request {
	tracks := library(typical(300), seed)
	var posts []string
	for i := range 6 {
		t := station.Track{
			Path: fmt.Sprintf("social/song/SOC_%d.mp3", i), Category: station.ArabicHits, Duration: 3 * time.Minute,
			Title: fmt.Sprint("post", i), Artist: fmt.Sprint("guest", i), Submitter: fmt.Sprint("listener", i),
		}
		tracks, posts = append(tracks, t), append(posts, t.Path)
	}
	var paths []string
	for i := range 12 {
		paths = append(paths, tracks[i*7].Path)
	}
	r := Request{
		Index: NewIndex(tracks), Config: DefaultConfig(), State: threeDays(tracks[:250]), Now: noon, Seed: seed,
		Lists: []List{
			{ID: 1, Name: "share", Paths: paths, Order: OrderSequence, Plays: PlaysShare, Share: 0.2},
			{ID: 2, Name: "songs", Paths: paths[3:9], Order: OrderShuffle, Plays: PlaysSongs, Every: 7},
			{ID: 3, Name: "hourly", Paths: paths[5:], Order: OrderSequence, Plays: PlaysHourly, Minute: 20},
		},
		Overlay: Overlay{Posts: map[station.Category][]string{station.ArabicHits: posts}, Requests: []string{tracks[101].Path, tracks[140].Path}},
	}
	if clocks {
		half := Offset(30 * 60)
		r.Config.Clocks = []HourClock{{Name: "c", Hour: []Position{
			{Category: anyMusic, Count: 3}, {Category: anyBreak}, {Category: "english"}, {Category: string(station.Ads), At: &half}, {Category: anyMusic, Count: 4}, {Category: anyBreak},
		}}}
	}
	return r
}

// Behind what is held the planner stands where it would if all that had aired.
func TestThePlannerGoesOnAsIfWhatIsHeldHadAired(t *testing.T) {
	for seed := range uint64(6) {
		for _, n := range []int{1, 2, 5, 13, 24, 50} {
			for _, clocks := range []bool{false, true} {
				r := heldStation(seed, clocks)
				was := Build(r)
				held := was.Entries[:n]
				h := newPlan(r)
				h.hold(held)
				h.turnWheel()

				starts := Expected(was.Entries, was.Starts)
				aired := r
				aired.State = State{History: r.State.History, Turns: r.State.Turns, Recent: r.State.Recent}
				for i, e := range held {
					aired.State, _ = Advance(was, aired.State, Marker{Engine: "e", Seq: uint64(i + 1), Path: e.Track.Path, Artist: e.Track.Artist, Category: e.Track.Category, At: starts[i], Submitter: e.Track.Submitter}) //nolint:gosec // few
					if e.Guest == GuestRequest {
						aired.Overlay.Requests = slices.DeleteFunc(slices.Clone(aired.Overlay.Requests), func(p string) bool { return p == e.Track.Path })
					}
				}
				last := held[n-1]
				aired.Now, aired.Cross = starts[n-1], last.Cross
				aired.Starts = starts[n-1].Add(airtime(last.Track, last.Cross))
				a := newPlan(aired)
				a.turnWheel()
				same(t, fmt.Sprintf("seed %d, %d held, clocks %v", seed, n, clocks), h, a)
			}
		}
	}
}

func same(t *testing.T, what string, h, a *plan) {
	t.Helper()
	bad := func(which string, held, aired any) {
		t.Helper()
		if fmt.Sprint(held) != fmt.Sprint(aired) {
			t.Errorf("%s: %s is %v, after it had aired %v", what, which, held, aired)
		}
	}
	bad("the time", h.time(), a.time())
	bad("the distance to the last ad", min(h.pace.sinceAd, 500), min(a.pace.sinceAd, 500))
	bad("the distance to the last news", h.pace.sinceNews, a.pace.sinceNews)
	bad("the distance to the last jingle", h.pace.sinceJingle, a.pace.sinceJingle)
	bad("the distance to the last break", min(h.pace.sinceBreak, 1), min(a.pace.sinceBreak, 1))
	bad("what just played", h.last[len(h.last)-1], a.last[len(a.last)-1])
	bad("the artist before", h.lastArtists, a.lastArtists)
	bad("artists", h.artists, a.artists)
	bad("titles", h.titles, a.titles)
	bad("albums", h.albums, a.albums)
	plays := func(p *plan) map[string]int {
		out := map[string]int{}
		for id, starts := range p.plays {
			from, _ := slices.BinarySearch(starts, noon.Add(-60*time.Hour).UnixNano()) // the history ends at another time
			if n := len(starts) - from; n > 0 {
				out[p.index.tracks[id].Path] = n
			}
		}
		return out
	}
	if !maps.Equal(plays(h), plays(a)) {
		t.Errorf("%s: the plays differ", what)
	}
	for i := range h.lists.all {
		x, y := h.lists.all[i], a.lists.all[i]
		bad("the place in "+x.Name, fmt.Sprint(x.st.Index, x.st.Path, x.st.Cycle, x.st.Done, x.st.Ahead, x.st.Due.UnixNano()), fmt.Sprint(y.st.Index, y.st.Path, y.st.Cycle, y.st.Done, y.st.Ahead, y.st.Due.UnixNano()))
		if x.Plays == PlaysSongs {
			bad("the songs since "+x.Name, x.since, y.since)
		}
	}
	bad("the songs since a request", min(h.company.sinceAsked, 99), min(a.company.sinceAsked, 99))
	bad("the songs since a guest", min(h.company.sinceGuest, 99), min(a.company.sinceGuest, 99))
	bad("the requests left", h.company.requests, a.company.requests)
	for c := range h.company.posts {
		bad("the picks since a post", min(h.company.since[c], 99), min(a.company.since[c], 99))
	}
	if (h.wheel == nil) != (a.wheel == nil) {
		t.Errorf("%s: a clock holds in one of two", what)
	} else if h.wheel != nil && !h.wheel.open() { // that one begins by chance
		bad("the step of the clock", fmt.Sprint(h.wheel.hour, h.wheel.from, h.wheel.next), fmt.Sprint(a.wheel.hour, a.wheel.from, a.wheel.next))
	}
}

// What is held goes in verbatim, whatever else the planner would do.
func TestHeldEntriesAreVerbatim(t *testing.T) {
	for seed := range uint64(8) {
		r := heldStation(seed, seed%2 == 1)
		held := Build(r).Entries[:30]
		for i := range held {
			held[i].Held = true
		}
		r.Seed += 100
		got := Build(r.with(held))
		if len(got.Entries) != r.Config.Rotation.BufferMax {
			t.Errorf("seed %d: %d entries", seed, len(got.Entries))
		}
		for i, e := range got.Entries[:30] {
			was := held[i]
			e.Relaxed, was.Relaxed, e.Round, was.Round, e.Slot, was.Slot = nil, nil, 0, 0, 0, 0
			if fmt.Sprint(e) != fmt.Sprint(was) {
				t.Errorf("seed %d, entry %d is\n%+v, was\n%+v", seed, i, e, was)
			}
			if (got.Entries[i].Slot == 0) != (held[i].Slot == 0) {
				t.Errorf("seed %d, entry %d: in break %d, was in %d", seed, i, got.Entries[i].Slot, held[i].Slot)
			}
		}
		for i, e := range got.Entries[30:] {
			if e.Held || e.Hand {
				t.Errorf("entry %d behind what is held is held", 30+i)
			}
		}
		// A rotation smaller than what is held keeps all of that.
		r.Config.Rotation.BufferMax = 10
		if got := Build(r.with(held)); len(got.Entries) != 30 {
			t.Errorf("of 30 held %d are left in a rotation of 10", len(got.Entries))
		}
	}
}

func (r Request) with(held []Entry) Request {
	r.Held = held
	return r
}

// The best of a category, played now, is one that does not come anyway.
func TestTheBestOfACategoryIsNotHeld(t *testing.T) {
	r := heldStation(1, false)
	r.HeadOf = station.English
	best := Build(r).Entries[0].Track
	r.Held = []Entry{Placed(r.Index.tracks[0]), Placed(best)}
	got := Build(r).Entries
	if got[0].Track.Path == best.Path || got[0].Track.Category != station.English || got[2].Track.Path != best.Path {
		t.Errorf("first is %s, then %s and %s; held is %s", got[0].Track.Path, got[1].Track.Path, got[2].Track.Path, best.Path)
	}
}

// What was taken out by hand rests as if it had just been heard, from playlists too, and no
// longer.
func TestRemovedTracksRest(t *testing.T) {
	r := heldStation(1, false)
	paths := r.Lists[0].Paths
	r.Lists = []List{{ID: 1, Name: "alone", Paths: paths, Order: OrderSequence, Plays: PlaysOnly}}
	first := slices.IndexFunc(Build(r).Entries, func(e Entry) bool { return e.List == 1 })
	if first < 0 {
		t.Fatal("nothing of the playlist is planned")
	}
	gone := Build(r).Entries[first].Track.Path
	for _, ago := range []time.Duration{0, time.Minute, 89 * time.Minute, 3 * time.Hour} {
		r.Removed = []Removed{{Path: gone, At: noon.Add(-ago)}}
		rot := Build(r)
		at := slices.IndexFunc(rot.Entries, func(e Entry) bool { return e.Track.Path == gone })
		starts := Expected(rot.Entries, rot.Starts)
		if early := at >= 0 && starts[at].Sub(noon) < 90*time.Minute-ago; early || at < 0 {
			t.Errorf("taken out %s ago: it comes at %d, %s: %+v", ago, at, starts[max(at, 0)].Sub(noon), rot.Entries[max(at, 0)].Why)
		}
	}
	// Without playlists, whatever it is.
	r.Lists, r.Overlay = nil, Overlay{}
	for _, kind := range []station.Category{station.ArabicHits, station.Sweepers} {
		was := Build(r).Entries
		at := slices.IndexFunc(was, func(e Entry) bool { return e.Track.Category == kind })
		again := r
		again.Removed = []Removed{{Path: was[at].Track.Path, At: noon}}
		rest := 89 * time.Minute
		if !kind.Music() {
			rest = 9 * time.Minute
		}
		rot := Build(again)
		for i, starts := range Expected(rot.Entries, rot.Starts) {
			if rot.Entries[i].Track.Path == was[at].Track.Path && starts.Sub(noon) < rest {
				t.Errorf("%s: it comes right back, at %s", kind, starts)
			}
		}
	}
	r.Removed = []Removed{{Path: gone, At: noon.Add(-100 * time.Hour)}}
	if rot := Build(r); len(rot.Removed) != 0 {
		t.Errorf("remembered: %v", rot.Removed)
	}
	r.Removed = nil
	for i := range 2 * mostRemoved {
		r.Removed = append(r.Removed, Removed{Path: fmt.Sprint(i), At: noon})
	}
	if rot := Build(r); len(rot.Removed) != mostRemoved || rot.Removed[mostRemoved-1].Path != fmt.Sprint(2*mostRemoved-1) {
		t.Errorf("%d are remembered", len(rot.Removed))
	}
}

// The place for a bulletin in what is held is filled once.
func TestHeldPlacesForNews(t *testing.T) {
	s := newScale()
	s.done(func(s *scale) { s.order[3].AfterNews = true })
	news := func(at int) bool { return Build(s.r.with(s.order[:6])).Entries[at].AfterNews }
	if !news(3) {
		t.Error("it is lost")
	}
	s.r.State.Recent = []Heard{{Path: "news/a.mp3", Category: station.News, At: noon.Add(6 * time.Minute)}}
	if news(3) {
		t.Error("a bulletin was heard, and another is made")
	}
	s.r.State.Recent = []Heard{{Path: "news/a.mp3", Category: station.News, At: noon.Add(-6 * time.Minute)}}
	if !news(3) {
		t.Error("a bulletin was heard long before, and none is made")
	}
}

// A timed event that is off its time asks for a rebuild only where that could mend it.
func TestOffTimeAsksNothingOfWhatIsHeld(t *testing.T) {
	s := newScale()
	s.done(func(s *scale) { s.order[5].Due, s.order[5].Tolerance = s.at(5), 30*time.Second })
	late := noon.Add(3 * time.Minute)
	for held, asks := range map[int]bool{0: true, 3: true, 4: false, 5: false, 6: false} {
		rot := Rotation{Entries: slices.Clone(s.order), Starts: noon}
		for i := range held {
			rot.Entries[i].Held = true
		}
		if off := OffTime(rot, 0, late); (off > 0) != asks {
			t.Errorf("%d held: off by %s", held, off)
		}
	}
}

func BenchmarkWeigh(b *testing.B) {
	tracks := library(typical(100_000), 1)
	r := Request{Index: NewIndex(tracks), Config: DefaultConfig(), State: threeDays(tracks), Now: noon}
	before := Build(r).Entries
	order := Order{From: append([]int{6, 0, 1, 2, 3, 4, 5}, count(40)[7:]...), Touched: 40, Removed: -1}
	for _, i := range order.From {
		order.Entries = append(order.Entries, before[i])
	}
	for b.Loop() {
		Weigh(r, r, before, order)
	}
}
