package simulate

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Report is one run, judged and measured.
type Report struct {
	Options Options
	Result  Result
	Entries int
	Verdict Verdict
	Plays   map[station.Category]Plays // over the whole run
	Week    map[station.Category]Plays // over its first seven days
	Music   Plays                      // of all music together, over the whole run
	Songs7  Plays                      // of all music together, over its first seven days
	Days    []Day
	Rank    float64 // mean day-to-day rank correlation
	Worst   float64 // the correlation farthest from zero
	Ranked  bool    // whether any two days can be compared
	Hour    float64 // share of songs within half an hour of yesterday's time
	Shares  []Shares
	Error   float64 // largest error of a share, percentage points
	Gaps    Gaps
	Heat    map[station.Category]*Heat
	Guests  *GuestFigures // nil if listeners brought nothing
	P50     time.Duration // of a build
	P99     time.Duration
}

// Assess judges and measures a run. names may be nil: see Judge.
func Assess(o Options, r Result, names Names) Report {
	if names == nil {
		names = tagged()
	}
	o.Policy = cmp.Or(o.Policy, Athir)
	rep := Report{
		Options: o, Result: r, Entries: len(r.Log), Verdict: Judge(r, o.Config, names),
		Plays: playsOf(o.Config, r.Started, r.Log, r.From, r.To),
		Week:  playsOf(o.Config, r.Started, r.Log, r.From, minTime(r.To, r.From.AddDate(0, 0, 7))),
		Days:  daysOf(own(r.Log)), Hour: sameHour(own(r.Log)), Shares: sharesOf(o.Config, r.Started, r.Log),
		Gaps: gapsOf(r.Log, names), Heat: heatOf(r), Guests: guestsOf(r),
	}
	rep.Music, rep.Songs7 = allMusic(rep.Plays), allMusic(rep.Week)
	rep.Rank, rep.Worst, rep.Ranked = meanCorrelation(rep.Days)
	size := map[station.Category]int{}
	for c, p := range rep.Plays {
		size[c] = p.Tracks
	}
	rep.Error = ShareError(rep.Shares, size)
	builds := slices.Sorted(slices.Values(r.Builds))
	rep.P50, rep.P99 = Percentile(builds, 50), Percentile(builds, 99)
	return rep
}

// ordered is a JSON object whose keys keep their order.
type ordered []member

type member struct {
	Key   string
	Value any
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

// MarshalJSON writes the object for scripts; its first eleven keys are stable.
func (r Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(ordered{
		{"days", r.Options.Days},
		{"seed", r.Options.Seed},
		{"policy", r.Options.Policy},
		{"tracks", len(r.Result.Started)},
		{"entries", r.Entries},
		{"violations", r.violations()},
		{"relaxed", r.relaxed()},
		{"plays", r.evenness(r.Plays)},
		{"day_rank_correlation", round(r.Rank, 4)},
		{"same_hour_repeat_rate", round(r.Hour, 4)},
		{"genre_share_error_points", round(r.Error, 3)},
		{"build_ms", ordered{{"p50", millis(r.P50)}, {"p99", millis(r.P99)}}},
		{"unbreakable_violations", r.Verdict.Unbreakable()},
		{"day_rank_correlation_worst", round(r.Worst, 4)},
		{"days_compared", r.Ranked}, // if false, the two above are 0
		{"plays_7_days", r.evenness(r.Week)},
		{"music_gini", round(r.Music.Gini, 4)},
		{"music_gini_7_days", round(r.Songs7.Gini, 4)},
		{"artist_gap_minutes", gapFigures(r.Gaps.Artist)},
		{"title_gap_minutes", gapFigures(r.Gaps.Title)},
		{"track_gap_minutes", gapFigures(r.Gaps.Track)},
		{"news_spacing", Histogram(r.Gaps.News)},
		{"jingle_spacing", Histogram(r.Gaps.Jingle)},
		{"timed_events", ordered{{"due", r.Verdict.Due}, {"hit", r.Verdict.Hit}}},
		{"shares", r.shares()},
		{"rebuilds", r.Result.Rebuilds},
		{"listeners", r.guestFigures()},
	})
}

func (r Report) violations() ordered {
	out := ordered{{"total", r.Verdict.Total()}}
	for _, f := range Faults() {
		out = append(out, member{string(f), r.Verdict.Violations[f]})
	}
	return out
}

func (r Report) relaxed() ordered {
	var out ordered
	for _, rule := range rotation.Rules() {
		out = append(out, member{string(rule.Rule), r.Verdict.Relaxed[rule.Rule]})
	}
	return out
}

func (r Report) evenness(plays map[station.Category]Plays) ordered {
	out := ordered{}
	for _, c := range station.Categories() {
		if p, ok := plays[c]; ok && c != station.News { // only the newest bulletin airs, so news is not even
			out = append(out, member{string(c), ordered{
				{"max_min", round(p.MaxMin, 4)}, {"gini", round(p.Gini, 4)}, {"tracks", p.Tracks},
				{"min", p.Min}, {"max", p.Max}, {"least_max_min", round(p.LeastMaxMin, 4)}, {"least_gini", round(p.LeastGini, 4)},
			}})
		}
	}
	return out
}

func (r Report) shares() ordered {
	out := ordered{}
	for _, s := range r.Shares {
		part := ordered{}
		for _, c := range station.Categories() {
			if c.Music() {
				part = append(part, member{string(c), ordered{{"target", round(s.Target[c], 4)}, {"actual", round(s.Actual[c], 4)}}})
			}
		}
		out = append(out, member{WindowName(s.Window), part})
	}
	return out
}

func gapFigures(sorted []time.Duration) ordered {
	at := func(p float64) float64 { return round(Percentile(sorted, p).Minutes(), 2) }
	return ordered{{"min", at(0)}, {"p1", at(1)}, {"p50", at(50)}}
}

// Histogram counts how often each value occurs.
func Histogram(values []int) map[int]int {
	out := map[int]int{}
	for _, v := range values {
		out[v]++
	}
	return out
}
