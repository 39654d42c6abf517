package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/onair/simulate"
)

const (
	head   = "                 entries   broken  unbreak. relaxed    max/min 7d     Gini 7d     day correlation  same hour  share err.    timed    build ms\n                                            ‰        worst  least   worst       mean  worst seed      mean       worst              p50     p99"
	format = "  %-13s %9d %8d %8d %8.2f %8.2f %6.2f %8.3f %10s %9s %9.2f %% %9.2f  %8s %7.2f %7.2f"
)

// row is one policy on one size of library, over all seeds.
type row struct {
	name string
	opt  simulate.Options
	// first is the report of the first seed, written by its run alone.
	first simulate.Report

	mu                           sync.Mutex
	entries, broken, unbreakable int
	relaxed                      int
	uneven, least, gini          float64 // of the worst seed
	rank, rankWorst              float64 // sum, and the seed farthest from zero
	ranked, seeds                int
	hour, share                  float64 // sum; worst
	due, hit                     int
	builds                       []time.Duration
}

// add takes the report of one seed in.
func (r *row) add(rep simulate.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seeds++
	r.entries += rep.Entries
	r.broken += rep.Verdict.Total()
	r.unbreakable += rep.Verdict.Unbreakable()
	for _, n := range rep.Verdict.Relaxed {
		r.relaxed += n
	}
	p, _ := rep.Uneven()
	if cmp.Or(cmp.Compare(p.MaxMin/max(p.LeastMaxMin, 1), r.uneven/max(r.least, 1)), cmp.Compare(p.MaxMin, r.uneven)) > 0 {
		r.uneven, r.least = p.MaxMin, p.LeastMaxMin
	}
	worst, _ := rep.Unfair()
	r.gini = max(r.gini, worst.Gini)
	if rep.Ranked {
		r.ranked++
		r.rank += rep.Rank
		if math.Abs(rep.Rank) > math.Abs(r.rankWorst) {
			r.rankWorst = rep.Rank
		}
	}
	r.hour += rep.Hour
	r.share = max(r.share, rep.Error)
	r.due, r.hit = r.due+rep.Verdict.Due, r.hit+rep.Verdict.Hit
	r.builds = append(r.builds, rep.Result.Builds...)
}

// String is the line of the table.
func (r *row) String() string {
	slices.Sort(r.builds)
	build := func(p float64) float64 {
		if len(r.builds) == 0 {
			return 0
		}
		return float64(r.builds[int(p*float64(len(r.builds)-1))]) / float64(time.Millisecond)
	}
	timed := "–"
	if r.due > 0 {
		timed = fmt.Sprintf("%.1f %%", 100*float64(r.hit)/float64(r.due))
	}
	rank, worst := "–", "–" // where hardly a track airs on two days in a row
	if r.ranked > 0 {
		rank, worst = fmt.Sprintf("%+.3f", r.rank/float64(r.ranked)), fmt.Sprintf("%+.3f", r.rankWorst)
	}
	return fmt.Sprintf(format, r.name, r.entries, r.broken, r.unbreakable, 1000*float64(r.relaxed)/float64(max(r.entries, 1)), r.uneven, r.least, r.gini,
		rank, worst, 100*r.hour/float64(max(r.seeds, 1)), r.share, timed, build(0.5), build(0.99))
}
