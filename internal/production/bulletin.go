package production

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/station"
)

// BulletinMade is a bulletin that was made.
type BulletinMade struct {
	File       string            `json:"file" doc:"Relative to the media root"`
	At         int64             `json:"at" doc:"The time it tells, at which it should be heard, epoch milliseconds"`
	DurationMS int64             `json:"durationMs"`
	LUFS       float64           `json:"lufs"`
	DBTP       float64           `json:"dbtp"`
	Segments   []BulletinSegment `json:"segments"`
	Archived   int               `json:"archived" doc:"Older bulletins that left the deck"`
	Rebuilt    bool              `json:"rebuilt" doc:"The rotation was built anew and pushed; false also while it waits for the time that it tells"`
	Problem    string            `json:"problem" doc:"Why it is not planned yet; empty when all is well"`
}

// BulletinSegment is a part of a bulletin.
type BulletinSegment struct {
	Kind    string `json:"kind" enum:"time,date,weather,headlines,programme,return"`
	Text    string `json:"text"`
	Voice   string `json:"voice"`
	Problem string `json:"problem" doc:"Why it was left out; empty when it is there"`
	// At is where it begins, where it is there.
	At time.Duration `json:"-"`
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

// Bulletin makes a bulletin and has it heard soon, telling the time at which it is
// heard. An error means that none was made; Problem says why one that was made is not
// planned.
func (p *Production) Bulletin(ctx context.Context, show func(jobs.Progress)) (BulletinMade, error) {
	return p.bulletinAt(ctx, time.Time{}, show)
}

// bulletinAt makes a bulletin that tells a time; zero means when it can be heard next.
func (p *Production) bulletinAt(ctx context.Context, at time.Time, show func(jobs.Progress)) (BulletinMade, error) {
	show(jobs.Progress{Step: "bulletin", Total: 3})
	if err := media.Present(p.root, len(p.lib.Snapshot().Tracks)); err != nil {
		return BulletinMade{}, err
	}
	since := time.Now() // a bulletin heard since takes the place of this one
	if at.IsZero() {
		at, since = nextTime(p.onair.View(), since), since.Add(-newsApart)
	}
	r, err := p.news.Make(ctx, at)
	if err != nil {
		p.retireStale(ctx)
		return BulletinMade{}, err
	}
	rel, _ := p.rel(r.Path)
	out := BulletinMade{
		File: rel, At: r.At.UnixMilli(), DurationMS: r.Duration.Milliseconds(),
		LUFS: thousandths(r.Mastered.Integrated), DBTP: thousandths(r.Mastered.TruePeak), Segments: segments(r.Segments),
	}
	if p.onBulletin != nil {
		p.onBulletin(out)
	}
	step := func(name string, done int) { show(jobs.Progress{Step: name, Detail: rel, Done: done, Total: 3}) }
	step(stepScan, 1)
	err = p.register(ctx, []string{rel}, func(int) {})
	if err == nil {
		step(stepRebuild, 2)
		out.Rebuilt, err = p.planNews(ctx, rel, since)
	}
	if err == nil && out.Rebuilt {
		out.Archived, err = p.retire(ctx, r.Retired)
	}
	if err != nil {
		p.log.Error("bulletin made, but not planned", "file", rel, "err", err)
		out.Problem = station.Reason(err)
	}
	step(stepRebuild, 3)
	return out, ctx.Err()
}

// newsApart is the least time between two bulletins put next on air.
const newsApart = 20 * time.Minute

// planNews has a bulletin heard next, at the time that it tells, unless another was
// heard since: then the planner's next place for news has it. It reports whether the
// rotation was rebuilt; one that is early waits in the queue.
func (p *Production) planNews(ctx context.Context, rel string, since time.Time) (rebuilt bool, err error) {
	v := p.onair.View()
	if heardSince(v, since) {
		err = p.onair.Rebuild(ctx)
	} else {
		err = p.onair.Queue(ctx, rel)
	}
	return err == nil && !p.onair.View().Rotation.BuiltAt.Equal(v.Rotation.BuiltAt), err
}

// retire archives the bulletins that a new one replaces. They are no longer planned,
// so the rotation stays as it is.
func (p *Production) retire(ctx context.Context, paths []string) (archived int, err error) {
	var old []string
	for _, path := range paths {
		if rel, ok := p.rel(path); ok {
			old = append(old, rel)
		}
	}
	moved, err := p.content.Archive(ctx, old, content.ReasonOutdated)
	if err != nil {
		err = fmt.Errorf("archive old bulletins: %w", err)
	}
	return len(moved.Archived), err
}

// staleAfter is how long a bulletin may be heard when no newer one can be made.
const staleAfter = 3 * time.Hour

// retireStale archives a bulletin that tells a time long past: none is better.
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

// BulletinStatus returns what is known of the bulletins.
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

// Headlines returns the headlines that are kept, the first three of which are read.
// Errors as bulletin.Maker.Headlines.
func (p *Production) Headlines() (bulletin.Kept, error) { return p.news.Headlines() }

// SetHeadlines replaces them. Errors as bulletin.Maker.SetHeadlines.
func (p *Production) SetHeadlines(lines []string, version string) error {
	err := p.news.SetHeadlines(lines, version)
	if err == nil {
		p.log.Info("headlines replaced", "lines", len(lines))
	}
	return err
}

func segments(in []bulletin.Segment) []BulletinSegment {
	out := make([]BulletinSegment, len(in))
	for i, s := range in {
		out[i] = BulletinSegment{Kind: string(s.Kind), Text: s.Text, Voice: s.Voice, Problem: s.Problem, At: s.At}
	}
	return out
}

// thousandths rounds to three decimals, the precision of the measurement.
func thousandths(f float64) float64 { return math.Round(f*1000) / 1000 }
