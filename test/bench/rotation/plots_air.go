package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/simulate"
	"github.com/athir-radio/athir/internal/station"
)

// sharesPlot is the mix of each daypart beside its target.
type sharesPlot struct {
	Legend []legend
	Rows   []sharesRow
}

type legend struct{ Class, Name string }

type sharesRow struct {
	Name, Hours, Songs, Off string
	OK                      bool
	Actual, Target          []stretch
}

// stretch is a piece of a bar, in percent of its length.
type stretch struct {
	X, W       float64
	Class, Tip string
	Label      string // where there is room
}

func sharesOfPage(r simulate.Report) sharesPlot {
	p := sharesPlot{}
	for _, c := range station.Categories() {
		if _, ok := r.Plays[c]; ok && c.Music() {
			p.Legend = append(p.Legend, legend{classOf(c), categoryTitle(c)})
		}
	}
	size := map[station.Category]int{}
	for c, n := range r.Plays {
		size[c] = n.Tracks
	}
	for _, s := range r.Shares {
		if s.Music == 0 {
			continue
		}
		worst := simulate.ShareError([]simulate.Shares{s}, size)
		row := sharesRow{
			Name: simulate.WindowName(s.Window), Songs: grouped(s.Music), Off: fmt.Sprintf("%.1f", worst), OK: worst <= simulate.TargetShare,
			Actual: stretches(s.Actual), Target: stretches(s.Target),
		}
		if s.Window.Start != s.Window.End {
			row.Hours = s.Window.Start.String() + "–" + s.Window.End.String()
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

func stretches(shares map[station.Category]float64) []stretch {
	var out []stretch
	x := 0.0
	for _, c := range station.Categories() {
		v := 100 * shares[c]
		if v <= 0 {
			continue
		}
		s := stretch{X: round(x, 2), W: round(v, 2), Class: classOf(c), Tip: fmt.Sprintf("%s %.1f %%", categoryTitle(c), v)}
		if v >= 8 {
			s.Label = fmt.Sprintf("%.0f", v)
		}
		out = append(out, s)
		x += v
	}
	return out
}

// spacingPlot is a simulate.Histogram of whole numbers with the range that is allowed.
type spacingPlot struct {
	Name, Unit   string
	Bars         []spacingBar
	BandX, BandW float64
	Band         string
	Clocked      bool
}

type spacingBar struct {
	X, Y, W, H, Mid float64
	Label, N        string
	Out             bool
}

const spacingWidth, spacingHeight = 340.0, 110.0

func spacingPlots(r simulate.Report) []spacingPlot {
	k := r.Options.Config.Rotation
	return []spacingPlot{
		spacingOf("News", "entries from bulletin to bulletin", r.Gaps.News, simulate.NewsLeast, simulate.NewsMost, len(r.Options.Config.Clocks) > 0),
		spacingOf("Signature jingle", "breaks from jingle to jingle", r.Gaps.Jingle, k.SigJingleMinSlots, k.SigJingleMaxSlots, len(r.Options.Config.Clocks) > 0),
	}
}

func spacingOf(name, unit string, values []int, least, most int, clocked bool) spacingPlot {
	h := simulate.Histogram(values)
	lo, hi := least-2, most+2
	if keys := slices.Sorted(maps.Keys(h)); len(keys) > 0 {
		lo, hi = min(lo, keys[0]), max(hi, keys[len(keys)-1])
	}
	lo = max(lo, 0)
	top := 1
	for _, n := range h {
		top = max(top, n)
	}
	step := spacingWidth / float64(hi-lo+1)
	p := spacingPlot{
		Name: name, Unit: unit, Band: fmt.Sprintf("%d to %d", least, most), Clocked: clocked,
		BandX: round(step*float64(least-lo), 1), BandW: round(step*float64(most-least+1), 1),
	}
	for v := lo; v <= hi; v++ {
		height := spacingHeight * 0.86 * float64(h[v]) / float64(top)
		bar := spacingBar{
			X: round(step*float64(v-lo)+step*0.12, 1), W: round(step*0.76, 1), Y: round(spacingHeight-height, 1), H: round(height, 1),
			Mid: round(step*(float64(v-lo)+0.5), 1), Out: !clocked && (v < least || v > most),
		}
		if h[v] > 0 {
			bar.N = grouped(h[v])
		}
		if hi-lo < 16 || v%int(math.Ceil(float64(hi-lo)/12)) == 0 {
			bar.Label = fmt.Sprint(v)
		}
		p.Bars = append(p.Bars, bar)
	}
	return p
}

// tape24 is one day on air: an hour a row.
type tape24 struct {
	Name  string
	Hours []tapeHour
}

type tapeHour struct {
	Label  string
	Y      float64
	Pieces []tapePiece
}

type tapePiece struct {
	X, W       float64
	Class, Tip string
}

const (
	tapeWidth = 1080.0 // of an hour
	tapeRow   = 19.0
)

// tapeOf is the second day on air, or the first where there is one only.
func tapeOf(r simulate.Report) tape24 {
	d := r.Result.From
	day := time.Date(d.Year(), d.Month(), d.Day(), 0, 0, 0, 0, d.Location())
	if r.Options.Days > 1 {
		day = day.AddDate(0, 0, 1)
	}
	t := tape24{Name: day.Format("Monday 2 January 2006")}
	rows := map[int]*tapeHour{}
	for hour := range 24 {
		t.Hours = append(t.Hours, tapeHour{Label: fmt.Sprintf("%02d", hour), Y: tapeRow * float64(hour)})
	}
	for i := range t.Hours {
		rows[i] = &t.Hours[i]
	}
	next := day.AddDate(0, 0, 1)
	log := r.Result.Log
	for i, a := range log {
		end := a.At.Add(a.Track.Duration)
		if i+1 < len(log) && log[i+1].At.Before(end) {
			end = log[i+1].At
		}
		for from := later(a.At, day); from.Before(earlier(end, next)); {
			hour := simulate.HourOf(from)
			to := earlier(end, hour.Add(time.Hour))
			row := rows[from.Hour()]
			row.Pieces = append(row.Pieces, tapePiece{
				X: round(tapeWidth*from.Sub(hour).Hours(), 1), W: round(max(tapeWidth*to.Sub(from).Hours()-0.8, 0.6), 1),
				Class: classOf(a.Track.Category), Tip: a.At.Format("15:04:05") + "  " + visible(a.Track.Title+"  "+a.Track.Artist),
			})
			from = to
		}
	}
	return t
}
