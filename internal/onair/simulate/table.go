package simulate

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Targets of the published figures.
const (
	TargetMaxMin      = 1.3
	TargetGini        = 0.05
	TargetCorrelation = 0.2
	TargetShare       = 2.0 // percentage points
	TargetTimed       = 0.95
)

// Check is one figure beside its target.
type Check struct {
	Name, Value, Target string
	OK                  bool
}

// Checks returns the figures by which a run is judged.
func (r Report) Checks() []Check {
	uneven, c := r.Uneven()
	out := []Check{
		{"violations", fmt.Sprint(r.Verdict.Total()), "0", r.Verdict.Total() == 0},
		{
			"plays, max / min in 7 days", fmt.Sprintf("%.2f (%s)", uneven.MaxMin, c),
			fmt.Sprintf("≤ %.1f, or the least possible: %.2f", TargetMaxMin, uneven.LeastMaxMin), uneven.Even(),
		},
	}
	worst, where := r.Unfair()
	out = append(out, Check{
		"plays, Gini in 7 days", fmt.Sprintf("%.3f (%s)", worst.Gini, where),
		fmt.Sprintf("≤ %.2f, or the least possible: %.3f", TargetGini, worst.LeastGini), worst.Fair(),
	})
	if r.Ranked {
		out = append(out, Check{
			"day-to-day rank correlation", fmt.Sprintf("%+.3f (worst day %+.2f)", r.Rank, r.Worst),
			fmt.Sprintf("−%.1f to +%.1f", TargetCorrelation, TargetCorrelation), r.Rank <= TargetCorrelation && r.Rank >= -TargetCorrelation,
		})
	}
	out = append(out, Check{
		"category shares, worst error", fmt.Sprintf("%.2f points", r.Error), fmt.Sprintf("≤ %.0f points", TargetShare), r.Error <= TargetShare,
	})
	if v := r.Verdict; v.Due > 0 {
		share := float64(v.Hit) / float64(v.Due)
		out = append(out, Check{
			"timed events within tolerance", fmt.Sprintf("%d of %d, %.1f %%", v.Hit, v.Due, 100*share),
			fmt.Sprintf("≥ %.0f %%", 100*TargetTimed), share >= TargetTimed,
		})
	}
	return out
}

// Even compares max/min with its target. Plays are whole numbers: if a deck had so few
// that even the fairest allocation misses the target, that allocation is the target.
func (p Plays) Even() bool { return p.MaxMin <= max(TargetMaxMin, p.LeastMaxMin)+1e-9 }

// Fair compares the Gini with its target, as Even does.
func (p Plays) Fair() bool { return p.Gini <= max(TargetGini, p.LeastGini+0.01)+1e-9 }

// Uneven returns the music category with the largest max/min in the first week, relative
// to the fairest allocation.
func (r Report) Uneven() (Plays, station.Category) {
	return r.worstOf(func(p Plays) float64 { return p.MaxMin / max(p.LeastMaxMin, 1) })
}

// Unfair returns the music category with the largest Gini in the first week, relative to
// the fairest allocation.
func (r Report) Unfair() (Plays, station.Category) {
	return r.worstOf(func(p Plays) float64 { return p.Gini - p.LeastGini })
}

func (r Report) worstOf(by func(Plays) float64) (worst Plays, where station.Category) {
	for _, c := range station.Categories() {
		if p, ok := r.Week[c]; ok && c.Music() && p.Total > 0 && (where == "" || by(p) > by(worst)) {
			worst, where = p, c
		}
	}
	return worst, where
}

// WriteTable prints one report for people.
func WriteTable(w io.Writer, r Report) error {
	var b strings.Builder
	o := r.Options
	fmt.Fprintf(&b, "%s: %d days from %s, %d tracks, seed %d: %d entries, %d rebuilds\n\n",
		o.Policy, o.Days, r.Result.From.Format(time.DateOnly), len(r.Result.Started), o.Seed, r.Entries, len(r.Result.Builds))
	tabular(&b, func(row func(...any)) {
		row("", "figure", "value", "target")
		for _, c := range r.Checks() {
			mark := "ok"
			if !c.OK {
				mark = "MISS"
			}
			row(mark, c.Name, c.Value, c.Target)
		}
		row("", "plays of all music, Gini in 7 days", fmt.Sprintf("%.3f (least possible %.3f)", r.Songs7.Gini, r.Songs7.LeastGini), "")
		row("", "same time as yesterday, ± 30 min", fmt.Sprintf("%.2f %% of songs", 100*r.Hour), "")
		if len(r.Result.Builds) > 0 {
			row("", "build, p50 / p99", fmt.Sprintf("%.2f / %.2f ms", millis(r.P50), millis(r.P99)), "")
		}
	})
	r.tablePlays(&b)
	r.tableShares(&b)
	r.tableGaps(&b)
	r.tableGuests(&b)
	r.tableRules(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func tabular(b *strings.Builder, fill func(row func(...any))) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fill(func(cells ...any) {
		text := make([]string, len(cells))
		for i, c := range cells {
			text[i] = fmt.Sprint(c)
		}
		_, _ = fmt.Fprintln(t, "  "+strings.TrimRight(strings.Join(text, "\t"), "\t"))
	})
	_ = t.Flush()
	b.WriteByte('\n')
}

func (r Report) tablePlays(b *strings.Builder) {
	tabular(b, func(row func(...any)) {
		row("category", "tracks", "plays", "min", "max", "max/min", "least", "Gini", "least")
		for _, c := range station.Categories() {
			if p, ok := r.Plays[c]; ok && c != station.News { // only the newest bulletin airs
				row(c, p.Tracks, p.Total, p.Min, p.Max, fmt.Sprintf("%.2f", p.MaxMin), fmt.Sprintf("%.2f", p.LeastMaxMin),
					fmt.Sprintf("%.3f", p.Gini), fmt.Sprintf("%.3f", p.LeastGini))
			}
		}
	})
}

func (r Report) tableShares(b *strings.Builder) {
	tabular(b, func(row func(...any)) {
		head := []any{"daypart", "songs"}
		var cats []station.Category
		for _, c := range station.Categories() {
			if _, ok := r.Plays[c]; ok && c.Music() {
				head, cats = append(head, fmt.Sprintf("%s (target) %%", c)), append(cats, c)
			}
		}
		row(head...)
		for _, s := range r.Shares {
			cells := []any{WindowName(s.Window), s.Music}
			for _, c := range cats {
				cells = append(cells, fmt.Sprintf("%.1f (%.1f)", 100*s.Actual[c], 100*s.Target[c]))
			}
			row(cells...)
		}
	})
}

func (r Report) tableGaps(b *strings.Builder) {
	minutes := func(sorted []time.Duration, p float64) string {
		return fmt.Sprintf("%.0f", Percentile(sorted, p).Minutes())
	}
	tabular(b, func(row func(...any)) {
		row("minutes between plays of", "least", "p1", "p50")
		row("an artist", minutes(r.Gaps.Artist, 0), minutes(r.Gaps.Artist, 1), minutes(r.Gaps.Artist, 50))
		row("a title", minutes(r.Gaps.Title, 0), minutes(r.Gaps.Title, 1), minutes(r.Gaps.Title, 50))
		row("a song", minutes(r.Gaps.Track, 0), minutes(r.Gaps.Track, 1), minutes(r.Gaps.Track, 50))
	})
	tabular(b, func(row func(...any)) {
		row("entries from news to news", bins(r.Gaps.News))
		row("breaks from jingle to jingle", bins(r.Gaps.Jingle))
	})
}

// bins writes a histogram as value×count.
func bins(values []int) string {
	h := Histogram(values)
	var out []string
	for _, v := range slices.Sorted(maps.Keys(h)) {
		out = append(out, fmt.Sprintf("%d×%d", v, h[v]))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, "  ")
}

// findingsShown bounds the findings in a table.
const findingsShown = 12

func (r Report) tableRules(b *strings.Builder) {
	v := r.Verdict
	relaxed := []string{}
	for _, rule := range rotation.Rules() {
		if n := v.Relaxed[rule.Rule]; n > 0 {
			relaxed = append(relaxed, fmt.Sprintf("%s %d", rule.Rule, n))
		}
	}
	if len(relaxed) == 0 {
		relaxed = []string{"none"}
	}
	broken := []string{}
	for _, f := range Faults() {
		if n := v.Violations[f]; n > 0 {
			broken = append(broken, fmt.Sprintf("%s %d", f, n))
		}
	}
	fmt.Fprintf(b, "  relaxed     %s\n", strings.Join(relaxed, ", "))
	if len(broken) == 0 {
		return
	}
	fmt.Fprintf(b, "  violations  %s\n", strings.Join(broken, ", "))
	for _, f := range v.Findings[:min(len(v.Findings), findingsShown)] {
		fmt.Fprintf(b, "    %s\n", printable(f.String()))
	}
	if left := v.Total() - findingsShown; left > 0 {
		fmt.Fprintf(b, "    … %d more\n", left)
	}
}

// printable escapes what could move a terminal's cursor.
func printable(s string) string { return escape(strings.ToValidUTF8(s, "�")) }

// WriteLines prints one line for each of several reports.
func WriteLines(w io.Writer, reports []Report) error {
	var b strings.Builder
	tabular(&b, func(row func(...any)) {
		row("policy", "seed", "tracks", "entries", "violations", "unbreakable", "relaxed", "max/min 7d", "least", "Gini 7d", "day corr.", "same hour", "share err.", "build p99")
		for _, r := range reports {
			p, _ := r.Uneven()
			g, _ := r.Unfair()
			relaxed := 0
			for _, n := range r.Verdict.Relaxed {
				relaxed += n
			}
			row(r.Options.Policy, r.Options.Seed, len(r.Result.Started), r.Entries, r.Verdict.Total(), r.Verdict.Unbreakable(), relaxed,
				fmt.Sprintf("%.2f", p.MaxMin), fmt.Sprintf("%.2f", p.LeastMaxMin), fmt.Sprintf("%.3f", g.Gini),
				fmt.Sprintf("%+.3f", r.Rank), fmt.Sprintf("%.2f %%", 100*r.Hour), fmt.Sprintf("%.2f", r.Error), fmt.Sprintf("%.2f ms", millis(r.P99)))
		}
	})
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteExplained prints why each of the first n entries was chosen, and which rules
// excluded others; n = 0 means all entries.
func WriteExplained(w io.Writer, r Report, n int) error {
	log := r.Result.Log
	if n > 0 {
		log = log[:min(n, len(log))]
	}
	var b strings.Builder
	for _, a := range log {
		name := a.Track.Title
		if a.Track.Artist != "" {
			name = a.Track.Artist + " – " + name
		}
		fmt.Fprintf(&b, "%s  %-11s %s\n", a.At.Format("Mon 02 Jan 15:04:05"), a.Track.Category, printable(name))
		if a.Why.Reason != "" {
			fmt.Fprintf(&b, "    %s; %d looked at\n", printable(a.Why.Reason), a.Why.Considered)
		}
		for _, p := range a.Why.PassedOver {
			fmt.Fprintf(&b, "    passed over by %s: %d, such as %s\n", p.Rule, p.Count, printable(p.Example))
		}
		for _, rule := range a.Relaxed {
			fmt.Fprintf(&b, "    relaxed: %s\n", rule)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
