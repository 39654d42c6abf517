package onsocial

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/social/upload"
	"github.com/athir-radio/athir/internal/web/api"
)

// Metrics cover the platform; none where it is switched off.
func (p *Platform) Metrics() []api.Metric {
	if p.Posts == nil {
		return nil
	}
	return Metrics(p.Posts, p.uploads.Stats)
}

// scrapeTime bounds the database queries of a scrape.
const scrapeTime = 2 * time.Second

// Metrics cover posts, and the uploads on their way to becoming some.
func Metrics(posts *social.Social, uploads func() upload.Stats) []api.Metric {
	one := func(read func(social.Stats) float64) func(func(float64, string)) {
		return func(add func(float64, string)) {
			ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
			defer cancel()
			if s, err := posts.Waiting(ctx); err == nil {
				add(read(s), "")
			}
		}
	}
	return []api.Metric{
		{Name: "posts", Help: "Listeners' posts, by status.", Label: "status", Read: func(add func(float64, string)) {
			ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
			defer cancel()
			s, err := posts.Waiting(ctx)
			if err != nil {
				return
			}
			for status, n := range map[social.Status]int{social.Pending: s.Pending, social.Processing: s.Processing, social.Approved: s.Approved, social.Rejected: s.Rejected, social.Failed: s.Failed} {
				add(float64(n), string(status))
			}
		}},
		{Name: "posts_submitted_total", Help: "Posts that were ever sent.", Counter: true, Read: one(func(s social.Stats) float64 {
			return float64(s.Pending + s.Processing + s.Approved + s.Rejected + s.Failed)
		})},
		{Name: "posts_plays_total", Help: "Airings of posts that are approved now, by the play history.", Read: one(func(social.Stats) float64 { return float64(posts.Played()) })},
		{Name: "posts_oldest_pending_seconds", Help: "How long the post that waits longest for its moderator has waited; 0 without any.", Read: one(func(s social.Stats) float64 {
			if s.OldestPending == 0 {
				return 0
			}
			return time.Since(time.UnixMilli(s.OldestPending)).Seconds()
		})},
		{Name: "uploads_unfinished", Help: "Resumable uploads that are not whole yet.", Read: func(add func(float64, string)) { add(float64(uploads().Unfinished), "") }},
		{Name: "uploads_unfinished_bytes", Help: "Bytes that they have sent.", Read: func(add func(float64, string)) { add(float64(uploads().Bytes), "") }},
	}
}
