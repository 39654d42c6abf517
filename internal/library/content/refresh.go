package content

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// run is one refresh or fetch.
type run struct {
	c       *Content
	id      int64
	result  Result
	archive int // files that left their decks
	show    func(Progress)
	desk    sync.Mutex // one file at a time is validated, mastered, placed
	// fetching ends when the run has fetched for long enough.
	fetching context.Context
	patience patience
}

// Refresh runs the whole pipeline once. A step that fails is a problem in the
// result, and the next step goes on. station.ErrConflict says what else is
// running, station.ErrInvalid which number is wrong; when ctx ends, the result
// says what was done until then. progress, when not nil, is called from this
// goroutine's own work, one call at a time.
func (c *Content) Refresh(ctx context.Context, req Request, progress func(Progress)) (Result, error) {
	return c.refresh(ctx, req, byHand, progress)
}

func (c *Content) refresh(ctx context.Context, req Request, trigger string, progress func(Progress)) (Result, error) {
	if err := req.check(); err != nil {
		return Result{}, err
	}
	end, err := c.begin("refresh")
	if err != nil {
		return Result{}, err
	}
	defer end()
	if trigger == bySchedule && c.early() {
		return Result{Trigger: trigger, Request: req, StartedAt: c.now().UnixMilli(), Categories: map[station.Category]*Count{}, Problems: []Problem{}}, nil
	}
	defer func() {
		c.mu.Lock()
		c.ended = c.now()
		c.mu.Unlock()
	}()
	type step struct {
		name Step
		do   func(context.Context) error
	}
	return c.perform(ctx, trigger, req, progress, func(ctx context.Context, r *run) {
		for _, s := range []step{
			{StepRecover, c.Recover},
			{StepInbox, r.inbox},
			{StepSongs, r.songs},
			{StepAds, r.ads},
			{StepImaging, r.imaging},
			{StepRetire, r.retire},
			{StepExpire, r.expire},
			{StepRestore, r.restore},
			{StepScan, r.scan},
			{StepRebuild, r.rebuild},
		} {
			if ctx.Err() != nil {
				return
			}
			r.show(Progress{Step: s.name})
			c.log.Debug("run step started", "step", s.name)
			if err := s.do(ctx); err != nil && ctx.Err() == nil {
				r.problem(s.name, err)
			}
		}
	})
}

// Waiting reports whether there are files in the inbox to take in.
func (c *Content) Waiting(ctx context.Context) bool {
	for _, src := range c.opt.Sources {
		if src.Name() != source.NameInbox {
			continue
		}
		found, err := src.Search(ctx, source.Want{Target: 1, Known: func(name, id string) bool { return c.known(ctx, name, id) }})
		if err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// Inbox takes in what lies in the inbox, and archives nothing. Errors as Refresh.
func (c *Content) Inbox(ctx context.Context, progress func(Progress)) (Result, error) {
	end, err := c.begin("look into the inbox")
	if err != nil {
		return Result{}, err
	}
	defer end()
	return c.perform(ctx, byInbox, Request{}, progress, func(ctx context.Context, r *run) {
		if err := c.Recover(ctx); err != nil {
			r.problem(StepRecover, err)
			return
		}
		if err := r.inbox(ctx); err != nil {
			r.problem(StepInbox, err)
		}
		if err := r.scan(ctx); err != nil {
			r.problem(StepScan, err)
		}
	})
}

// What began a run.
const (
	byHand     = "manual"
	bySchedule = "schedule"
	byInbox    = "inbox"
	byFetch    = "fetch"
)

// wait returns once work may go on, or the error of ctx.
type wait = func(ctx context.Context) error

// unheld waits for nothing.
func unheld(ctx context.Context) error { return ctx.Err() }

// hold returns what one file, or one set of imaging, waits for between two pieces of work:
// see Options.Hold. What was ordered waits for nothing, nor does a station that has little
// to air yet.
func (r *run) hold() wait {
	ordered := r.result.Trigger != bySchedule && r.result.Trigger != byInbox
	if ordered || len(r.c.opt.Registry.Tracks()) < shed.Enough {
		return unheld
	}
	return shed.AtMost(r.c.opt.Hold, shed.Most)
}

// perform records the start and the result of a run around do.
func (c *Content) perform(ctx context.Context, trigger string, req Request, progress func(Progress), do func(context.Context, *run)) (Result, error) {
	started := c.now()
	var mu sync.Mutex // candidates are processed in parallel
	show := c.watch(progress)
	r := &run{c: c, show: func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		show(p)
	}}
	r.result = Result{Trigger: trigger, Request: req, StartedAt: started.UnixMilli(), Categories: map[station.Category]*Count{}, Problems: []Problem{}}
	if err := c.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "INSERT INTO content_run (started_ms, ended_ms, result) VALUES (?, 0, '{}')", started.UnixMilli())
		if err == nil {
			r.id, err = res.LastInsertId()
		}
		return err
	}); err != nil {
		return Result{}, fmt.Errorf("record the start of a run: %w", err)
	}
	r.result.Run = r.id
	c.log.Info("content run started", "run", r.id, "trigger", trigger, "songs", req.Songs, "ads", req.Ads, "restore", req.Restore)
	fetching, cancel := context.WithTimeoutCause(ctx, c.opt.MaxRun, errLate)
	defer cancel()
	r.fetching = fetching
	do(ctx, r)
	r.tracks()
	r.result.Cancelled = ctx.Err() != nil
	r.result.TookMs = c.now().Sub(started).Milliseconds()
	c.log.Info("content run ended", "run", r.id, "took", time.Duration(r.result.TookMs)*time.Millisecond, "added", r.sum(func(n *Count) int { return n.Added }),
		"refused", r.sum(func(n *Count) int { return n.Refused }), "archived", r.archive, "problems", len(r.result.Problems), "cancelled", r.result.Cancelled)
	text, err := json.Marshal(r.result)
	if err == nil {
		err = c.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE content_run SET ended_ms = ?, result = ? WHERE id = ?", c.now().UnixMilli(), string(text), r.id)
			return err
		})
	}
	if err != nil {
		err = fmt.Errorf("save the result of a run: %w", err)
	}
	return r.result, cmp.Or(context.Cause(ctx), err)
}

var errLate = errors.New("the run's time for fetching is used up; the next run continues")

func (r *run) problem(step Step, err error) {
	r.c.log.Warn("content run met a problem", "step", step, "err", err)
	r.result.Problems = append(r.result.Problems, Problem{step, station.Reason(err)})
}

func (r *run) sum(of func(*Count) int) (n int) {
	for _, count := range r.result.Categories {
		n += of(count)
	}
	return n
}

// tracks counts the decks as they are now.
func (r *run) tracks() {
	hidden := r.c.Hidden()
	for _, t := range r.c.opt.Registry.Tracks() {
		if n := r.result.Categories[t.Category]; n != nil && !hidden[t.Path] {
			n.Tracks++
		}
	}
}

// expire frees room for the next run's fetches.
func (r *run) expire(ctx context.Context) (err error) {
	r.result.Expired, err = r.c.expire(ctx)
	return err
}

func (r *run) restore(ctx context.Context) error {
	if !r.result.Request.Restore {
		return nil
	}
	out, err := r.c.restore(ctx, RestoreRequest{}, r.show)
	r.result.Restored = &out
	for category, n := range out.Restored {
		r.result.count(category).Restored += n
	}
	return err
}

func (r *run) scan(ctx context.Context) error {
	r.c.moving.Lock()
	defer r.c.moving.Unlock()
	return r.c.catchUp(ctx)
}

func (r *run) rebuild(ctx context.Context) error {
	r.result.Purged = r.archive > 0
	if !r.result.Purged {
		return nil // the scan has told those who plan
	}
	if err := r.c.opt.OnAir.Rebuild(ctx); err != nil {
		return fmt.Errorf("rebuild the rotation: %w", err)
	}
	r.result.Rebuilt = true
	return nil
}

// lastEnd returns when a refresh of any process last ended. A cancelled one does not
// count.
func (c *Content) lastEnd(ctx context.Context) (time.Time, error) {
	var ended sql.NullInt64
	err := c.db.Read().QueryRowContext(ctx, "SELECT max(ended_ms) FROM content_run WHERE json_extract(result, '$.trigger') IN ('manual', 'schedule') AND json_extract(result, '$.cancelled') = 0").Scan(&ended)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the last run: %w", err)
	}
	if !ended.Valid {
		return time.Time{}, nil
	}
	return time.UnixMilli(ended.Int64), nil
}
