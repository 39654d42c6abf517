package social

import (
	"context"
	"fmt"
)

// Stats are figures of the posts.
type Stats struct {
	Processing, Pending, Approved, Rejected, Failed int

	Candidates    int   // pending ones that are put to the vote
	Appeals       int   // rejected posts with an appeal
	OldestPending int64 // when the oldest pending post was sent, epoch milliseconds; 0: none
}

// Waiting returns the figures of the posts.
func (s *Social) Waiting(ctx context.Context) (out Stats, err error) {
	err = s.opt.DB.Read().QueryRowContext(ctx, `SELECT
			coalesce(sum(status = 'processing'), 0), coalesce(sum(status = 'pending'), 0), coalesce(sum(status = 'approved'), 0),
			coalesce(sum(status = 'rejected'), 0), coalesce(sum(status = 'failed'), 0), coalesce(sum(status = 'rejected' AND appeal <> ''), 0),
			coalesce(min(CASE WHEN status = 'pending' THEN created END), 0), coalesce(sum(`+isCandidate+`), 0) FROM social_posts`). //nolint:gosec // a constant
		Scan(&out.Processing, &out.Pending, &out.Approved, &out.Rejected, &out.Failed, &out.Appeals, &out.OldestPending, &out.Candidates)
	if s.opt.ApproveVotes == 0 {
		out.Candidates = 0
	}
	if err != nil {
		err = fmt.Errorf("count posts: %w", err)
	}
	return out, err
}
