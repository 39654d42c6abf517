package production

import (
	"context"
	"math"
	"time"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// BulletinMade is a bulletin that was made.
type BulletinMade struct {
	File       string            `json:"file" doc:"Relative to the media root"`
	At         int64             `json:"at" doc:"The time it tells, epoch milliseconds"`
	DurationMS int64             `json:"durationMs"`
	LUFS       float64           `json:"lufs"`
	DBTP       float64           `json:"dbtp"`
	Segments   []BulletinSegment `json:"segments"`
	Archived   int               `json:"archived" doc:"Older bulletins that left the deck"`
	Rebuilt    bool              `json:"rebuilt" doc:"The rotation was built anew and pushed"`
	Problem    string            `json:"problem" doc:"Why it is not planned yet; empty when all is well"`
}

// BulletinSegment is a part of a bulletin.
type BulletinSegment struct {
	Kind    string `json:"kind" enum:"time,weather,headlines,return"`
	Text    string `json:"text"`
	Voice   string `json:"voice"`
	Problem string `json:"problem" doc:"Why it was left out; empty when it is there"`
}

// BulletinStatus is what is known of the bulletins.
type BulletinStatus struct {
	Latest           string            `json:"latest" doc:"File of the newest, relative to the media root; empty when there is none"`
	LatestAt         int64             `json:"latestAt" doc:"The time it tells, epoch milliseconds"`
	Headlines        []string          `json:"headlines" doc:"The next one would read these"`
	HeadlinesProblem string            `json:"headlinesProblem"`
	Sentence         string            `json:"sentence" doc:"The time as it would be told now"`
	Making           bool              `json:"making"`
	Segments         []BulletinSegment `json:"segments" doc:"Of the last that was made since the start"`
	TriedAt          int64             `json:"triedAt"`
	Error            string            `json:"error" doc:"Why the last try made none; empty when all is well"`
	EveryHours       float64           `json:"everyHours" doc:"0: none by itself"`
}

// Bulletin makes a bulletin and has it heard while the time it tells is still
// about right. An error means that there is none; what keeps one that was made off
// the air is its Problem.
func (p *Production) Bulletin(ctx context.Context, show func(jobs.Progress)) (BulletinMade, error) {
	show(jobs.Progress{Step: "bulletin", Total: 3})
	if err := media.Present(p.root, len(p.lib.Snapshot().Tracks)); err != nil {
		return BulletinMade{}, err
	}
	r, err := p.news.Make(ctx)
	if err != nil {
		p.retireStale(ctx)
		return BulletinMade{}, err
	}
	rel, _ := p.rel(r.Path)
	out := BulletinMade{
		File: rel, At: r.At.UnixMilli(), DurationMS: r.Duration.Milliseconds(),
		LUFS: thousandths(r.Mastered.Integrated), DBTP: thousandths(r.Mastered.TruePeak), Segments: segments(r.Segments),
	}
	if p.told != nil {
		p.told(out)
	}
	retired := make([]string, 0, len(r.Retired))
	for _, path := range r.Retired {
		if old, ok := p.rel(path); ok {
			retired = append(retired, old)
		}
	}
	moved, rebuilt, err := p.takeUp(ctx, []string{rel}, retired, content.ReasonOutdated,
		func(step string, _ int) {
			show(jobs.Progress{Step: step, Detail: rel, Done: map[string]int{stepScan: 1, stepRebuild: 2}[step], Total: 3})
		}, func(ctx context.Context) error { return p.planNews(ctx, rel) })
	out.Archived, out.Rebuilt = len(moved.Archived), rebuilt
	if err != nil {
		p.log.Error("bulletin made, but not planned", "file", rel, "err", err)
		out.Problem = station.Reason(err)
	}
	show(jobs.Progress{Step: stepRebuild, Detail: rel, Done: 3, Total: 3})
	return out, ctx.Err()
}

// newsApart is the least time between two bulletins by order.
const newsApart = 20 * time.Minute

// planNews has a bulletin heard while the time it tells is still about right:
// next, unless there was one just now. The planner's own slot for news may be an
// hour away.
func (p *Production) planNews(ctx context.Context, rel string) error {
	v := p.onair.View()
	for _, heard := range append([]scheduler.OnAir{v.OnAir}, v.Past...) {
		if heard.Track.Category == station.News && time.Since(heard.StartedAt) < newsApart {
			return p.onair.Rebuild(ctx)
		}
	}
	return p.onair.Queue(ctx, rel)
}

// staleAfter is how long a bulletin may be heard when no newer one can be made.
const staleAfter = 3 * time.Hour

// retireStale takes a bulletin away that tells a time long past: none is better.
func (p *Production) retireStale(ctx context.Context) {
	st := p.news.Status()
	old := max(staleAfter, 2*p.every)
	if st.Latest == "" || time.Since(st.LatestAt) < old {
		return
	}
	rel, ok := p.rel(st.Latest)
	if !ok {
		return
	}
	if _, err := p.content.Archive(ctx, []string{rel}, content.ReasonOutdated); err != nil && ctx.Err() == nil {
		p.log.Error("cannot archive an outdated bulletin, it stays on air", "file", rel, "err", err)
	}
}

// BulletinStatus tells what is known of the bulletins.
func (p *Production) BulletinStatus() BulletinStatus {
	st := p.news.Status()
	out := BulletinStatus{
		Headlines: append([]string{}, st.Headlines...), HeadlinesProblem: st.HeadlinesProblem, Sentence: st.Sentence,
		Making: st.Making, Segments: []BulletinSegment{}, EveryHours: p.every.Hours(),
	}
	if rel, ok := p.rel(st.Latest); ok {
		out.Latest, out.LatestAt = rel, st.LatestAt.UnixMilli()
	}
	if st.Last != nil {
		out.Segments = segments(st.Last.Segments)
	}
	if !st.Tried.IsZero() {
		out.TriedAt = st.Tried.UnixMilli()
	}
	if st.Err != nil {
		out.Error = st.Err.Error()
	}
	return out
}

func segments(in []bulletin.Segment) []BulletinSegment {
	out := make([]BulletinSegment, len(in))
	for i, s := range in {
		out[i] = BulletinSegment{Kind: string(s.Kind), Text: s.Text, Voice: s.Voice, Problem: s.Problem}
	}
	return out
}

// thousandths rounds to three decimals: what is finer was not measured.
func thousandths(f float64) float64 { return math.Round(f*1000) / 1000 }
