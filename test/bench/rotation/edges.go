package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/simulate"
	"github.com/athir-radio/athir/internal/station"
)

// edge is a library that asks much of the rules.
type edge struct {
	name string
	of   func(seed uint64) ([]station.Track, simulate.Names)
}

// edges returns the libraries of docs/rotation.md, *At the edges*.
func edges() []edge {
	synthetic := func(n int) func(uint64) ([]station.Track, simulate.Names) {
		return func(seed uint64) ([]station.Track, simulate.Names) { return simulate.Synthetic(n, seed) }
	}
	voice := func(part float64, of ...station.Category) func(uint64) ([]station.Track, simulate.Names) {
		return func(seed uint64) ([]station.Track, simulate.Names) {
			lib, names := simulate.Synthetic(378, seed)
			return simulate.OneVoice(lib, names, part, of...)
		}
	}
	few := func(n int) func(uint64) ([]station.Track, simulate.Names) {
		return func(seed uint64) ([]station.Track, simulate.Names) {
			lib, names := simulate.Synthetic(378, seed)
			return simulate.AtMost(lib, station.English, n), names
		}
	}
	oneDeck := func(seed uint64) ([]station.Track, simulate.Names) {
		lib, names := simulate.Synthetic(378, seed)
		lib, names = simulate.OneVoice(lib, names, 0.5)
		return simulate.OneDeck(lib, station.ArabicHits), names
	}
	long := func(seed uint64) ([]station.Track, simulate.Names) { // each airs three or four times a week
		lib, names := simulate.Synthetic(570, seed)
		for i := range lib {
			if lib[i].Category.Music() {
				lib[i].Duration = lib[i].Duration * 3 / 2
			}
		}
		return lib, names
	}
	return []edge{
		{"492 songs", synthetic(570)}, {"492 songs, half as long again", long},
		{"300 songs, a quarter by one artist", voice(0.25)},
		{"300 songs, half by one artist", voice(0.5)},
		{"300 songs of one deck, half by one artist", oneDeck},
		{"300 songs, 80 % of arabic_hits by one artist", voice(0.8, station.ArabicHits)},
		{"no English song", few(0)}, {"1 English song", few(1)}, {"3 English songs", few(3)},
		{"10 English songs", few(10)}, {"20 English songs", few(20)}, {"30 English songs", few(30)},
	}
}

const (
	edgeHead = "                                                songs    Gini 7 d      Gini 30 d     plays    broken unbreak. share err. | 02–05: not English  least rest  median"
	edgeRow  = "    %-14s %29d %7.3f %5.3f %7.3f %5.3f %4d–%-4d %7d %7d %8.2f   | %13d of %-5d %8s %8s\n"
)

// printEdges airs every library with the real planner and with the plain shuffle.
func printEdges(ctx context.Context, seeds, days int, zone *time.Location) (broken int, err error) {
	fmt.Printf("At the edges: %d seeds × %d days; Gini of all music, and the least that so many plays allow\n%s\n", seeds, days, edgeHead)
	for _, e := range edges() {
		fmt.Println("  " + e.name)
		for _, policy := range []string{simulate.Athir, shuffle} {
			sum := edgeSum{rest: []time.Duration{}}
			for seed := range seeds {
				if err := ctx.Err(); err != nil {
					return broken, err
				}
				o := simulate.Options{Policy: policy, Config: rotation.DefaultConfig(), Days: days, Zone: zone, Seed: uint64(seed) + 1} //nolint:gosec // small
				var names simulate.Names
				o.Library, names = e.of(o.Seed)
				result, err := airDays(o)
				if err != nil {
					return broken, fmt.Errorf("%s, %s, seed %d: %w", e.name, policy, o.Seed, err)
				}
				sum.add(simulate.Assess(o, result, names))
			}
			sum.print(policy)
			if policy == simulate.Athir {
				broken += sum.unbreakable
			}
		}
	}
	fmt.Println()
	return broken, nil
}

// edgeSum is the worst of all seeds, and the sum of what is counted.
type edgeSum struct {
	songs, least, most  int
	week, weekLeast     float64
	month, monthLeast   float64
	broken, unbreakable int
	share               float64
	strangers, night    int
	rest                []time.Duration
}

func (s *edgeSum) add(r simulate.Report) {
	if s.songs == 0 || r.Music.Min < s.least {
		s.least = r.Music.Min
	}
	s.songs, s.most = r.Music.Tracks, max(s.most, r.Music.Max)
	if r.Songs7.Gini > s.week {
		s.week, s.weekLeast = r.Songs7.Gini, r.Songs7.LeastGini
	}
	if r.Music.Gini > s.month {
		s.month, s.monthLeast = r.Music.Gini, r.Music.LeastGini
	}
	s.broken, s.unbreakable = s.broken+r.Verdict.Total(), s.unbreakable+r.Verdict.Unbreakable()
	s.share = max(s.share, r.Error)
	last := map[string]time.Time{}
	for _, a := range r.Result.Log {
		if !a.Track.Category.Music() {
			continue
		}
		if hard := simulate.WindowAt(r.Options.Config, a.At).Hard; hard != "" {
			s.night++
			if a.Track.Category != hard {
				s.strangers++
			}
			if was, again := last[a.Track.Path]; again {
				s.rest = append(s.rest, a.At.Sub(was))
			}
		}
		last[a.Track.Path] = a.At
	}
}

func (s *edgeSum) print(policy string) {
	slices.Sort(s.rest)
	minutes := func(p float64) string { return fmt.Sprintf("%.1f min", simulate.Percentile(s.rest, p).Minutes()) }
	fmt.Printf(edgeRow, policy, s.songs, s.week, s.weekLeast, s.month, s.monthLeast, s.least, s.most, s.broken, s.unbreakable, s.share,
		s.strangers, s.night, minutes(0), minutes(50))
}
