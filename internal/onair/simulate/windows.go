package simulate

import (
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// This file states the dayparts and their targets a second time, from the
// documentation: the judge must not believe the planner.

// windows returns the dayparts of a configuration, in its order.
func windows(cfg rotation.Config) []rotation.Daypart {
	if cfg.Dayparts != nil {
		return cfg.Dayparts
	}
	part := func(name string, from, to rotation.TimeOfDay, arabic, english, mashups float64) rotation.Daypart {
		return rotation.Daypart{Name: name, Start: from * 60, End: to * 60, Weights: map[station.Category]float64{
			station.ArabicHits: arabic, station.English: english, station.Mashups: mashups,
		}}
	}
	return []rotation.Daypart{
		{Name: "overnight", Start: 2 * 60, End: 5 * 60, Hard: station.English},
		part("morning", 5, 11, 1.2, 0.5, 0.6),
		part("midday", 11, 16, 1.1, 0.65, 1),
		part("evening", 16, 23, 1.15, 0.6, 1.25),
		part("late", 23, 2, 0.95, 0.9, 1.5),
	}
}

// WindowAt returns the first daypart that covers a time, or one named open.
func WindowAt(cfg rotation.Config, at time.Time) rotation.Daypart {
	minute := rotation.TimeOfDay(at.Hour()*60 + at.Minute())
	for _, w := range windows(cfg) {
		inside := w.Start <= minute && minute < w.End
		if w.Start >= w.End {
			inside = minute >= w.Start || minute < w.End
		}
		if inside {
			return w
		}
	}
	return rotation.Daypart{Name: "open"}
}

// WindowName returns a daypart's name in tables.
func WindowName(w rotation.Daypart) string {
	if w.Name != "" {
		return w.Name
	}
	return w.Start.String() + "–" + w.End.String()
}

// TargetsOf returns a daypart's target shares of music; they sum to one.
func TargetsOf(cfg rotation.Config, w rotation.Daypart) map[station.Category]float64 {
	if w.Hard != "" {
		return map[station.Category]float64{w.Hard: 1}
	}
	split := cfg.GenreSplit
	if len(split) == 0 {
		split = map[station.Category]float64{station.ArabicHits: 0.65, station.English: 0.30, station.Social: 0.05}
	}
	total := 0.0
	for _, v := range split {
		total += v
	}
	out, sum := map[station.Category]float64{station.Mashups: cfg.MashupChance}, 0.0
	for c, v := range split {
		out[c] = v / total * (1 - cfg.MashupChance)
	}
	for c := range out {
		if times, ok := w.Weights[c]; ok {
			out[c] *= times
		}
		sum += out[c]
	}
	for c := range out {
		if sum > 0 {
			out[c] /= sum
		}
	}
	return out
}

// gateless returns a window without its gate and weights if the library has nothing of the
// category that alone should air: then the mix goes on.
func gateless(w rotation.Daypart, has map[station.Category]int) rotation.Daypart {
	if w.Hard != "" && has[w.Hard] == 0 {
		w.Hard, w.Weights = "", nil
	}
	return w
}

// tracksOf returns how many tracks of each category a library has, of any length.
func tracksOf(library []station.Track) map[station.Category]int {
	n := map[station.Category]int{}
	for _, t := range library {
		n[t.Category]++
	}
	return n
}

// fewTracks is the specification's limit: a category with fewer tracks is supplemented
// from arabic_hits.
const fewTracks = 15

// bucketed adds the shares of the categories that arabic_hits supplements to its own.
func bucketed(shares map[station.Category]float64, size map[station.Category]int, hard bool) map[station.Category]float64 {
	out := map[station.Category]float64{}
	for c, v := range shares {
		if !hard && size[c] < fewTracks && size[station.ArabicHits] > 0 {
			c = station.ArabicHits
		}
		out[c] += v
	}
	return out
}
