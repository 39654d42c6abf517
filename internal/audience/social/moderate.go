package social

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// longestNote is how many characters a moderator's note or an appeal may have.
	longestNote = 500
	// mostAppeals is how often one post may be appealed: each is kept, and told to moderators.
	mostAppeals = 5
)

// Verdict is what a moderator decides.
type Verdict struct {
	Op   Op           // approve, reject, hold, process or review
	Code refusal.Code // of a rejection: one of refusal.Moderator
	Note string       // words for the submitter; may be empty but for hold
	By   string       // the moderator's address, for the history
}

// Decide carries out a moderator's verdict. Errors: station.ErrNotFound, ErrInvalid,
// ErrConflict (see Status).
func (s *Social) Decide(ctx context.Context, id int64, v Verdict) error {
	note, err := note("note", v.Note)
	if err != nil {
		return err
	}
	c := change{id: id, op: v.Op, who: "moderator " + v.By}
	switch v.Op {
	case OpApprove, OpProcess, OpReview:
	case OpReject:
		if !slices.Contains(refusal.Moderator(), v.Code) {
			return invalid("code", "must be one of "+codes(refusal.Moderator()))
		}
		c.reason = &refusal.Refusal{Code: v.Code, Note: note}
	case OpHold:
		if note == "" {
			return invalid("note", "must say why the post is held")
		}
		c.reason = &refusal.Refusal{Code: refusal.Held, Note: note}
	default:
		return invalid("action", "must be approve, reject, hold, process or review")
	}
	if v.Op == OpProcess {
		c.with = processable(id)
	}
	_, err = s.apply(ctx, c)
	return err
}

// processable refuses to process what there is nothing left of to process. It looks within
// the change: removeOld may be at the same post.
func processable(id int64) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		var there bool
		err := tx.QueryRowContext(ctx, `SELECT source <> '' OR source_url <> '' FROM social_posts WHERE id = ?`, id).Scan(&there)
		if err == nil && !there {
			err = conflict("what was sent is no longer kept")
		}
		return err
	}
}

func codes(all []refusal.Code) string {
	var out []string
	for _, c := range all {
		out = append(out, string(c))
	}
	return strings.Join(out, ", ")
}

// note returns a person's words as they are kept.
func note(field, text string) (string, error) {
	text = strings.TrimSpace(text)
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > longestNote {
		return "", invalid(field, fmt.Sprintf("must have at most %d characters", longestNote))
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return -1
		}
		return r
	}, text), nil
}

// Withdraw takes a post back, for good. The caller has shown that it is the submitter's.
func (s *Social) Withdraw(ctx context.Context, id int64) error {
	_, err := s.apply(ctx, change{id: id, op: OpWithdraw, who: "submitter", reason: refusal.New(refusal.Withdrawn)})
	return err
}

// Appeal keeps the submitter's words against a rejection, for the moderators. Errors:
// station.ErrConflict for a post that is not rejected, or withdrawn, or was appealed too
// often, ErrInvalid.
func (s *Social) Appeal(ctx context.Context, id int64, text string) error {
	text, err := note("text", text)
	if err != nil {
		return err
	}
	if text == "" {
		return invalid("text", "must say why the post should be judged again")
	}
	again := false
	err = s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		var before int
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM social_posts WHERE id = ?1 AND status = 'rejected' AND appeal = ?2),
			(SELECT count(*) FROM social_history WHERE post = ?1 AND action = 'appeal')`, id, text).Scan(&again, &before); err != nil || again {
			return err
		}
		if before >= mostAppeals {
			return conflict("it was appealed %d times already", before)
		}
		kept, err := changedRow(ctx, tx, `UPDATE social_posts SET appeal = ? WHERE id = ? AND status = 'rejected' AND reason <> ?`, text, id, refusal.Withdrawn)
		if err != nil || !kept {
			return cmp.Or(err, conflict("only a rejected post can be appealed"))
		}
		return s.record(ctx, tx, id, "submitter", "appeal", text)
	})
	if err == nil && !again {
		s.happened(ctx, Changed, id, false)
	}
	return err
}

// Judge says that a submitter is trusted, or blocked from sending. Errors:
// station.ErrNotFound.
func (s *Social) Judge(ctx context.Context, submitter string, trusted, blocked bool) error {
	id, err := hex.DecodeString(submitter)
	if err != nil {
		return fmt.Errorf("submitter %q: %w", clipped(submitter, 40), station.ErrNotFound)
	}
	before, err := s.candidates(ctx, `submitter = ?`, id)
	if err != nil {
		return fmt.Errorf("judge a submitter: %w", err)
	}
	err = s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		kept, err := changedRow(ctx, tx, `UPDATE social_submitters SET trusted = ?, blocked = ? WHERE id = ?`, trusted, blocked, id)
		if err == nil && !kept {
			err = fmt.Errorf("submitter %q: %w", submitter, station.ErrNotFound)
		}
		return err
	})
	if err != nil {
		return err
	}
	// What a blocked submitter has sent is put to the vote no longer.
	now, err := s.candidates(ctx, `submitter = ?`, id)
	if err != nil {
		return fmt.Errorf("judge a submitter: %w", err)
	}
	for _, post := range append(before, now...) {
		if slices.Contains(before, post) != slices.Contains(now, post) {
			s.happened(ctx, Changed, post, true)
		}
	}
	return nil
}
