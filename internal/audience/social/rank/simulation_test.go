package rank_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/rank"
)

// The station of the simulation: few listeners vote, posts come every day, and one
// place in the hour is a post's.
const (
	simDays        = 60
	postsPerDay    = 3
	placesPerDay   = 24
	cooldown       = 4     // hours until a post airs again
	votesByReading = 0.5   // mean of the votes by those who read of a post before it airs
	boughtOn       = 10    // the day on which the bad post is approved
	badQuality     = 0.1   // the share of listeners who vote it up
	burstOn        = 20    // the day of the burst, if there is one
	boughtID       = 1_000 // out of the way of the others' ids
)

// tally is what so many votes weigh.
type tally struct {
	of       int
	up, down float64
}

// post is one post of the simulation.
type post struct {
	id       int64
	approved int     // hour
	quality  float64 // the share of listeners who would vote it up
	votes    []rank.Vote
	up, down float64 // raw
	weighed  tally
	aired    []int // hours
}

func (p *post) vote(v rank.Vote) {
	p.votes = append(p.votes, v)
	if v.Delta > 0 {
		p.up++
	} else {
		p.down++
	}
}

func (p *post) tally() (up, down float64) {
	if w := &p.weighed; w.of < len(p.votes) {
		w.of = len(p.votes)
		w.up, w.down = rank.Tally(p.votes)
	}
	return p.weighed.up, p.weighed.down
}

func (p *post) age(hour int) time.Duration { return time.Duration(hour-p.approved) * time.Hour }

// formula orders posts, best first.
type formula struct {
	name  string
	order func(posts []*post, hour int) []int64
}

// byScore is the order by a score of raw votes; equal ones by approval.
func byScore(score func(up, down, hours float64) float64) func([]*post, int) []int64 {
	return func(posts []*post, hour int) []int64 {
		sorted := slices.Clone(posts)
		scores := map[int64]float64{}
		for _, p := range posts {
			scores[p.id] = score(p.up, p.down, float64(hour-p.approved))
		}
		slices.SortStableFunc(sorted, func(a, b *post) int {
			return cmp.Or(cmp.Compare(scores[b.id], scores[a.id]), cmp.Compare(a.approved, b.approved), cmp.Compare(a.id, b.id))
		})
		return ids(sorted)
	}
}

func ids(posts []*post) (out []int64) {
	for _, p := range posts {
		out = append(out, p.id)
	}
	return out
}

// ours is this package's order; votes raw, as if each had a network of its own, or weighed.
func ours(weighed bool) func([]*post, int) []int64 {
	return func(posts []*post, hour int) []int64 {
		facts := make([]rank.Facts, len(posts))
		for i, p := range posts {
			facts[i] = rank.Facts{ID: p.id, Up: p.up, Down: p.down, Plays: len(p.aired), Age: p.age(hour)}
			if weighed {
				facts[i].Up, facts[i].Down = p.tally()
			}
		}
		return rank.Order(facts)
	}
}

func netVotes(up, down, _ float64) float64 { return up - down }

// hackerNews is its published order: votes less one's own, over age to the 1.8.
func hackerNews(up, down, hours float64) float64 {
	return (up - down) / math.Pow(hours+2, 1.8)
}

// wilson is the lower bound of Wilson's score interval at 95 % (Miller, 2009).
func wilson(up, down, _ float64) float64 {
	n := up + down
	if n == 0 {
		return 0
	}
	const z = 1.96
	p := up / n
	return (p + z*z/(2*n) - z*math.Sqrt((p*(1-p)+z*z/(4*n))/n)) / (1 + z*z/n)
}

var formulas = []formula{
	{"net votes", byScore(netVotes)},
	{"Wilson lower bound", byScore(wilson)},
	{"Hacker News decay", byScore(hackerNews)},
	{"ours, votes not weighed", ours(false)},
	{"ours", ours(true)},
}

// world is what happens beside the formula.
type world struct {
	rng          *rand.Rand
	posts        []*post
	networks     int // so many voters have a network of their own by now
	votesPerPlay float64
	plays        int     // by posts other than the bought one,
	quality      float64 // and the sum of their quality
}

// honest is the vote of somebody whom the station knows, from a network of their own.
func (w *world) honest(p *post) {
	w.networks++
	v := rank.Vote{Delta: -1, Address: "a", Network: fmt.Sprint(w.networks), Known: true}
	if w.rng.Float64() < p.quality {
		v.Delta = 1
	}
	p.vote(v)
}

func (w *world) poisson(mean float64) (n int) {
	for product := w.rng.Float64(); product > math.Exp(-mean); n++ {
		product *= w.rng.Float64()
	}
	return n
}

// comes approves a post and lets its first readers vote.
func (w *world) comes(id int64, hour int, quality float64) *post {
	p := &post{id: id, approved: hour, quality: quality}
	w.posts = append(w.posts, p)
	for range w.poisson(votesByReading) {
		w.honest(p)
	}
	return p
}

// beta22 is a quality: most posts are middling.
func (w *world) beta22() float64 {
	three := []float64{w.rng.Float64(), w.rng.Float64(), w.rng.Float64()}
	slices.Sort(three)
	return three[1] // the median of three is Beta(2, 2)
}

// crowd are votes of devices that are no people: so many, at so many addresses in so many networks.
func crowd(votes, addresses, networks int, delta int8, known bool) []rank.Vote {
	out := make([]rank.Vote, votes)
	for i := range out {
		address := i % addresses
		out[i] = rank.Vote{Delta: delta, Address: fmt.Sprint(address), Network: fmt.Sprint("crowd ", address%networks), Known: known}
	}
	return out
}

// air puts the first post that has cooled down on the air, and its listeners vote.
func (w *world) air(f formula, hour int) {
	byID := map[int64]*post{}
	for _, p := range w.posts {
		byID[p.id] = p
	}
	for _, id := range f.order(w.posts, hour) {
		p := byID[id]
		if n := len(p.aired); n > 0 && hour-p.aired[n-1] < cooldown {
			continue
		}
		p.aired = append(p.aired, hour)
		w.plays++
		w.quality += p.quality
		for range w.poisson(w.votesPerPlay) {
			w.honest(p)
		}
		return
	}
}

// outcome is what the simulation says of a formula.
type outcome struct {
	never   float64       // share of posts never aired, of those at least HeardWithin old
	quality float64       // mean of what aired
	bought  int           // times the bought post aired
	latest  time.Duration // the greatest age of a post at its first airing
}

// story is what differs between two simulations of one formula.
type story struct {
	votesPerPlay float64     // mean of a Poisson count
	bought       []rank.Vote // for the bad post
	burst        int         // so many posts come at once on day 20,
	spoilt       int         // each with so many votes down of people
}

// simulate is 60 days with one formula.
func simulate(f formula, seed uint64, st story) outcome {
	w := &world{rng: rand.New(rand.NewPCG(seed, 1)), votesPerPlay: st.votesPerPlay}
	var bad *post
	for hour := range simDays * 24 {
		if hour%(24/postsPerDay) == 0 {
			w.comes(int64(len(w.posts)+1), hour, w.beta22())
		}
		if hour == boughtOn*24+1 {
			bad = w.comes(boughtID, hour, badQuality)
			for _, v := range st.bought {
				bad.vote(v)
			}
		}
		if hour == burstOn*24 {
			w.burst(hour, st)
		}
		if hour%(24/placesPerDay) == 0 {
			w.air(f, hour)
		}
	}
	return w.outcome(bad)
}

// burst brings many posts at once. Those that voters spoil are heard by nobody before.
func (w *world) burst(hour int, st story) {
	for i := range st.burst {
		p := w.comes(int64(2_000+i), hour, w.beta22())
		for _, v := range crowd(st.spoilt, max(st.spoilt, 1), max(st.spoilt, 1), -1, true) {
			p.vote(v)
		}
	}
}

func (w *world) outcome(bad *post) outcome {
	o := outcome{quality: w.quality / float64(w.plays), bought: len(bad.aired)}
	old, never := 0, 0
	for _, p := range w.posts {
		end := simDays * 24
		if len(p.aired) > 0 {
			end = p.aired[0]
		}
		if len(p.aired) > 0 || p.age(end) >= rank.HeardWithin {
			old++
			o.latest = max(o.latest, p.age(end))
			if len(p.aired) == 0 {
				never++
			}
		}
	}
	o.never = float64(never) / float64(old)
	return o
}
