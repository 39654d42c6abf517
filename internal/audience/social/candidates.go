package social

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/athir-radio/athir/internal/audience/social/check"
)

// candidate is the condition under which a post is put to listeners' vote where the
// operator's rule has it so: music that waits for its moderator, in which the machine found
// nothing for a person to look at, on which no moderator has put a hand, and whose submitter
// is not blocked. The history is the record of moderators' hands, so what one of them has
// undone, no rule does again.
const candidate = `status = 'pending' AND reason = '' AND plain = 1 AND file <> '' AND type IN ('song', 'mashup')
	AND NOT EXISTS (SELECT 1 FROM social_history h WHERE h.post = social_posts.id AND h.who LIKE 'moderator%')
	AND NOT EXISTS (SELECT 1 FROM social_submitters b WHERE b.id = social_posts.submitter AND b.blocked = 1)`

// isCandidate is candidate as a column. SQLite may compute all terms of a condition that is
// one, for every approved post too; of a CASE it does not.
const isCandidate = `CASE WHEN status = 'pending' THEN ` + candidate + ` ELSE 0 END`

// plainly reports that what was found in a post is nothing for a person to look at: neither a
// likeness nor a note but those that say how it was encoded.
func plainly(m *made) bool {
	return len(m.alike) == 0 && !slices.ContainsFunc(m.finding.Notes, check.Serious)
}

// Candidate reports whether a post is put to listeners' vote: everybody may hear it and vote
// on it, it airs nowhere, and enough votes approve it. None is while the operator has no rule
// of that.
func (s *Social) Candidate(p *Post) bool { return s.opt.ApproveVotes > 0 && p.candidate }

// Public reports whether everybody may see and hear a post.
func (s *Social) Public(p *Post) bool { return p.Visible() || s.Candidate(p) }

// errTooFew says that a candidate does not have the votes that it had.
var errTooFew = errors.New("too few votes")

// elect approves a candidate that has the votes. The state table and the row decide: of a
// post that a moderator has touched meanwhile nothing becomes.
func (s *Social) elect(ctx context.Context, id int64) {
	needed := s.opt.ApproveVotes
	_, err := s.apply(ctx, change{
		id: id, op: OpVoted, who: "listeners", word: fmt.Sprintf("approve_votes: %d", needed),
		with: func(ctx context.Context, tx *sql.Tx) error {
			var enough bool
			err := tx.QueryRowContext(ctx, `SELECT support >= ? FROM social_posts WHERE id = ?`, needed, id).Scan(&enough)
			if err == nil && !enough {
				err = errTooFew
			}
			return err
		},
	})
	if err != nil && !isConflict(err) && !errors.Is(err, errTooFew) && ctx.Err() == nil {
		s.log.Error("cannot approve a post that listeners have chosen: it is tried again", "post", id, "err", err)
	}
}

// electDue approves the candidates that have the votes already: the station was killed before
// it could, or the operator has changed the rule.
func (s *Social) electDue(ctx context.Context) {
	if s.opt.ApproveVotes == 0 {
		return
	}
	due, err := s.candidates(ctx, `support >= ?`, s.opt.ApproveVotes)
	if err != nil && ctx.Err() == nil {
		s.log.Error("cannot look for posts that listeners have chosen", "err", err)
	}
	for _, id := range due {
		s.elect(ctx, id)
	}
}

// candidates returns the ids of those for which a condition holds.
func (s *Social) candidates(ctx context.Context, condition string, args ...any) (out []int64, err error) {
	if s.opt.ApproveVotes == 0 {
		return nil, nil
	}
	posts, err := all(ctx, s.opt.DB.Read(), candidate+` AND `+condition, args...)
	for i := range posts {
		out = append(out, posts[i].ID)
	}
	return out, err
}

// counted follows votes on a candidate that are on disk. Pages learn of each whole vote: a
// brigade is not to have an event of every one of its own sent to everybody.
func (s *Social) counted(ctx context.Context, id int64, before, now float64) {
	ctx = context.WithoutCancel(ctx)
	if now >= float64(s.opt.ApproveVotes) {
		s.elect(ctx, id)
		return
	}
	if math.Floor(before) == math.Floor(now) {
		return
	}
	post, err := s.read(ctx, id)
	if err != nil {
		s.log.Error("cannot tell of the votes on a post", "post", id, "err", err)
		return
	}
	if s.Candidate(&post) {
		view := s.Show(&post)
		s.opt.Tell("social_post", Told{id, "candidate", &view})
	}
}

// ShownCandidate says how far a candidate is.
type ShownCandidate struct {
	Needed int     `json:"needed" doc:"Votes that approve it: social.approve_votes"`
	Has    float64 `json:"has" doc:"Votes for it less those against it, as they are counted here: a network is one vote, and all newcomers together are three"`
}

// progress is how far a post is; nil for one that is no candidate.
func (s *Social) progress(p *Post) *ShownCandidate {
	if !s.Candidate(p) {
		return nil
	}
	return &ShownCandidate{Needed: s.opt.ApproveVotes, Has: max(0, math.Floor(10*p.Votes.Support)/10)}
}

// ApproveVotes is how much support approves a candidate; 0: nothing is put to the vote.
func (s *Social) ApproveVotes() int { return s.opt.ApproveVotes }
