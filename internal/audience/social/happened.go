package social

import "context"

// What is what has happened to a post.
type What string

// What can happen.
const (
	Submitted   What = "submitted"
	WasApproved What = "approved"
	WasRejected What = "rejected"
	Changed     What = "changed"
	Aired       What = "aired"
)

// Happened is one change of a post, for other parts of the station.
type Happened struct {
	What What
	Post Post // as it is now
}

// Told is the payload of the event "social_post": a change that everybody may see.
type Told struct {
	ID     int64  `json:"id"`
	Action string `json:"action" enum:"approved,changed,removed,aired,candidate" doc:"What has happened to it; candidate: it is put to the vote, or has other votes"`
	Post   *Shown `json:"post,omitempty" doc:"The post as it is now; missing once it is removed"`
}

// Queue is the payload of the event "social_queue", for moderators' pages: it says that the
// queue has changed, and names no post.
type Queue struct {
	Pending    int `json:"pending" doc:"Posts that wait for a moderator"`
	Processing int `json:"processing" doc:"Posts that are being processed"`
	Failed     int `json:"failed" doc:"Posts that could not be processed"`
}

// happened tells listeners and the station of a change that is on disk. shown says that
// everybody could see the post before it.
func (s *Social) happened(ctx context.Context, what What, id int64, shown bool) {
	ctx = context.WithoutCancel(ctx)
	post, err := s.read(ctx, id)
	if err != nil {
		s.log.Error("cannot tell of a change of a post", "post", id, "what", what, "err", err)
		return
	}
	switch {
	case post.Visible():
		action := what
		if what != WasApproved && what != Aired {
			action = Changed
		}
		view := s.Show(&post)
		s.opt.Tell("social_post", Told{id, string(action), &view})
	case s.Candidate(&post):
		view := s.Show(&post)
		s.opt.Tell("social_post", Told{id, "candidate", &view})
	case shown:
		s.opt.Tell("social_post", Told{id, "removed", nil})
	}
	if queue, err := s.Waiting(ctx); err == nil && what != Aired {
		s.opt.Tell("social_queue", Queue{queue.Pending, queue.Processing, queue.Failed})
	}
	if s.opt.Told != nil {
		s.opt.Told(Happened{What: what, Post: post})
	}
	if what != Aired {
		code, _ := reasonColumns(post.Reason)
		s.log.Info("post "+string(what), "post", id, "type", post.Type, "status", post.Status, "reason", code)
	}
}
