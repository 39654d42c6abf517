package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// GuestShare is how much of a category listeners' posts were.
type GuestShare struct {
	Category           station.Category
	Posts, Picks, Own  int // posts that there were; entries that were posts; all other entries
	Approved48, Unmet  int // approved 48 h before the end; of those, not heard in time
	WaitP50, WaitWorst time.Duration
}

// Share is the part of the category's entries that were posts.
func (s GuestShare) Share() float64 { return float64(s.Picks) / float64(max(s.Picks+s.Own, 1)) }

// GuestFigures measure what listeners brought.
type GuestFigures struct {
	Shares     []GuestShare
	Submitters Plays // plays of the posts of each
	Asked      int
	Played     int             // requests that aired
	Waits      []time.Duration // of those, sorted
	OfSongs    float64         // share of all songs that were requests
}

// guestsOf measures a run; nil if nobody brought anything.
func guestsOf(r Result) *GuestFigures {
	if len(r.Posts) == 0 && len(r.Asks) == 0 {
		return nil
	}
	g := &GuestFigures{Asked: len(r.Asks)}
	first, bySubmitter := map[string]time.Time{}, map[string]int{}
	at := map[station.Category]*GuestShare{}
	for _, p := range r.Posts {
		bySubmitter[p.Track.Submitter] = 0
		if at[p.Track.Category] == nil {
			at[p.Track.Category] = &GuestShare{Category: p.Track.Category}
		}
	}
	songs, asked := 0, 0
	for _, a := range r.Log {
		if a.Track.Category.Music() {
			songs++
		}
		if a.Guest == rotation.GuestRequest {
			asked++
		}
		if s := at[a.Track.Category]; s != nil && a.Track.Submitter == "" {
			s.Own++
		}
		if a.Track.Submitter == "" {
			continue
		}
		at[a.Track.Category].Picks++
		bySubmitter[a.Track.Submitter]++
		if _, ever := first[a.Track.Path]; !ever {
			first[a.Track.Path] = a.At
		}
	}
	for _, c := range station.Categories() {
		if s := at[c]; s != nil {
			s.waits(r, first)
			g.Shares = append(g.Shares, *s)
		}
	}
	if len(bySubmitter) > 0 {
		var counts []int
		for _, n := range bySubmitter {
			counts = append(counts, n)
		}
		g.Submitters = evenness(counts)
	}
	for _, ask := range r.Asks {
		if !ask.Heard.IsZero() {
			g.Waits = append(g.Waits, ask.Heard.Sub(ask.At))
		}
	}
	slices.Sort(g.Waits)
	g.Played, g.OfSongs = len(g.Waits), float64(asked)/float64(max(songs, 1))
	return g
}

// waits measures how soon the posts of a category were heard.
func (s *GuestShare) waits(r Result, first map[string]time.Time) {
	var waits []time.Duration
	for _, p := range r.Posts {
		if p.Track.Category != s.Category {
			continue
		}
		s.Posts++
		at, heard := first[p.Track.Path]
		if heard {
			waits = append(waits, at.Sub(p.Approved))
		}
		if by := p.Approved.Add(heardWithin); by.Before(r.To) {
			s.Approved48++
			if !heard || at.After(by) {
				s.Unmet++
			}
		}
	}
	slices.Sort(waits)
	s.WaitP50, s.WaitWorst = Percentile(waits, 50), Percentile(waits, 100)
}

// own is a log without listeners' posts, to measure how even the station's own deck airs.
func own(log []Aired) []Aired {
	if !slices.ContainsFunc(log, func(a Aired) bool { return a.Track.Submitter != "" }) {
		return log
	}
	return slices.DeleteFunc(slices.Clone(log), func(a Aired) bool { return a.Track.Submitter != "" })
}

func (r Report) tableGuests(b *strings.Builder) {
	g := r.Guests
	if g == nil {
		return
	}
	hours := func(d time.Duration) string { return fmt.Sprintf("%.1f h", d.Hours()) }
	if len(g.Shares) > 0 {
		tabular(b, func(row func(...any)) {
			row("listeners' posts", "posts", "entries", "of all", "most", "heard in 48 h", "wait, p50", "worst")
			for _, s := range g.Shares {
				most := 0.0
				if every := r.Options.Config.Rotation.PostEvery; every > 0 {
					most = 100 / float64(every)
				}
				row(s.Category, s.Posts, s.Picks, fmt.Sprintf("%.1f %%", 100*s.Share()), fmt.Sprintf("%.1f %%", most),
					fmt.Sprintf("%d of %d", s.Approved48-s.Unmet, s.Approved48), hours(s.WaitP50), hours(s.WaitWorst))
			}
		})
		tabular(b, func(row func(...any)) {
			row("plays by submitter", "submitters", "min", "median", "max", "Gini")
			p := g.Submitters
			row("", p.Tracks, p.Min, p.Counts[len(p.Counts)/2], p.Max, fmt.Sprintf("%.3f", p.Gini))
		})
	}
	if g.Asked > 0 {
		tabular(b, func(row func(...any)) {
			row("requests", "granted", "aired", "of all songs", "wait, p50", "p95", "worst")
			minutes := func(p float64) string { return fmt.Sprintf("%.0f min", Percentile(g.Waits, p).Minutes()) }
			row("", g.Asked, g.Played, fmt.Sprintf("%.1f %%", 100*g.OfSongs), minutes(50), minutes(95), minutes(100))
		})
	}
}

// guestFigures is the part of the JSON object; null if nobody brought anything.
func (r Report) guestFigures() any {
	g := r.Guests
	if g == nil {
		return nil
	}
	shares := ordered{}
	for _, s := range g.Shares {
		shares = append(shares, member{string(s.Category), ordered{
			{"posts", s.Posts}, {"entries", s.Picks}, {"share", round(s.Share(), 4)}, {"due_in_48_h", s.Approved48}, {"late", s.Unmet},
			{"wait_hours_p50", round(s.WaitP50.Hours(), 2)}, {"wait_hours_worst", round(s.WaitWorst.Hours(), 2)},
		}})
	}
	p := g.Submitters
	return ordered{
		{"posts", shares},
		{"submitters", ordered{{"submitters", p.Tracks}, {"min", p.Min}, {"median", Percentile(p.Counts, 50)}, {"max", p.Max}, {"gini", round(p.Gini, 4)}}},
		{"requests", ordered{
			{"granted", g.Asked}, {"aired", g.Played}, {"share", round(g.OfSongs, 4)},
			{"wait_minutes", ordered{{"p50", round(Percentile(g.Waits, 50).Minutes(), 2)}, {"p95", round(Percentile(g.Waits, 95).Minutes(), 2)}, {"worst", round(Percentile(g.Waits, 100).Minutes(), 2)}}},
		}},
	}
}
