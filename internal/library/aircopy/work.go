package aircopy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// result is the outcome of a task: the decision, or an error. With both, the
// decision could not be saved and holds until the next start.
type result struct {
	task *task
	row  row
	err  error
}

// enough is how many files must air before work on more of them may be held up.
const enough = shed.Enough

// work decides about one file.
func (r *Rack) work(ctx context.Context, t *task) result {
	hold := r.opt.Hold
	if t.track.Category == station.News || t.needed {
		hold = nil
	}
	hold = t.noting(shed.AtMost(hold, shed.Most))
	if err := hold(ctx); err != nil {
		return result{task: t, err: err}
	}
	in := r.opt.Root + "/" + t.track.Path
	if !same(in, t.track) {
		return result{task: t, err: errChanged}
	}
	room := func() error { return r.room(t.track) }
	if t.unfit { // measured before
		if err := room(); err != nil {
			return result{task: t, err: err}
		}
	}
	out := r.opt.Dir + "/" + t.name
	profile, err := mastering.Named(t.profile)
	if err != nil {
		return result{task: t, err: err}
	}
	profile.Brief = t.track.Category == station.SFX
	from, to := cutOf(t.track)
	rec, err := r.opt.Master.Do(ctx, mastering.Job{In: in, Out: out, Profile: profile, Replace: true, Trim: true, From: from, To: to, KeepFit: true, Room: room},
		func(share float64) {
			t.share.Store(int64(1000 * share))
			_ = hold(ctx) // between two pieces of audio; when ctx ends, so does the work
		})
	w := row{
		size: t.track.Size, mtime: t.track.ModTime.UnixNano(), category: t.track.Category, profile: t.profile,
		copy: t.had.copy, copySize: t.had.copySize, Outcome: rec.Outcome, trimmed: rec.TrimmedIn + rec.TrimmedOut,
		from: from, to: to, at: time.UnixMilli(time.Now().UnixMilli()),
	}
	var no *mastering.RefusedError
	switch {
	case errors.As(err, &no) && (no.Reason == mastering.Changed || !same(in, t.track)):
		return result{task: t, err: errChanged}
	case errors.As(err, &no):
		w.state, w.reason, w.Outcome, w.trimmed = refused, no.Text, mastering.Outcome{}, 0
	case err != nil:
		return result{task: t, err: r.explain(err)}
	case rec.Fit && !same(in, t.track):
		return result{task: t, err: errChanged}
	case rec.Fit:
		w.state = asIs
	default: // whole, even if the file has become another since
		info, err := os.Stat(out)
		if err != nil {
			return result{task: t, err: fmt.Errorf("look at the copy: %w", err)}
		}
		w.state, w.copy, w.copySize = copied, t.name, info.Size()
	}
	return result{task: t, row: w, err: save(ctx, r.db, t.track.Path, w)}
}

// noting has the task note since when it is held up.
func (t *task) noting(hold func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		now := time.Now()
		t.held.Store(&now)
		defer t.held.Store(nil)
		return hold(ctx)
	}
}

// same reports that a file is the one the registry knows.
func same(path string, t station.Track) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() == t.Size && info.ModTime().Equal(t.ModTime)
}

// unchanged reports whether two tracks of one path are of the same file.
func unchanged(a, b station.Track) bool { return a.Size == b.Size && a.ModTime.Equal(b.ModTime) }

// failed puts a task off. The machine's faults pause everything, ever longer.
func (w *runner) failed(ctx context.Context, t *task, err error) {
	if ctx.Err() != nil {
		return
	}
	rel, now := t.track.Path, time.Now()
	defer w.plan()
	if errors.Is(err, errChanged) { // the registry will report the change soon
		w.troubles[rel] = setback{t.track, 1, now.Add(w.pause)}
		w.opt.Log.Debug("file changed during mastering", "file", rel)
		return
	}
	var lack *roomError
	if errors.As(err, &lack) {
		w.lacks(t, lack, now)
		return
	}
	var unfinished *ffmpeg.UnfinishedError
	if errors.As(err, &unfinished) && w.unfinished(t, unfinished, now) {
		return
	}
	w.failures++
	w.resume = now.Add(retry.Doubled(w.pause, longPause, w.failures))
	problem := err.Error()
	if !errors.Is(err, errFull) {
		times := w.troubles[rel].times + 1
		w.troubles[rel] = setback{t.track, times, now.Add(retry.Doubled(w.pause, longPause, times))}
		problem = fmt.Sprintf("%s cannot be mastered now: %v", rel, err)
	}
	if problem != w.problem {
		w.opt.Log.Warn("mastering paused", "reason", problem, "next_attempt", w.resume.Format(time.TimeOnly))
	}
	w.problem = problem
}

// unfinished puts off a file that the programs did not finish with, ever longer, and no
// other: it may be alone on a part of the disk that hangs. It reports false when two
// different files in a row ended so: then the machine is short of something, and all
// work pauses.
func (w *runner) unfinished(t *task, err *ffmpeg.UnfinishedError, now time.Time) bool {
	rel := t.track.Path
	if w.hung != "" && w.hung != rel {
		return false
	}
	w.hung = rel
	times := w.troubles[rel].times + 1
	until := now.Add(retry.Doubled(w.pause, longPause, times))
	w.troubles[rel] = setback{t.track, times, until}
	w.opt.Log.Warn("file put off: mastering it was not done in time", "file", rel, "reason", err.Reason, "times", times, "next_attempt", until.Format(time.TimeOnly))
	return true
}

func find(tracks []station.Track, rel string) (station.Track, bool) {
	i, ok := slices.BinarySearchFunc(tracks, rel, func(t station.Track, rel string) int { return strings.Compare(t.Path, rel) })
	if !ok {
		return station.Track{}, false
	}
	return tracks[i], true
}
