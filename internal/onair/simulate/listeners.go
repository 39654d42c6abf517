package simulate

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Listeners is what listeners bring to the programme during a run; the zero value is
// nothing.
type Listeners struct {
	Posts []Post
	// Order returns the paths of posts, the best first. It is required with Posts.
	Order func([]Standing) []string
	// Requests is how many songs listeners are granted a day, on average.
	Requests float64
}

// Post is what a listener sent.
type Post struct {
	Track    station.Track // with its Submitter
	Approved time.Time     // from then on it may air
	Up, Down float64       // votes by the listeners of one play
}

// Standing is a post at one moment.
type Standing struct {
	Post
	Age   time.Duration // since its approval
	Plays int
}

// Ask is a granted request.
type Ask struct {
	Path  string
	At    time.Time
	Heard time.Time // zero: not within the run
}

// audience keeps what listeners bring.
type audience struct {
	opt   Options
	rng   *rand.Rand
	plays map[string]int
	asks  []Ask
	open  []int // of asks, that have not aired
	at    time.Time
}

func newAudience(o Options) *audience {
	a := &audience{opt: o, plays: map[string]int{}, rng: rand.New(rand.NewPCG(o.Seed, 0x61736b))} //nolint:gosec // not for secrets
	a.wait(o.From)
	return a
}

// tracks are those of all posts. The overlay airs only approved ones.
func (a *audience) tracks() (out []station.Track) {
	for _, p := range a.opt.Listeners.Posts {
		out = append(out, p.Track)
	}
	return out
}

func (a *audience) next() time.Time { return a.at }

// wait draws the time of the next request.
func (a *audience) wait(now time.Time) {
	if a.opt.Listeners.Requests <= 0 {
		a.at = now.AddDate(1000, 0, 0)
		return
	}
	days := -math.Log(1-a.rng.Float64()) / a.opt.Listeners.Requests
	a.at = now.Add(time.Duration(days * float64(24*time.Hour))).Round(time.Millisecond)
}

// overlay returns what the station hands to the planner.
func (a *audience) overlay(now time.Time) rotation.Overlay {
	var o rotation.Overlay
	for _, i := range a.open {
		o.Requests = append(o.Requests, a.asks[i].Path)
	}
	var all []Standing
	category := map[string]station.Category{}
	for _, p := range a.opt.Listeners.Posts {
		if !p.Approved.After(now) {
			all = append(all, Standing{p, now.Sub(p.Approved), a.plays[p.Track.Path]})
			category[p.Track.Path] = p.Track.Category
		}
	}
	if len(all) == 0 {
		return o
	}
	o.Posts = map[station.Category][]string{}
	for _, path := range a.opt.Listeners.Order(all) {
		o.Posts[category[path]] = append(o.Posts[category[path]], path)
	}
	return o
}

// heard takes in what has begun.
func (a *audience) heard(t station.Track, at time.Time) {
	if t.Submitter != "" {
		a.plays[t.Path]++
	}
	a.open = slices.DeleteFunc(a.open, func(i int) bool {
		if a.asks[i].Path != t.Path {
			return false
		}
		a.asks[i].Heard = at
		return true
	})
}

// mostOpen bounds the requests that wait, as a station does.
const mostOpen = 20

// ask grants a request of a song that has not aired of late, and has the rotation built
// again with it.
func (a *audience) ask(s *studio) error {
	defer func() { a.wait(s.now) }()
	if len(a.open) >= mostOpen {
		return nil
	}
	for range 100 {
		t := a.opt.Library[a.rng.IntN(len(a.opt.Library))]
		starts := s.state.History.Starts(t.Path)
		fresh := len(starts) > 0 && s.now.Sub(starts[len(starts)-1]) < a.opt.Config.Rotation.MusicFresh.Duration()
		waits := slices.ContainsFunc(a.open, func(i int) bool { return a.asks[i].Path == t.Path })
		if !t.Category.Music() || fresh || waits {
			continue
		}
		a.open = append(a.open, len(a.asks))
		a.asks = append(a.asks, Ask{Path: t.Path, At: s.now})
		return s.renew("request")
	}
	return nil
}
