package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// fifo puts posts that never aired first, the oldest of them first, then those heard least.
// The station's own order is another: the shares, the hour and the 48 hours hold for any
// that lets nobody wait for ever.
func fifo(posts []Standing) (paths []string) {
	slices.SortFunc(posts, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(a.Plays, b.Plays), a.Approved.Compare(b.Approved), strings.Compare(a.Track.Path, b.Track.Path))
	})
	for _, p := range posts {
		paths = append(paths, p.Track.Path)
	}
	return paths
}

func listeners(t *testing.T, n int, o Options) Listeners {
	t.Helper()
	from, err := time.ParseInLocation(time.DateOnly, FirstDay, zone(t))
	if err != nil {
		t.Fatal(err)
	}
	return Listeners{Posts: InventedPosts(n, o.Days, from, o.Seed), Order: fifo}
}

// A week with 300 posts: every rule holds, posts have the share that is set, and each is
// heard within 48 hours of its approval.
func TestAWeekWithPostsKeepsItsPromises(t *testing.T) {
	for seed := range uint64(3) {
		o := Options{Days: 7, Seed: seed + 1}
		o.Listeners = listeners(t, 300, o)
		r := air(t, 400, o)
		if n := r.Verdict.Total(); n > 0 {
			t.Errorf("seed %d: %d violations", seed, n)
		}
		most := 1 / float64(rotation.DefaultConfig().Rotation.PostEvery)
		due := 0
		for _, s := range r.Guests.Shares {
			if due += s.Approved48; s.Share() > most+0.01 || s.Category == station.ArabicHits && s.Share() < most-0.03 {
				t.Errorf("seed %d: %.1f %% of %s are posts", seed, 100*s.Share(), s.Category)
			}
		}
		if due < 150 {
			t.Errorf("seed %d: only %d posts had 48 hours", seed, due)
		}
		if r.Error > TargetShare {
			t.Errorf("seed %d: shares are %.2f points off", seed, r.Error)
		}
		for c, p := range r.Week {
			if c.Music() && (p.MaxMin > max(TargetMaxMin, p.LeastMaxMin)+1e-9 || p.Gini > TargetGini) {
				t.Errorf("seed %d: the station's own %s: max/min %.2f, Gini %.3f", seed, c, p.MaxMin, p.Gini)
			}
		}
		t.Logf("seed %d: plays by submitter %d, %d, %d, Gini %.3f", seed, r.Guests.Submitters.Min,
			r.Guests.Submitters.Counts[len(r.Guests.Submitters.Counts)/2], r.Guests.Submitters.Max, r.Guests.Submitters.Gini)
	}
}

// Requests have the list built again each time, and posts go on beside them.
func TestRequestsBesidePostsAreHeardSoon(t *testing.T) {
	o := Options{Days: 5, Seed: 1}
	o.Listeners = listeners(t, 200, o)
	o.Listeners.Requests = 50
	r := air(t, 400, o)
	if n := r.Verdict.Total(); n > 0 {
		t.Errorf("%d violations", n)
	}
	g := r.Guests
	if g.Asked < 200 || g.Asked-g.Played > 5 {
		t.Errorf("%d of %d requests were heard", g.Played, g.Asked)
	}
	if half, all := Percentile(g.Waits, 50), Percentile(g.Waits, 100); half > time.Hour || all > 5*time.Hour {
		t.Errorf("half of the requests waited %s, the last %s", half, all)
	}
}

// Whatever one submitter sends, listeners hear one post an hour of it at the most; the rest
// of the programme goes on.
func TestPostsOfOneSubmitterFillNoProgramme(t *testing.T) {
	o := Options{Days: 3, Seed: 1}
	o.Listeners = listeners(t, 300, o)
	for i := range o.Listeners.Posts {
		o.Listeners.Posts[i].Track.Submitter = "one"
	}
	r := air(t, 400, o)
	delete(r.Verdict.Violations, PostUnheard) // there is no room for all
	if n := r.Verdict.Total(); n > 0 {
		t.Errorf("%d violations", n)
	}
	if n := r.Guests.Submitters.Total; n < 3*4 || n > 3*24 {
		t.Errorf("%d posts in three days", n)
	}
}

// A station that nobody sends anything airs as one that cannot take anything.
func TestWithoutListenersNothingChanges(t *testing.T) {
	log := func(l Listeners) string {
		return fmt.Sprint(air(t, 120, Options{Days: 2, Seed: 4, Listeners: l}).Result.Log)
	}
	if log(Listeners{}) != log(Listeners{Order: fifo}) {
		t.Error("an empty overlay changes the days")
	}
	_, err := Run(Options{Zone: zone(t), Config: rotation.DefaultConfig(), Listeners: Listeners{Posts: []Post{{}}}})
	if err == nil || !strings.Contains(err.Error(), "order") {
		t.Errorf("posts without an order: %v", err)
	}
}

// The posts are what they are said to be.
func TestInventedPostsAreMostlySongsOfAFew(t *testing.T) {
	posts := InventedPosts(3000, 7, time.Now(), 1)
	songs, by, paths := 0, map[string]int{}, map[string]bool{}
	for _, p := range posts {
		if p.Track.Category == station.ArabicHits {
			songs++
		}
		by[p.Track.Submitter]++
		paths[p.Track.Path] = true
	}
	if math.Abs(float64(songs)/3000-0.7) > 0.03 || len(by) != PostsBy || len(paths) != 3000 {
		t.Errorf("%d songs, %d submitters, %d paths", songs, len(by), len(paths))
	}
	if by["listener 01"] < 3*by[fmt.Sprintf("listener %d", PostsBy-9)] {
		t.Errorf("nobody sends many: %v", by)
	}
}
