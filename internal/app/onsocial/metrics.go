package onsocial

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/web/api"
)

// Metrics cover the platform; none where it is switched off.
func (p *Platform) Metrics() []api.Group {
	if p.Posts == nil {
		return nil
	}
	return []api.Group{Metrics(p.Posts, p.uploads.Stats)}
}

// scrapeTime bounds the database query of a scrape.
const scrapeTime = 2 * time.Second

// Metrics cover posts, and the uploads on their way to becoming some.
func Metrics(posts *social.Social, uploads func() resume.Stats) api.Group {
	const byStatus, sent, plays, oldest, unfinished, bytes = "posts", "posts_submitted_total", "posts_plays_total", "posts_oldest_pending_seconds", "uploads_unfinished", "uploads_unfinished_bytes"
	read := func(add func(name string, value float64, label string)) {
		add(plays, float64(posts.Played()), "")
		u := uploads()
		add(unfinished, float64(u.Unfinished), "")
		add(bytes, float64(u.Bytes), "")
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
		defer cancel()
		s, err := posts.Waiting(ctx)
		if err != nil {
			return
		}
		for status, n := range map[social.Status]int{social.Pending: s.Pending, social.Processing: s.Processing, social.Approved: s.Approved, social.Rejected: s.Rejected, social.Failed: s.Failed} {
			add(byStatus, float64(n), string(status))
		}
		add(sent, float64(s.Pending+s.Processing+s.Approved+s.Rejected+s.Failed), "")
		waited := 0.0
		if s.OldestPending != 0 {
			waited = time.Since(time.UnixMilli(s.OldestPending)).Seconds()
		}
		add(oldest, waited, "")
	}
	return api.Group{Read: read, Of: []api.Metric{
		{Name: byStatus, Help: "Listeners' posts, by status.", Label: "status"},
		{Name: sent, Help: "Posts that were ever sent.", Counter: true},
		{Name: plays, Help: "Airings of posts that are approved now, by the play history."},
		{Name: oldest, Help: "How long the post that waits longest for its moderator has waited; 0 without any."},
		{Name: unfinished, Help: "Resumable uploads that are not whole yet."},
		{Name: bytes, Help: "Bytes that they have sent."},
	}}
}
