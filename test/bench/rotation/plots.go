package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/onair/simulate"
	"github.com/athir-radio/athir/internal/station"
)

// Every plot is laid out here in the units of its viewBox; the template draws.

// playsRow is one category: the plays of each track, most first, by policy.
type playsRow struct {
	Category, Tracks string
	Panels           []playsPanel
}

type playsPanel struct {
	Policy, Area, Range string
	Ours                bool
	Even                float64 // y of the mean
}

const panelWidth, panelHeight = 200.0, 84.0

func playsRows(r simulate.Report, beside []simulate.Report) []playsRow {
	var out []playsRow
	for _, c := range station.Categories() {
		p, ok := r.Plays[c]
		if !ok || !c.Music() || p.Tracks < 2 {
			continue
		}
		top := 1
		for _, b := range beside {
			top = max(top, b.Plays[c].Max)
		}
		row := playsRow{Category: categoryTitle(c), Tracks: grouped(p.Tracks)}
		for _, b := range beside {
			q := b.Plays[c]
			y := func(n float64) float64 { return panelHeight * (1 - n/float64(top)) }
			row.Panels = append(row.Panels, playsPanel{
				Policy: title(b.Options.Policy), Ours: b.Options.Policy == simulate.Athir, Area: steps(q.Counts, y),
				Range: fmt.Sprintf("%d–%d", q.Min, q.Max), Even: round(y(float64(q.Total)/float64(max(q.Tracks, 1))), 1),
			})
		}
		out = append(out, row)
	}
	return out
}

// steps draws counts, most first, as an area of steps.
func steps(counts []int, y func(float64) float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M0 %.1f", panelHeight)
	for i, n := range counts {
		if i == 0 || counts[i-1] != n {
			x := panelWidth * float64(i) / float64(len(counts))
			fmt.Fprintf(&b, "L%.1f %.1fL%.1f %.1f", x, y(float64(counts[max(i-1, 0)])), x, y(float64(n)))
		}
	}
	if len(counts) > 0 {
		fmt.Fprintf(&b, "L%.0f %.1fL%.0f %.0fZ", panelWidth, y(float64(counts[len(counts)-1])), panelWidth, panelHeight)
	}
	return b.String()
}

// orderPanel is a scatter of yesterday's place against today's.
type orderPanel struct {
	Policy, Dots, Rho string
	Ours, Bad         bool
}

const (
	orderSide = 200.0
	mostDots  = 1500
)

func orderPanels(beside []simulate.Report) []orderPanel {
	var out []orderPanel
	for _, b := range beside {
		if !b.Ranked {
			continue
		}
		total := 0
		for _, d := range b.Days {
			total += len(d.Today)
		}
		every, i := max(total/mostDots, 1), 0
		var dots strings.Builder
		for _, d := range b.Days {
			for k := range d.Today {
				if i++; i%every == 0 {
					fmt.Fprintf(&dots, "M%.1f %.1fh0", orderSide*d.Yesterday[k], orderSide*(1-d.Today[k]))
				}
			}
		}
		out = append(out, orderPanel{
			Policy: title(b.Options.Policy), Dots: dots.String(), Rho: signed(b.Rank),
			Ours: b.Options.Policy == simulate.Athir, Bad: math.Abs(b.Rank) > simulate.TargetCorrelation,
		})
	}
	return out
}

// gapPlot is the distribution of distances, ours filled, AzuraCast's as a line.
type gapPlot struct {
	Name, Note, Area, Line, Limit string
	LimitX                        float64
	Ticks                         []tick
}

type tick struct {
	X     float64
	Label string
}

const (
	gapWidth, gapHeight = 340.0, 120.0
	gapBins             = 44
)

// gapRange of the axis, in minutes: its scale is logarithmic.
func gapRange() (lo, hi float64) { return 10, 14 * 24 * 60 }

func gapX(minutes float64) float64 {
	lo, hi := gapRange()
	return gapWidth * math.Log(min(max(minutes, lo), hi)/lo) / math.Log(hi/lo)
}

func gapPlots(r simulate.Report, beside []simulate.Report) []gapPlot {
	k := r.Options.Config.Rotation
	var other simulate.Gaps
	for _, b := range beside {
		if b.Options.Policy == azuracast {
			other = b.Gaps
		}
	}
	var out []gapPlot
	for _, g := range []struct {
		name         string
		ours, theirs []time.Duration
		limit        time.Duration
	}{
		{"the same artist", r.Gaps.Artist, other.Artist, k.ArtistGap.Duration()},
		{"the same title", r.Gaps.Title, other.Title, k.TitleGap.Duration()},
		{"the same recording", r.Gaps.Track, other.Track, k.MusicFresh.Duration()},
	} {
		ours, theirs := gapShares(g.ours), gapShares(g.theirs)
		top := max(slices.Max(ours), slices.Max(theirs), 1e-9)
		p := gapPlot{
			Name: g.name, Area: curve(ours, top, true), Line: curve(theirs, top, false),
			Note:   fmt.Sprintf("shortest %s, median %s", span(simulate.Percentile(g.ours, 0)), span(simulate.Percentile(g.ours, 50))),
			LimitX: round(gapX(g.limit.Minutes()), 1), Limit: span(g.limit),
		}
		for _, t := range []struct {
			m float64
			s string
		}{{30, "30 min"}, {120, "2 h"}, {480, "8 h"}, {1440, "1 day"}, {4 * 1440, "4 d"}} {
			p.Ticks = append(p.Ticks, tick{round(gapX(t.m), 1), t.s})
		}
		out = append(out, p)
	}
	return out
}

// span writes a distance in the largest unit that reads well.
func span(d time.Duration) string {
	switch m := d.Minutes(); {
	case m < 120:
		return fmt.Sprintf("%.0f min", m)
	case m < 48*60:
		return fmt.Sprintf("%.1f h", m/60)
	default:
		return fmt.Sprintf("%.1f days", m/60/24)
	}
}

// gapShares is the share of distances that falls into each bin.
func gapShares(sorted []time.Duration) []float64 {
	out := make([]float64, gapBins)
	for _, d := range sorted {
		i := int(gapX(d.Minutes()) / gapWidth * gapBins)
		out[min(i, gapBins-1)] += 1 / float64(len(sorted))
	}
	return out
}

func curve(shares []float64, top float64, closed bool) string {
	var b strings.Builder
	step := gapWidth / gapBins
	fmt.Fprintf(&b, "M0 %.0f", gapHeight)
	for i, s := range shares {
		y := gapHeight * (1 - 0.94*s/top)
		fmt.Fprintf(&b, "L%.1f %.1fL%.1f %.1f", step*float64(i), y, step*float64(i+1), y)
	}
	fmt.Fprintf(&b, "L%.0f %.0f", gapWidth, gapHeight)
	if closed {
		b.WriteByte('Z')
	}
	return b.String()
}

// heatMap is one category by weekday and hour.
type heatMap struct {
	Category, Class, Total string
	Cells                  []heatCell
}

type heatCell struct {
	X, Y    float64
	Opacity float64
	Tip     string
}

// heatCellSize is that of a cell in the units of the plot.
const heatWide, heatHigh = 12.0, 10.0

func heatMaps(r simulate.Report) []heatMap {
	var out []heatMap
	for _, c := range station.Categories() {
		h := r.Heat[c]
		if h == nil {
			continue
		}
		top := 0.0
		for _, day := range h {
			top = max(top, slices.Max(day[:]))
		}
		m := heatMap{Category: categoryTitle(c), Class: classOf(c), Total: grouped(r.Plays[c].Total)}
		for d, day := range h {
			for hour, n := range day {
				m.Cells = append(m.Cells, heatCell{
					X: heatWide * float64(hour), Y: heatHigh * float64(d), Opacity: round(0.06+0.94*n/max(top, 1e-9), 2),
					Tip: fmt.Sprintf("%s %02d:00 · %.1f in the mean", time.Weekday((d+1)%7), hour, n),
				})
			}
		}
		out = append(out, m)
	}
	return out
}
