package social

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
)

// Stage is what the worker is at with a post.
type Stage string

// The stages, in order.
const (
	Queued    Stage = "queued"
	Fetching  Stage = "fetching"
	Checking  Stage = "checking"
	Comparing Stage = "comparing"
	Mastering Stage = "mastering"
)

// task is a post that is worked on. There is one worker: on the smallest station a second
// one would take from the air what it gains. Posts that are fetched are beside it: see
// fetchAll.
type task struct {
	id     int64
	run    int64
	cancel context.CancelCauseFunc
	stage  atomic.Pointer[Stage]
	share  atomic.Int64 // of the stage, in thousandths

	typ           Type
	title, artist string
	tags          string // JSON
	by            string
	submitter     []byte
	wider         []byte // the network of the submitter; nil: this machine's, or forgotten
	slug          string
	source, url   string
	tries         int
}

func (t *task) at(stage Stage) {
	t.share.Store(0)
	t.stage.Store(&stage)
}

func (t *task) progress(share float64) { t.share.Store(int64(1000 * share)) }

// path is where what was sent lies.
func (s *Social) source(t *task) string { return filepath.Join(s.incoming(), t.source) }

// Work returns what the worker is at with a post, and the share of it that is done, 0 to 1.
// A post that waits for the worker is Queued; one in no need of it has no stage.
func (s *Social) Work(p *Post) (stage Stage, share float64) {
	if p.Status != Processing {
		return "", 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.now[p.ID]
	if t == nil {
		return Queued, 0
	}
	return *t.stage.Load(), float64(t.share.Load()) / 1000
}

const (
	// mostTries is how often a post is tried: what fails so often is looked at by a person.
	mostTries = 10
	// firstPause and longestPause bound the time between two tries.
	firstPause, longestPause = 10 * time.Second, 6 * time.Hour
)

// pauseAfter is the pause after so many tries.
func pauseAfter(tries int) time.Duration {
	pause := firstPause
	for range tries - 1 {
		pause = min(4*pause, longestPause)
	}
	return pause
}

// work carries out what there is to do, until ctx ends.
func (s *Social) work(ctx context.Context) error {
	retry := time.NewTimer(0)
	defer retry.Stop()
	for {
		t, err := s.take(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			s.log.Error("cannot look for posts to process", "err", err)
			retry.Reset(firstPause)
		case t != nil:
			s.carryOut(ctx, t)
			continue
		default:
			retry.Reset(s.untilRetry(ctx))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-retry.C:
		}
	}
}

// take returns the next post to process; nil if there is none. A failed one whose time has
// come is processing again. Each attempt is counted before it begins, so that a post which
// takes the whole station down is not tried for ever; and what was interrupted goes behind
// what was not.
func (s *Social) take(ctx context.Context) (t *task, err error) {
	if err := s.reviveFailed(ctx); err != nil {
		return nil, err
	}
	return s.pick(ctx, `source <> '' OR source_url = ''`)
}

// pick is take for the posts that a condition holds for; nil if there is none.
func (s *Social) pick(ctx context.Context, condition string, args ...any) (t *task, err error) {
	err = s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		t = &task{}
		err := tx.QueryRowContext(ctx, `SELECT id, run, type, title, artist, tags, created_by, submitter, wider, slug, source, source_url, tries
				FROM social_posts WHERE status = 'processing' AND (`+condition+`) ORDER BY tries, id LIMIT 1`, args...). //nolint:gosec // conditions are constants
			Scan(&t.id, &t.run, &t.typ, &t.title, &t.artist, &t.tags, &t.by, &t.submitter, &t.wider, &t.slug, &t.source, &t.url, &t.tries)
		if errors.Is(err, sql.ErrNoRows) {
			t = nil
			return nil
		}
		if err != nil {
			return err
		}
		t.tries++
		_, err = tx.ExecContext(ctx, `UPDATE social_posts SET tries = ? WHERE id = ?`, t.tries, t.id)
		return err
	})
	if err != nil || t == nil {
		return nil, err
	}
	t.at(Queued)
	return t, nil
}

func (s *Social) reviveFailed(ctx context.Context) error {
	due, err := all(ctx, s.opt.DB.Read(), `status = 'failed' AND next_try > 0 AND next_try <= ?`, s.millis())
	if err != nil {
		return err
	}
	for _, p := range due {
		if _, err := s.apply(ctx, change{id: p.ID, op: OpRetry, who: "machine"}); err != nil && !isConflict(err) {
			return err
		}
	}
	return nil
}

// untilRetry is how long until a failed post is due.
func (s *Social) untilRetry(ctx context.Context) time.Duration {
	var at sql.NullInt64
	err := s.opt.DB.Read().QueryRowContext(ctx, `SELECT min(next_try) FROM social_posts WHERE status = 'failed' AND next_try > 0`).Scan(&at)
	if err != nil || !at.Valid {
		return time.Hour
	}
	return max(time.Second, time.Duration(at.Int64-s.millis())*time.Millisecond)
}

// errGivenUp says that no attempt at a post came to its end, as of one that takes the station
// down with it.
var errGivenUp = errors.New("it was interrupted too often: a moderator decides whether it is processed again")

// errChangedMeanwhile ends the work on a post that somebody has withdrawn, rejected or
// ordered anew.
var errChangedMeanwhile = errors.New("the post was changed while it was processed")

// interrupt ends the work on a post.
func (s *Social) interrupt(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.now[id]; t != nil {
		t.cancel(errChangedMeanwhile)
	}
}

// beginTask shows that a post is worked on, until end is called.
func (s *Social) beginTask(ctx context.Context, t *task) (work context.Context, end func()) {
	work, t.cancel = context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now[t.id] = t
	return work, func() {
		t.cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.now[t.id] == t {
			delete(s.now, t.id)
		}
	}
}

// carryOut processes one post, and saves what became of it.
func (s *Social) carryOut(ctx context.Context, t *task) {
	work, end := s.beginTask(ctx, t)
	defer end()
	made, err := (*made)(nil), errGivenUp
	if t.tries <= mostTries {
		made, err = s.process(work, t)
	}
	if errors.Is(context.Cause(work), errChangedMeanwhile) || errors.Is(err, errStale) {
		s.discard(ctx, t, made)
		return
	}
	if ctx.Err() != nil { // the station stops: the post waits for the next start
		return
	}
	err = s.conclude(ctx, t, made, err)
	switch {
	case errors.Is(err, errStale), isConflict(err):
		s.discard(ctx, t, made)
	case err != nil:
		s.log.Error("cannot save what became of a post: it is tried again", "post", t.id, "err", err)
		s.rest(ctx)
	}
}

// discard removes the file that was made of a post which somebody has withdrawn, rejected or
// ordered anew meanwhile, unless the post has a file of that name.
func (s *Social) discard(ctx context.Context, t *task, made *made) {
	if made == nil || made.file == "" {
		return
	}
	p, err := s.read(ctx, t.id)
	if err != nil || p.File == made.file || p.Status == Processing { // the next run makes it again
		return
	}
	_ = os.Remove(s.abs(made.file)) // what is left is put aside at the next start
	_ = os.Remove(s.coverOf(t.id))
}

// rest keeps the worker from trying again at once what it cannot save, with a full disk say.
func (s *Social) rest(ctx context.Context) {
	pause := time.NewTimer(firstPause)
	defer pause.Stop()
	select {
	case <-ctx.Done():
	case <-pause.C:
	}
}

// conclude saves the outcome of an attempt.
func (s *Social) conclude(ctx context.Context, t *task, made *made, err error) error {
	var refused *refusal.Refusal
	switch {
	case err == nil:
		return s.pass(ctx, t, made)
	case errors.As(err, &refused):
		_, err := s.apply(ctx, change{id: t.id, op: OpRefuse, who: "machine", reason: refused, run: t.run, with: s.keeps(t, made)})
		if err == nil {
			s.remember(t.id, made)
		}
		return err
	}
	s.log.Error("cannot process a post", "post", t.id, "try", t.tries, "err", err)
	next := int64(0)
	if t.tries < mostTries {
		next = s.millis() + pauseAfter(t.tries).Milliseconds()
	}
	_, err = s.apply(ctx, change{id: t.id, op: OpFault, who: "machine", reason: &refusal.Refusal{Code: refusal.OurFault}, run: t.run,
		with: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE social_posts SET next_try = ? WHERE id = ?`, next, t.id)
			return err
		}})
	return err
}

// pass saves a post that was mastered, and approves it where the operator's rule says so:
// both or neither, so that no kill leaves a post waiting that need not wait.
func (s *Social) pass(ctx context.Context, t *task, made *made) error {
	passed := change{id: t.id, op: OpPass, who: "machine", run: t.run, with: s.keeps(t, made)}
	var before standing
	var after Status
	err := s.opt.DB.Write(ctx, func(tx *sql.Tx) (err error) {
		if before, after, err = s.applyIn(ctx, tx, passed); err != nil {
			return err
		}
		trusted, err := s.trusts(ctx, tx, t, made)
		if err != nil || !trusted {
			return err
		}
		_, after, err = s.applyIn(ctx, tx, change{id: t.id, op: OpApprove, who: "machine"})
		return err
	})
	if err != nil {
		return err
	}
	s.remember(t.id, made)
	s.settled(ctx, passed, before, after)
	return nil
}

// trusts reports whether the operator's rule approves a post.
func (s *Social) trusts(ctx context.Context, q querier, t *task, made *made) (bool, error) {
	if s.opt.Trust == nil {
		return false, nil
	}
	about, err := s.submitter(ctx, q, t.submitter)
	if err != nil {
		return false, err
	}
	return s.opt.Trust(Trusted{Type: t.typ, Trusted: about.Trusted, Approved: about.Approved, Rejected: about.Rejected, Alike: len(made.alike) > 0}), nil
}
