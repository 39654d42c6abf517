package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/simulate"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed page.gohtml
var pageText string

// findingsShown bounds what the page shows of them.
const findingsShown = 12

// page is what the template shows. All text in it may be hostile: html/template
// escapes it; geometry is numbers that we wrote.
type page struct {
	Days, Tracks, Entries, From, Zone, Made string
	Seed                                    uint64
	Tiles                                   []tile
	Policies                                []policyRow
	Plays                                   []playsRow
	Orders                                  []orderPanel
	Gaps                                    []gapPlot
	Shares                                  sharesPlot
	Heats                                   []heatMap
	Spacing                                 []spacingPlot
	Tape                                    tape24
	TapeTicks, HeatHours, HeatDays          []tick
	Hour                                    []line
	HourName                                string
	Relaxed                                 []named
	Findings                                []simulate.Finding
	More                                    int
}

type tile struct {
	Name, Value, Unit, Target, Beside string
	OK                                bool
	Plain                             bool // a figure without a target
}

type named struct {
	Name string
	N    string
}

// policyRow is one policy in the table of figures.
type policyRow struct {
	Name                                                      string
	Ours                                                      bool
	Violations, Unbreakable, Uneven, Gini, Order, Hour, Error string
	Artist                                                    string
}

// writeHTML writes one self-contained page about the first report of our
// policy, beside the baselines of the same seed. It loads nothing.
func writeHTML(w io.Writer, reports []simulate.Report, made time.Time) error {
	i := slices.IndexFunc(reports, func(r simulate.Report) bool { return r.Options.Policy == simulate.Athir })
	i = max(i, 0)
	ours := reports[i]
	var beside []simulate.Report // same seed, the log is there
	for _, r := range reports {
		if r.Options.Seed == ours.Options.Seed {
			beside = append(beside, r)
		}
	}
	slices.SortStableFunc(beside, func(a, b simulate.Report) int {
		return slices.Index(policies(), a.Options.Policy) - slices.Index(policies(), b.Options.Policy)
	})
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, pageOf(ours, beside, made))
}

func pageOf(r simulate.Report, beside []simulate.Report, made time.Time) page {
	p := page{
		Days: grouped(r.Options.Days), Tracks: grouped(len(r.Result.Started)), Entries: grouped(r.Entries),
		From: r.Result.From.Format("2 January 2006"), Zone: r.Options.Zone.String(), Made: made.UTC().Format("2 January 2006, 15:04 UTC"),
		Seed: r.Options.Seed, Tiles: tiles(r, beside),
		Plays: playsRows(r, beside), Orders: orderPanels(beside), Gaps: gapPlots(r, beside), Shares: sharesOfPage(r),
		Heats: heatMaps(r), Spacing: spacingPlots(r), Tape: tapeOf(r),
		Findings: r.Verdict.Findings[:min(len(r.Verdict.Findings), findingsShown)],
		More:     max(r.Verdict.Total()-findingsShown, 0),
	}
	p.ticks()
	for _, b := range beside {
		p.Policies = append(p.Policies, policyOf(b))
	}
	for _, rule := range rotation.Rules() {
		if n := r.Verdict.Relaxed[rule.Rule]; n > 0 {
			p.Relaxed = append(p.Relaxed, named{string(rule.Rule), grouped(n)})
		}
	}
	p.Hour, p.HourName = oneHour(r)
	return p
}

// ticks of the axes that show time.
func (p *page) ticks() {
	for m := 0; m <= 60; m += 10 {
		p.TapeTicks = append(p.TapeTicks, tick{tapeWidth * float64(m) / 60, fmt.Sprintf(":%02d", m%60)})
	}
	for h := 0; h < 24; h += 3 {
		p.HeatHours = append(p.HeatHours, tick{heatWide*float64(h) + heatWide/2, fmt.Sprintf("%02d", h)})
	}
	for d := range 7 {
		p.HeatDays = append(p.HeatDays, tick{heatHigh*float64(d) + 7, time.Weekday((d + 1) % 7).String()[:2]})
	}
}

// title of a policy, for people.
func title(policy string) string {
	switch policy {
	case simulate.Athir:
		return "Athir"
	case azuracast:
		return "AzuraCast’s rule"
	case shuffle:
		return "Uniform shuffle"
	case leastRecent:
		return "Least recently played"
	}
	return "Random"
}

func short(policy string) string {
	if policy == azuracast {
		return "AzuraCast’s rule"
	}
	return policy
}

func policyOf(r simulate.Report) policyRow {
	u, _ := r.Uneven()
	g, _ := r.Unfair()
	row := policyRow{
		Name: title(r.Options.Policy), Ours: r.Options.Policy == simulate.Athir,
		Violations: grouped(r.Verdict.Total()), Unbreakable: grouped(r.Verdict.Unbreakable()),
		Uneven: fmt.Sprintf("%.2f", u.MaxMin), Gini: fmt.Sprintf("%.3f", g.Gini), Order: "–",
		Hour: fmt.Sprintf("%.1f %%", 100*r.Hour), Error: fmt.Sprintf("%.1f", r.Error),
		Artist: fmt.Sprintf("%.0f min", simulate.Percentile(r.Gaps.Artist, 1).Minutes()),
	}
	if r.Ranked {
		row.Order = signed(r.Rank)
	}
	return row
}

func signed(f float64) string {
	return strings.Replace(fmt.Sprintf("%+.2f", round(f, 2)), "-", "−", 1)
}

// tiles are the figures against their targets, and what the baselines have.
func tiles(r simulate.Report, beside []simulate.Report) []tile {
	others := func(value func(simulate.Report) string) string {
		var out []string
		for _, b := range beside {
			if b.Options.Policy == azuracast || b.Options.Policy == shuffle {
				out = append(out, short(b.Options.Policy)+" "+value(b))
			}
		}
		return strings.Join(out, " · ")
	}
	u, _ := r.Uneven()
	g, _ := r.Unfair()
	out := []tile{
		{
			"Rules broken", grouped(r.Verdict.Total()), "of " + grouped(r.Entries) + " entries", "target 0",
			others(func(b simulate.Report) string { return grouped(b.Verdict.Total()) }), r.Verdict.Total() == 0, false,
		},
		{
			"Most played to least played", fmt.Sprintf("%.2f", u.MaxMin), "in 7 days", atMost("%.2f", simulate.TargetMaxMin, u.LeastMaxMin),
			others(func(b simulate.Report) string { u, _ := b.Uneven(); return fmt.Sprintf("%.2f", u.MaxMin) }), u.Even(), false,
		},
		{
			"Gini of plays", fmt.Sprintf("%.3f", g.Gini), "in 7 days", atMost("%.3f", simulate.TargetGini, g.LeastGini),
			others(func(b simulate.Report) string { g, _ := b.Unfair(); return fmt.Sprintf("%.3f", g.Gini) }), g.Fair(), false,
		},
	}
	if r.Ranked {
		out = append(out, tile{
			"Today like yesterday", signed(r.Rank), "rank correlation", fmt.Sprintf("target within ±%.1f", simulate.TargetCorrelation),
			others(func(b simulate.Report) string { return signed(b.Rank) }), r.Rank <= simulate.TargetCorrelation && r.Rank >= -simulate.TargetCorrelation, false,
		})
	}
	out = append(out, tile{
		"Mix off its target", fmt.Sprintf("%.1f", r.Error), "points at worst", fmt.Sprintf("target ≤ %.0f", simulate.TargetShare),
		others(func(b simulate.Report) string { return fmt.Sprintf("%.1f", b.Error) }), r.Error <= simulate.TargetShare, false,
	})
	if v := r.Verdict; v.Due > 0 {
		out = append(out, tile{
			"Timed events on time", fmt.Sprintf("%.1f", 100*float64(v.Hit)/float64(v.Due)), "%", "target ≥ 95 %",
			fmt.Sprintf("%s of %s", grouped(v.Hit), grouped(v.Due)), float64(v.Hit) >= simulate.TargetTimed*float64(v.Due), false,
		})
	} else {
		out = append(out, tile{
			"Same time as yesterday", fmt.Sprintf("%.1f", 100*r.Hour), "% of songs, ± 30 min", "",
			others(func(b simulate.Report) string { return fmt.Sprintf("%.1f %%", 100*b.Hour) }), true, true,
		})
	}
	return out
}

// atMost names the target, or what the fairest allocation has where that is more.
func atMost(format string, target, least float64) string {
	if least > target {
		return "least possible " + fmt.Sprintf(format, least)
	}
	return "target ≤ " + strings.TrimRight(fmt.Sprintf(format, target), "0")
}

// line is one entry of an hour, close up.
type line struct {
	Time, Class, Category, Title, Artist, Length, Relaxed string
	Imaging                                               bool
}

// oneHour is eight to nine of the second morning, or the first hour there is.
func oneHour(r simulate.Report) ([]line, string) {
	log := r.Result.Log
	if len(log) == 0 {
		return nil, ""
	}
	d := r.Result.From
	from := time.Date(d.Year(), d.Month(), d.Day()+1, 8, 0, 0, 0, d.Location())
	if last := log[len(log)-1].At; from.After(last.Add(-time.Hour)) {
		from = log[0].At
	}
	var out []line
	for _, a := range log {
		if a.At.Before(from) || !a.At.Before(from.Add(time.Hour)) {
			continue
		}
		rules := make([]string, len(a.Relaxed))
		for i, rule := range a.Relaxed {
			rules[i] = string(rule)
		}
		out = append(out, line{
			a.At.Format("15:04:05"), classOf(a.Track.Category), categoryTitle(a.Track.Category), visible(a.Track.Title), visible(a.Track.Artist),
			clock(a.Track.Duration), strings.Join(rules, ", "), !a.Track.Category.Music(),
		})
	}
	return out, from.Format("Monday 2 January, 15:04")
}

// visible is a tag without what moves or hides text around it.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}

func clock(d time.Duration) string {
	s := int(d.Seconds() + 0.5)
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// grouped writes a number with separators.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// classOf is the style of a category.
func classOf(c station.Category) string { return "c-" + strings.TrimSuffix(string(c), "_hits") }

// categoryTitle is a category's name for people.
func categoryTitle(c station.Category) string {
	switch c {
	case station.ArabicHits:
		return "Arabic hits"
	case station.SFX:
		return "Effects"
	}
	s := string(c)
	return strings.ToUpper(s[:1]) + s[1:]
}

func round(f float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	return math.Round(f*unit) / unit
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
