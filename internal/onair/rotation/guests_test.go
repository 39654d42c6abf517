package rotation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

// postOf is a listener's post.
func postOf(c station.Category, i int, submitter string) station.Track {
	t := station.Track{
		Path: fmt.Sprintf("social/%s/SOC_%d_x.mp3", c, i), Category: c, Duration: 6 * time.Second, Submitter: submitter,
		Title: fmt.Sprintf("post %s %d", c, i), Artist: fmt.Sprintf("guest %s %d", c, i),
	}
	if c.Music() {
		t.Duration = 3 * time.Minute
	}
	return t
}

// posted returns n posts of each of some categories by so many submitters, and their overlay.
func posted(n, submitters int, cats ...station.Category) ([]station.Track, map[station.Category][]string) {
	var tracks []station.Track
	order := map[station.Category][]string{}
	for _, c := range cats {
		for i := range n {
			t := postOf(c, i, fmt.Sprint("listener ", i%submitters))
			tracks, order[c] = append(tracks, t), append(order[c], t.Path)
		}
	}
	return tracks, order
}

func TestOverlayGoesToTheHeadOfItsCategory(t *testing.T) {
	own := library(typical(100), 1)
	posts, order := posted(3, 9, station.ArabicHits, station.Sweepers)
	posts[3].Submitter, posts[4].Submitter, posts[5].Submitter = "a", "b", "c"
	tracks := slices.Concat(own, posts)
	heard := posts[0]
	order[station.ArabicHits] = slices.Insert(order[station.ArabicHits], 0, "gone.mp3", own[0].Path, posts[3].Path)
	first := func(rot Rotation, c station.Category) Entry {
		i := slices.IndexFunc(rot.Entries, func(e Entry) bool { return e.Track.Category == c })
		return rot.Entries[i]
	}
	for seed := range uint64(6) {
		r := Request{
			Index: NewIndex(tracks), Config: DefaultConfig(), Now: noon, Seed: seed, Overlay: Overlay{Posts: order},
			State: State{}.Remember(heard.Path, noon.Add(-2*time.Hour)).Remember(own[1].Path, noon.Add(-time.Hour)).Remember(own[2].Path, noon.Add(-30*time.Minute)),
		}
		song, sweep := first(Build(r), station.ArabicHits), first(Build(r), station.Sweepers)
		if song.Track.Path != posts[1].Path || song.Guest != GuestPost || song.Why.Reason != "from a listener, the best of 6" {
			t.Errorf("seed %d: arabic_hits open with %s, %q, %q", seed, song.Track.Path, song.Guest, song.Why.Reason)
		}
		if sweep.Track.Path != posts[3].Path || sweep.Guest != GuestPost {
			t.Errorf("seed %d: sweepers open with %s, %q", seed, sweep.Track.Path, sweep.Guest)
		}
	}
}

// Without the overlay a library with posts gives the rotation of a library without, byte
// for byte; so does an overlay of dead paths, of no posts, or of knobs that say none.
func TestAnEmptyOverlayChangesNothing(t *testing.T) {
	own := library(typical(300), 1)
	posts, order := posted(40, 20, station.ArabicHits, station.Mashups, station.Ads, station.Jingles, station.Sweepers, station.SFX)
	want := Build(Request{Index: NewIndex(own), Config: DefaultConfig(), Now: noon, Seed: 1})
	none := DefaultConfig()
	none.Rotation.PostEvery, none.Rotation.RequestEvery = 0, 0
	for name, change := range map[string]func(*Request){
		"nobody is in the overlay": func(*Request) {},
		"nobody's path is there": func(r *Request) {
			r.Overlay = Overlay{Posts: map[station.Category][]string{station.ArabicHits: {"gone.mp3", own[0].Path}}, Requests: []string{"gone.mp3", posts[0].Path}}
		},
		"the operator wants none": func(r *Request) {
			r.Config, r.Overlay = none, Overlay{Posts: order, Requests: []string{own[3].Path}}
		},
	} {
		r := Request{Index: NewIndex(slices.Concat(own, posts)), Config: DefaultConfig(), Now: noon, Seed: 1}
		change(&r)
		if d := cmp.Diff(want, Build(r)); d != "" {
			t.Errorf("%s:\n%.1500s", name, d)
		}
	}
}

// A host is what a station does from now on, rebuilding as often as chance says.
type host struct {
	now time.Time
	rot Rotation
	st  State
	log []aired
	seq uint64
}

// airs plays n entries of a new rotation.
func (h *host) airs(r Request, n int, opened bool) {
	r.Now, r.State = h.now, h.st
	if left := h.rot.Entries[min(h.st.Consumed, len(h.rot.Entries)):]; opened && len(left) > 0 {
		r.Prepared = []station.Track{left[0].Track}
	}
	h.rot = Build(r)
	h.st = h.st.Fresh()
	for i, e := range h.rot.Entries[:min(n, len(h.rot.Entries))] {
		h.seq++
		h.st, _ = Advance(h.rot, h.st, Marker{"e", h.seq, e.Track.Path, e.Track.Artist, e.Track.Category, h.now, e.Track.Submitter})
		h.log = append(h.log, aired{Entry: e, at: h.now})
		h.now = h.now.Add(airtime(e.Track, min(e.Cross, CrossOf(h.rot.Entries[min(i+1, len(h.rot.Entries)-1)].Track.Category))))
	}
}

// However often the rotation is built again, what airs keeps the shares and the hour: the
// count is of what was heard, not of one build.
func TestGuestsKeepTheirSharesOverEveryRebuild(t *testing.T) {
	own := library(typical(200), 1)
	cats := []station.Category{station.ArabicHits, station.Mashups, station.Sweepers, station.Jingles, station.Ads, station.SFX}
	rapid.Check(t, func(t *rapid.T) {
		posts, order := posted(30, rapid.SampledFrom([]int{1, 5, 180}).Draw(t, "submitters"), cats...)
		r := Request{Index: NewIndex(slices.Concat(own, posts)), Config: DefaultConfig(), Overlay: Overlay{Posts: order}}
		k := &r.Config.Rotation
		k.PostEvery, k.RequestEvery = rapid.IntRange(3, 7).Draw(t, "posts"), rapid.IntRange(3, 7).Draw(t, "requests")
		h := host{now: noon.Add(time.Duration(rapid.IntRange(0, 23).Draw(t, "hour")) * time.Hour)}
		for range 40 {
			r.Seed = rapid.Uint64().Draw(t, "seed")
			r.Overlay.Requests = slices.DeleteFunc(r.Overlay.Requests, func(path string) bool { return path == h.st.LastTrackPlayed || rapid.Bool().Draw(t, "withdrawn") })
			for range 3 {
				r.Overlay.Requests = append(r.Overlay.Requests, own[rapid.IntRange(0, 180).Draw(t, "asked")].Path)
			}
			h.airs(r, rapid.IntRange(1, 6).Draw(t, "aired"), rapid.Bool().Draw(t, "opened ahead"))
		}
		shares(t, *k, h.log)
	})
}

// shares checks an air log against the knobs.
func shares(t interface{ Errorf(string, ...any) }, k Knobs, log []aired) {
	since, music := map[station.Category]int{}, []int{longAgo, longAgo} // since a request, since any guest
	seen, submitters := map[station.Category]bool{}, map[string]time.Time{}
	for i, a := range log {
		c := a.Track.Category
		if was, ok := submitters[a.Track.Submitter]; ok && a.Guest == GuestPost && a.at.Sub(was) < time.Hour {
			t.Errorf("entry %d: %s again after %s", i, a.Track.Submitter, a.at.Sub(was))
		}
		if a.Guest == GuestPost && (seen[c] && since[c] < k.PostEvery-1 || len(a.Relaxed) > 0) {
			t.Errorf("entry %d: a post of %s after %d picks, relaxes %v", i, c, since[c], a.Relaxed)
		}
		if bad := slices.DeleteFunc(slices.Clone(a.Relaxed), func(r Rule) bool { return r == GenreSplit || r == SameHour }); a.Guest == GuestRequest && (music[0] < k.RequestEvery-1 || len(bad) > 0) {
			t.Errorf("entry %d: a request after %d songs, relaxes %v", i, music[0], bad)
		}
		if a.Guest != "" && c.Music() && music[1] < 1 {
			t.Errorf("entry %d: a guest right after a guest", i)
		}
		since[c]++
		if a.Guest == GuestPost {
			since[c], seen[c], submitters[a.Track.Submitter] = 0, true, a.at
		}
		if c.Music() {
			music[0], music[1] = music[0]+1, music[1]+1
			if a.Guest != "" {
				music[1] = 0
			}
			if a.Guest == GuestRequest {
				music[0] = 0
			}
		}
	}
}

// Posts take every third pick where there are enough of them, and one of each submitter
// airs in a rotation.
func TestPostsTakeTheirShareAndOneOfASubmitter(t *testing.T) {
	own := library(typical(300), 1)
	for _, tc := range []struct{ every, submitters int }{{3, 500}, {5, 500}, {120, 500}, {3, 2}} {
		posts, order := posted(400, tc.submitters, station.ArabicHits)
		r := Request{Index: NewIndex(slices.Concat(own, posts)), Config: DefaultConfig(), Now: noon, Seed: 1, Overlay: Overlay{Posts: order}}
		r.Config.Rotation.PostEvery = tc.every
		picks, guests := 0, map[string]int{}
		for _, e := range Build(r).Entries {
			if e.Track.Category == station.ArabicHits {
				picks++
			}
			if e.Guest == GuestPost {
				guests[e.Track.Submitter]++
			}
		}
		if want := min((picks+tc.every-1)/tc.every, tc.submitters); len(guests) != want {
			t.Errorf("every %d, %d submitters: %d posts in %d picks, want %d", tc.every, tc.submitters, len(guests), picks, want)
		}
		for who, n := range guests {
			if n > 1 {
				t.Errorf("%s has %d posts in one rotation", who, n)
			}
		}
	}
}

// A submitter who has just been heard waits, even if that post has left the library since,
// and so does the category.
func TestAPostThatWasWithdrawnStillCounts(t *testing.T) {
	own := library(typical(100), 1)
	gone, next := postOf(station.Mashups, 1, "a"), postOf(station.Mashups, 2, "a")
	other := postOf(station.Mashups, 3, "b")
	st, _ := Advance(Rotation{}, State{}, Marker{"e", 1, gone.Path, gone.Artist, gone.Category, noon.Add(-time.Minute), gone.Submitter})
	r := Request{
		Index: NewIndex(append(own, next, other)), Config: DefaultConfig(), State: st, Now: noon, Seed: 1,
		Overlay: Overlay{Posts: map[station.Category][]string{station.Mashups: {next.Path, other.Path}}},
	}
	r.Config.MashupChance, r.Config.Rotation.BufferMax = 1, 40
	picks := 0
	for i, e := range Build(r).Entries {
		if at := Expected(Build(r).Entries, noon)[i]; e.Track.Path == next.Path && at.Sub(noon) < time.Hour-time.Minute {
			t.Errorf("the same submitter is heard again at %s", at)
		}
		if e.Track.Category == station.Mashups {
			picks++
		}
		if e.Guest == GuestPost && picks < 3 {
			t.Errorf("a post is pick %d after the last", picks)
		}
	}
	// Opened by the engine, and withdrawn before it is heard.
	r.State, r.Prepared = State{}, []station.Track{gone}
	if e := Build(r).Entries[0]; e.Guest != "" {
		t.Errorf("%s opens the rotation beside a post that may still air", e.Track.Path)
	}
}

// What a post may not do to get in: every rule holds it back, and nothing else takes its
// place in the overlay.
func TestAPostBreaksNoRule(t *testing.T) {
	own := library(typical(100), 1)
	night := time.Date(2026, 5, 4, 2, 30, 0, 0, cairo)
	for name, tc := range map[string]struct {
		change func(p *station.Track, st *State)
		at     time.Time
	}{
		"the window is of another category": {nil, night},
		"it is too short":                   {func(p *station.Track, _ *State) { p.Duration = 44 * time.Second }, noon},
		"its artist just sang":              {func(p *station.Track, st *State) { st.LastMusicArtist = p.Artist }, noon},
		"its artist sang of late": {func(p *station.Track, st *State) {
			p.Artist = own[0].Artist
			*st = st.Remember(own[0].Path, noon.Add(-20*time.Minute))
		}, noon},
		"its title aired of late": {func(p *station.Track, st *State) {
			p.Title = own[0].Title
			*st = st.Remember(own[0].Path, noon.Add(-50*time.Minute))
		}, noon},
		"it is fresh": {func(p *station.Track, st *State) { *st = st.Remember(p.Path, noon.Add(-150*time.Minute)) }, noon},
	} {
		p, st := postOf(station.ArabicHits, 1, "a"), State{}
		if tc.change != nil {
			tc.change(&p, &st)
		}
		r := Request{
			Index: NewIndex(append(slices.Clone(own), p)), Config: DefaultConfig(), State: st, Now: tc.at, Seed: 1,
			Overlay: Overlay{Posts: map[station.Category][]string{station.ArabicHits: {p.Path}}},
		}
		r.Config.Rotation.BufferMax = 1
		if e := Build(r).Entries[0]; e.Guest != "" {
			t.Errorf("%s: it airs, and relaxes %v", name, e.Relaxed)
		}
	}
}

func TestARequestEntersWhereItKeepsTheRules(t *testing.T) {
	own := library(typical(300), 1)
	asked := own[slices.IndexFunc(own, func(t station.Track) bool { return t.Category == station.English })]
	tracks := append(slices.Clone(own), station.Track{Path: "twin", Category: station.ArabicHits, Artist: asked.Artist, Duration: 4 * time.Minute})
	at := func(rot Rotation) (int, time.Time) {
		i := slices.IndexFunc(rot.Entries, func(e Entry) bool { return e.Track.Path == asked.Path && e.Guest == GuestRequest })
		if i < 0 {
			return i, time.Time{}
		}
		return i, Expected(rot.Entries, rot.Starts)[i]
	}
	for name, tc := range map[string]struct {
		st    State
		least time.Duration // until it airs
	}{
		"at once":                       {State{}, 0},
		"its artist has just sung":      {State{}.Remember("twin", noon.Add(-time.Minute)), 29 * time.Minute},
		"it aired two hours ago":        {State{}.Remember(asked.Path, noon.Add(-2*time.Hour)), time.Hour},
		"a request has just aired":      {State{Guests: Guests{Asked: noon}}, 6 * time.Minute},
		"it aired yesterday, this hour": {State{}.Remember(asked.Path, noon.Add(-24*time.Hour)), 0},
	} {
		r := Request{Index: NewIndex(tracks), Config: DefaultConfig(), State: tc.st, Now: noon, Seed: 2, Overlay: Overlay{Requests: []string{"gone", asked.Path}}}
		rot := Build(r)
		i, planned := at(rot)
		if i < 0 || planned.Sub(noon) < tc.least || planned.Sub(noon) > tc.least+25*time.Minute {
			t.Errorf("%s: planned for entry %d, %s", name, i, planned)
			continue
		}
		if e := rot.Entries[i]; e.Why.Reason != "asked for by a listener" || slices.Contains(e.Relaxed, ArtistGap) || slices.Contains(e.Relaxed, FreshWindow) {
			t.Errorf("%s: %q, relaxes %v", name, e.Why.Reason, e.Relaxed)
		}
	}
	night := Request{Index: NewIndex(tracks), Config: DefaultConfig(), Now: noon.Add(14*time.Hour + 5*time.Minute), Seed: 1, Overlay: Overlay{Requests: []string{own[0].Path}}}
	night.Config.Rotation.BufferMax = 30
	if i := slices.IndexFunc(Build(night).Entries, func(e Entry) bool { return e.Guest != "" }); i >= 0 {
		t.Errorf("an Arabic song that was asked for airs in the English window, entry %d", i)
	}
}

// A request that the engine had opened when the list was built again is not lost for hours.
func TestARequestThatWasOpenedComesAgainSoon(t *testing.T) {
	own := library(typical(300), 1)
	r := Request{Index: NewIndex(own), Config: DefaultConfig(), Now: noon, Seed: 2, Overlay: Overlay{Requests: []string{own[7].Path}}, Prepared: []station.Track{own[7]}}
	rot := Build(r)
	i := slices.IndexFunc(rot.Entries, func(e Entry) bool { return e.Guest == GuestRequest })
	if i < dropRoom || i > 12 {
		t.Errorf("it is entry %d", i)
	}
	if n := len(slices.DeleteFunc(slices.Clone(rot.Entries), func(e Entry) bool { return e.Track.Path != own[7].Path })); n != 1 {
		t.Errorf("it is planned %d times", n)
	}
	st, out := Advance(rot, State{}.Fresh(), Marker{"", 1, own[7].Path, "", own[7].Category, noon.Add(time.Minute), ""})
	if out.Kind != Unknown || !st.Guests.Asked.Equal(noon.Add(time.Minute)) {
		t.Errorf("heard after all: %s, asked at %s", out.Kind, st.Guests.Asked)
	}
}

// A clock's own categories stay; only what the mix draws gives way to a request.
func TestARequestKeepsToTheClock(t *testing.T) {
	own := library(typical(300), 1)
	cfg := DefaultConfig()
	cfg.Clocks = clocksOf(t, `[{"name": "a", "hour": [{"category": "english", "count": 4}, {"category": "sweepers"}]}]`)
	rot := Build(Request{Index: NewIndex(own), Config: cfg, Now: noon, Seed: 1, Overlay: Overlay{Requests: []string{own[0].Path}}})
	if i := slices.IndexFunc(rot.Entries, func(e Entry) bool { return e.Track.Category == station.ArabicHits }); i >= 0 {
		t.Errorf("entry %d is Arabic", i)
	}
}

// Thousands of posts that may not air, by one submitter or of one artist, hide none that may.
func TestPostsThatRestHideNoOther(t *testing.T) {
	own := library(typical(300), 1)
	for name, change := range map[string]func(*station.Track){
		"one submitter": func(p *station.Track) { p.Submitter = "a" },
		"one artist":    func(p *station.Track) { p.Artist = own[0].Artist },
		"too short":     func(p *station.Track) { p.Duration = time.Second },
	} {
		posts, order := posted(3000, 3000, station.ArabicHits)
		for i := range posts[:2999] {
			change(&posts[i])
		}
		r := Request{Index: NewIndex(slices.Concat(own, posts)), Config: DefaultConfig(), Now: noon, Seed: 1, Overlay: Overlay{Posts: order}}
		r.State = State{}.Remember(own[0].Path, noon.Add(-time.Minute))
		last := posts[2999].Path
		if !slices.ContainsFunc(Build(r).Entries, func(e Entry) bool { return e.Track.Path == last }) {
			t.Errorf("%s: the last of 3,000 is not planned", name)
		}
	}
}

// Who sends many songs is heard with a mashup, too: its place in the rotation is kept while
// the mashup comes next, but not if there is no place for mashups.
func TestASubmittersPlaceIsKeptForTheRarerPost(t *testing.T) {
	own := library(typical(300), 1)
	posts, order := posted(5, 1, station.ArabicHits, station.Mashups)
	for _, airs := range []bool{true, false} {
		r := Request{Index: NewIndex(slices.Concat(own, posts)), Config: DefaultConfig(), Now: noon, Seed: 1, Overlay: Overlay{Posts: order}}
		for i, t := range own {
			if i%3 == 0 && (airs || t.Category != station.Mashups) {
				r.State = r.State.Remember(t.Path, noon.Add(-time.Duration(5+i%40)*time.Hour))
			}
		}
		var guests []station.Category
		for _, e := range Build(r).Entries {
			if e.Guest == GuestPost {
				guests = append(guests, e.Track.Category)
			}
		}
		want := station.Mashups
		if !airs {
			want = station.ArabicHits
		}
		if !slices.Equal(guests, []station.Category{want}) {
			t.Errorf("mashups air, %t: posts of %v, want one of %s", airs, guests, want)
		}
	}
}
