package social

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/station"
)

// change is one operation on one post.
type change struct {
	id     int64
	op     Op
	who    string           // machine, submitter, listeners, or "moderator" and an address
	reason *refusal.Refusal // of the new status; nil: it needs none
	word   string           // for the history, where there is no reason
	// run, when not 0, is the run of the worker that the change is a result of: it must
	// still be the post's.
	run int64
	// with writes what belongs to the change, in its transaction; nil: nothing.
	with func(ctx context.Context, tx *sql.Tx) error
}

// apply carries a change out, in one transaction with its line of history. It returns the
// post's standing before. What the table of Status has as "=" changes nothing.
func (s *Social) apply(ctx context.Context, c change) (before standing, err error) {
	var after Status
	err = s.opt.DB.Write(ctx, func(tx *sql.Tx) (err error) {
		before, after, err = s.applyIn(ctx, tx, c)
		return err
	})
	if err != nil {
		return before, err
	}
	s.settled(ctx, c, before, after)
	return before, nil
}

// applyIn is apply as a part of a transaction. Once that is on disk, the caller calls settled.
func (s *Social) applyIn(ctx context.Context, tx *sql.Tx, c change) (before standing, after Status, err error) {
	var run int64
	row := tx.QueryRowContext(ctx, `SELECT status, reason, file <> '', run, `+isCandidate+` FROM social_posts WHERE id = ?`, c.id) //nolint:gosec // a constant
	err = row.Scan(&before.status, &before.reason, &before.mastered, &run, &before.candidate)
	if errors.Is(err, sql.ErrNoRows) {
		return before, "", fmt.Errorf("post %d: %w", c.id, station.ErrNotFound)
	}
	if err != nil {
		return before, "", err
	}
	before.candidate = before.candidate && s.opt.ApproveVotes > 0
	if c.run != 0 && c.run != run {
		return before, "", errStale
	}
	if after, err = next(before, c.op); err != nil || s.idle(c, before, after) {
		return before, after, err
	}
	if err := s.write(ctx, tx, c, before, after); err != nil {
		return before, after, err
	}
	return before, after, s.record(ctx, tx, c.id, c.who, string(c.op), detail(c))
}

// errStale says that the worker's result is of a run that is over.
var errStale = errors.New("the post has been changed meanwhile")

func detail(c change) string {
	switch {
	case c.reason == nil:
		return c.word
	case c.reason.Note != "":
		return string(c.reason.Code) + ": " + c.reason.Note
	}
	return string(c.reason.Code)
}

// idle reports that a change leaves everything as it is.
func (s *Social) idle(c change, before standing, after Status) bool {
	switch c.op {
	case OpApprove, OpProcess, OpVoted:
		return before.status == after
	case OpRetry:
		return before.status == Processing
	case OpWithdraw:
		return before.reason == refusal.Withdrawn && before.status == Rejected
	case OpReport:
		return before.status == Pending && !before.candidate
	}
	return false
}

// write changes the row.
func (s *Social) write(ctx context.Context, tx *sql.Tx, c change, before standing, after Status) error {
	now := s.millis()
	approved := `0`
	if after == Approved {
		approved = `CASE WHEN approved = 0 THEN ? ELSE approved END`
	}
	code, why := reasonColumns(c.reason)
	args := []any{after, code, why, now}
	if after == Approved {
		args = append(args, now)
	}
	run := 0
	if after == Processing && c.op == OpProcess || after == Rejected && before.status == Processing {
		run = 1 // what the worker is at is stale
	}
	fresh := c.op == OpProcess
	_, err := tx.ExecContext(ctx, `UPDATE social_posts SET status = ?, reason = ?, refusal = ?, decided = ?, approved = `+approved+`,
		run = run + ?, tries = CASE WHEN ? THEN 0 ELSE tries END, next_try = 0 WHERE id = ?`, append(args, run, fresh, c.id)...) //nolint:gosec // approved is one of two constants
	if err != nil {
		return err
	}
	if c.op == OpApprove || c.op == OpReview || c.op == OpReject {
		if _, err := tx.ExecContext(ctx, `UPDATE social_reports SET open = 0 WHERE post = ?`, c.id); err != nil {
			return err
		}
		// A judgement answers the reports, and the appeal against the one before.
		if _, err := tx.ExecContext(ctx, `UPDATE social_posts SET reports = 0, appeal = CASE WHEN ? THEN appeal ELSE '' END WHERE id = ?`, c.op == OpReview, c.id); err != nil {
			return err
		}
	}
	if c.with != nil {
		return c.with(ctx, tx)
	}
	return nil
}

// settled follows a change that is on disk: the worker is stopped or woken, the board and
// listeners learn of it.
func (s *Social) settled(ctx context.Context, c change, before standing, after Status) {
	idle := s.idle(c, before, after)
	if c.run == 0 && !idle {
		s.interrupt(c.id)
	}
	if after == Processing {
		s.rouse()
	}
	if before.status == Approved || after == Approved {
		s.refresh(ctx, c.id)
	}
	if !idle {
		s.happened(ctx, whatOf(after), c.id, before.status == Approved || before.candidate)
	}
}

func whatOf(after Status) What {
	switch after {
	case Approved:
		return WasApproved
	case Rejected:
		return WasRejected
	}
	return Changed
}

// reasonColumns are a reason as its two columns have it.
func reasonColumns(r *refusal.Refusal) (code refusal.Code, text string) {
	if r == nil {
		return "", "{}"
	}
	b, _ := json.Marshal(r) // strings and numbers always can
	return r.Code, string(b)
}
