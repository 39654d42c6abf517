package simulate

import (
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Plays measures how evenly the tracks of a category were played.
type Plays struct {
	Tracks int   // tracks that were there all the time and meet the quality floor
	Total  int   // plays of them
	Counts []int // plays of each, most first
	Min    int
	Max    int
	// MaxMin is Max / Min, or Max if a track was never played: then a deck is even
	// if nothing was played twice before everything was played once.
	MaxMin float64
	Gini   float64
	// LeastMaxMin and LeastGini are those of the fairest allocation of so many
	// plays to so many tracks: plays are whole numbers, so it need not be perfect.
	LeastMaxMin, LeastGini float64
}

// playsOf counts plays by category, starts in [from, to).
func playsOf(cfg rotation.Config, library []station.Track, log []Aired, from, to time.Time) map[station.Category]Plays {
	count := map[string]int{}
	for _, a := range log {
		if !a.At.Before(from) && a.At.Before(to) {
			count[a.Track.Path]++
		}
	}
	counts := map[station.Category][]int{}
	for _, t := range library {
		if airs(cfg, t) {
			counts[t.Category] = append(counts[t.Category], count[t.Path])
		}
	}
	out := map[station.Category]Plays{}
	for c, n := range counts {
		out[c] = evenness(n)
	}
	return out
}

// allMusic measures all music as one deck.
func allMusic(plays map[station.Category]Plays) Plays {
	var counts []int
	for c, p := range plays {
		if c.Music() {
			counts = append(counts, p.Counts...)
		}
	}
	if len(counts) == 0 {
		return Plays{}
	}
	return evenness(counts)
}

// airs reports whether a track meets the quality floor of its category.
func airs(cfg rotation.Config, t station.Track) bool {
	switch {
	case t.Category.Music():
		return t.Duration >= cfg.Rotation.MusicMin.Duration()
	case t.Category == station.Shorts:
		return t.Duration < time.Minute
	}
	return true
}

func evenness(counts []int) Plays {
	slices.SortFunc(counts, func(a, b int) int { return b - a })
	p := Plays{Tracks: len(counts), Counts: counts, Max: counts[0], Min: counts[len(counts)-1]}
	for _, n := range counts {
		p.Total += n
	}
	ratio := func(hi, lo int) float64 { return float64(hi) / float64(max(lo, 1)) }
	p.MaxMin, p.Gini = ratio(p.Max, p.Min), gini(counts)
	each, over := p.Total/p.Tracks, p.Total%p.Tracks
	fair := make([]int, p.Tracks)
	for i := range fair {
		fair[i] = each
		if i < over {
			fair[i]++
		}
	}
	p.LeastMaxMin, p.LeastGini = ratio(fair[0], fair[len(fair)-1]), gini(fair)
	return p
}

// gini returns the Gini coefficient of counts in descending order: 0 if all are equal,
// near 1 if one has all.
func gini(desc []int) float64 {
	n, sum, weighted := len(desc), 0.0, 0.0
	for i, x := range desc {
		sum += float64(x)
		weighted += float64(n-i) * float64(x)
	}
	if sum == 0 {
		return 0
	}
	return max(2*weighted/(float64(n)*sum)-float64(n+1)/float64(n), 0)
}

// Day is the order of one category on two days in a row.
type Day struct {
	Category station.Category
	Date     time.Time // the second day
	// Yesterday and Today are the ranks of each track that aired on both days, by
	// its first play that day, scaled to 0 to 1.
	Yesterday, Today []float64
	Correlation      float64 // Spearman's
}

// fewCommon is how many common tracks are too few to compare the order of two days.
const fewCommon = 10

// daysOf compares the order of each day with that of the day before, within
// each music category.
func daysOf(log []Aired) []Day {
	var out []Day
	for _, c := range station.Categories() {
		if !c.Music() {
			continue
		}
		var before []string
		var date time.Time
		for _, d := range orders(log, c) {
			if yesterday := d.date.AddDate(0, 0, -1); date.Equal(yesterday) {
				if day := compare(before, d.paths); len(day.Today) >= fewCommon {
					day.Category, day.Date = c, d.date
					out = append(out, day)
				}
			}
			before, date = d.paths, d.date
		}
	}
	return out
}

type order struct {
	date  time.Time // midnight
	paths []string  // by first play
}

func orders(log []Aired, c station.Category) []order {
	var out []order
	seen := map[string]bool{}
	for _, a := range log {
		if a.Track.Category != c {
			continue
		}
		y, m, d := a.At.Date()
		date := time.Date(y, m, d, 0, 0, 0, 0, a.At.Location())
		if len(out) == 0 || !out[len(out)-1].date.Equal(date) {
			out = append(out, order{date: date})
			clear(seen)
		}
		if !seen[a.Track.Path] {
			seen[a.Track.Path] = true
			out[len(out)-1].paths = append(out[len(out)-1].paths, a.Track.Path)
		}
	}
	return out
}

// compare ranks the tracks that two days have in common. Paths are distinct, so
// Spearman's coefficient is Pearson's of the ranks.
func compare(yesterday, today []string) Day {
	at := make(map[string]int, len(today))
	for i, p := range today {
		at[p] = i
	}
	var place []int // today's place of yesterday's tracks
	for _, p := range yesterday {
		if i, ok := at[p]; ok {
			place = append(place, i)
		}
	}
	n := len(place)
	if n < 2 {
		return Day{}
	}
	sorted := slices.Sorted(slices.Values(place))
	d := Day{Yesterday: make([]float64, n), Today: make([]float64, n)}
	squares := 0.0
	for i, p := range place {
		rank, _ := slices.BinarySearch(sorted, p)
		squares += float64((rank - i) * (rank - i))
		d.Yesterday[i], d.Today[i] = float64(i)/float64(n-1), float64(rank)/float64(n-1)
	}
	d.Correlation = 1 - 6*squares/float64(n*(n*n-1))
	return d
}

// manyCommon is how many common tracks make the correlation of one pair of days
// meaningful.
const manyCommon = 30

// leastCompared is how many common tracks, over all pairs of days, a mean needs.
const leastCompared = 100

// meanCorrelation weighs each pair of days by their common tracks. worst is the one
// farthest from zero, among pairs with manyCommon. ok is false if hardly a track aired on
// two days in a row: there is no order to repeat.
func meanCorrelation(days []Day) (mean, worst float64, ok bool) {
	n := 0.0
	for _, d := range days {
		k := float64(len(d.Today))
		mean, n = mean+k*d.Correlation, n+k
		if len(d.Today) >= manyCommon && math.Abs(d.Correlation) > math.Abs(worst) {
			worst = d.Correlation
		}
	}
	if n < leastCompared {
		return 0, 0, false
	}
	return mean / n, worst, true
}

// sameHour returns the share of songs, from the second day on, that started within half
// an hour of the time at which they had started the day before.
func sameHour(log []Aired) float64 {
	const near = 30 * time.Minute
	starts := map[string][]time.Time{}
	plays, repeats := 0, 0
	for _, a := range log {
		if !a.Track.Category.Music() {
			continue
		}
		yesterday := a.At.AddDate(0, 0, -1)
		if !yesterday.Before(log[0].At) {
			plays++
			if slices.ContainsFunc(starts[a.Track.Path], func(t time.Time) bool { return t.Sub(yesterday).Abs() <= near }) {
				repeats++
			}
		}
		starts[a.Track.Path] = append(starts[a.Track.Path], a.At)
	}
	return float64(repeats) / float64(max(plays, 1))
}

// Percentile returns a percentile, 0 to 100, of sorted values; 0 if there are none.
func Percentile[T any](sorted []T, p float64) (v T) {
	if len(sorted) == 0 {
		return v
	}
	return sorted[int(math.Round(p/100*float64(len(sorted)-1)))]
}

// round rounds to so many decimals, without a negative zero.
func round(f float64, decimals int) float64 {
	p := math.Pow10(decimals)
	return math.Round(f*p)/p + 0
}

// millis returns a duration in milliseconds, rounded to the microsecond.
func millis(d time.Duration) float64 { return round(float64(d)/float64(time.Millisecond), 3) }
