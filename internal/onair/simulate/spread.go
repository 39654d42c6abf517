package simulate

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Shares is the mix of one daypart.
type Shares struct {
	Window rotation.Daypart
	Music  int // entries
	Target map[station.Category]float64
	Actual map[station.Category]float64 // shares of music
	All    map[station.Category]int     // entries, with imaging
}

// sharesOf assigns each entry to a daypart by its actual start. It leaves out hours with
// a clock: there the operator chose the categories.
func sharesOf(cfg rotation.Config, library []station.Track, log []Aired) []Shares {
	var out []Shares
	parts := append(slices.Clip(windows(cfg)), rotation.Daypart{Name: "open"})
	has := tracksOf(library)
	for _, w := range parts {
		w = gateless(w, has)
		out = append(out, Shares{
			Window: w, Target: TargetsOf(cfg, w),
			Actual: map[station.Category]float64{}, All: map[station.Category]int{},
		})
	}
	for _, a := range log {
		if clockAt(cfg, a.At) != nil {
			continue
		}
		here := WindowAt(cfg, a.At)
		i := slices.IndexFunc(parts, func(w rotation.Daypart) bool {
			return w.Name == here.Name && w.Start == here.Start && w.End == here.End
		})
		out[i].All[a.Track.Category]++
		if a.Track.Category.Music() {
			out[i].Music++
			out[i].Actual[a.Track.Category]++
		}
	}
	for _, s := range out {
		for c := range s.Actual {
			s.Actual[c] /= float64(max(s.Music, 1))
		}
	}
	return slices.DeleteFunc(out, func(s Shares) bool { return len(s.All) == 0 })
}

// ShareError returns the largest distance of a category's share from its target, in
// percentage points, over all dayparts. What arabic_hits supplements counts as
// arabic_hits.
func ShareError(shares []Shares, size map[station.Category]int) float64 {
	worst := 0.0
	for _, s := range shares {
		if s.Music == 0 {
			continue
		}
		want, got := bucketed(s.Target, size, s.Window.Hard != ""), bucketed(s.Actual, size, s.Window.Hard != "")
		for _, c := range station.Categories() {
			worst = max(worst, 100*(want[c]-got[c]), 100*(got[c]-want[c]))
		}
	}
	return worst
}

// Gaps are distances between plays, sorted.
type Gaps struct {
	Artist, Title, Track []time.Duration
	News                 []int // entries
	Jingle               []int // breaks
}

func gapsOf(log []Aired, names Names) Gaps {
	var g Gaps
	kinds := []*[]time.Duration{&g.Artist, &g.Title, &g.Track}
	last := make([]map[string]time.Time, len(kinds))
	for i := range last {
		last[i] = map[string]time.Time{}
	}
	for _, a := range log {
		if !a.Track.Category.Music() {
			continue
		}
		for i, keys := range [][]string{names(a.Track), {rotation.Fold(a.Track.Title)}, {a.Track.Path}} {
			for _, key := range keys {
				if was, ok := last[i][key]; ok && key != "" {
					*kinds[i] = append(*kinds[i], a.At.Sub(was))
				}
				last[i][key] = a.At
			}
		}
	}
	for _, k := range kinds {
		slices.Sort(*k)
	}
	g.News, g.Jingle = spacing(log)
	return g
}

// spacing returns the distances from news to news in entries, and from signature jingle
// to signature jingle in breaks; news alone is not a break.
func spacing(log []Aired) (news, jingles []int) {
	lastNews, lastJingle, breaks, inBreak := -1, -1, 0, false
	for i, a := range log {
		switch c := a.Track.Category; {
		case c.Music():
			inBreak = false
		case c != station.News && !inBreak:
			breaks, inBreak = breaks+1, true
		}
		switch a.Track.Category {
		case station.News:
			if lastNews >= 0 {
				news = append(news, i-lastNews)
			}
			lastNews = i
		case station.Jingles:
			if lastJingle >= 0 {
				jingles = append(jingles, breaks-lastJingle)
			}
			lastJingle = breaks
		}
	}
	return news, jingles
}

// Heat is the mean number of entries that started in an hour, by weekday (Monday first)
// and hour.
type Heat [7][24]float64

func heatOf(r Result) map[station.Category]*Heat {
	at := func(t time.Time) (day, hour int) { return (int(t.Weekday()) + 6) % 7, t.Hour() }
	var there Heat
	for t := HourOf(r.From); t.Before(r.To); t = t.Add(time.Hour) {
		day, hour := at(t)
		there[day][hour]++
	}
	out := map[station.Category]*Heat{}
	for _, a := range r.Log {
		h := out[a.Track.Category]
		if h == nil {
			h = &Heat{}
			out[a.Track.Category] = h
		}
		day, hour := at(a.At)
		h[day][hour] += 1 / max(there[day][hour], 1)
	}
	return out
}
