package outward

import (
	"fmt"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/webhooks"
)

// postData is the data of post.submitted, post.approved and post.aired.
type postData struct {
	ID         int64  `json:"id"`
	Type       string `json:"type"`
	Title      string `json:"title"`
	Artist     string `json:"artist"`
	By         string `json:"by"` // the submitter's name, as written; may be empty
	File       string `json:"file,omitempty"`
	Page       string `json:"page"`
	CreatedAt  int64  `json:"createdAt"`
	ApprovedAt int64  `json:"approvedAt,omitempty"`
	DurationMS int64  `json:"durationMs,omitempty"`
}

// Post announces what has become of a listener's post: to webhooks, and to the device that
// sent it. It never waits.
func (o *Outward) Post(h social.Happened) {
	p, now := h.Post, time.Now()
	id := strconv.FormatInt(p.ID, 10)
	data := postData{
		ID: p.ID, Type: string(p.Type), Title: p.Title, Artist: p.Artist, By: p.CreatedBy, File: p.File, Page: social.PageOf(p.ID),
		CreatedAt: p.Created, ApprovedAt: p.Approved, DurationMS: p.Duration.Milliseconds(),
	}
	notice := webpush.Notice{Topic: webpush.Own, Device: p.Device, Key: fmt.Sprintf("post %s %s %d", id, h.What, p.Decided), At: now, Title: p.Title, Artist: p.Artist, URL: data.Page}
	switch h.What {
	case social.Submitted:
		o.opt.Hooks.Tell(webhooks.Message{Event: eventPost, Key: id, At: time.UnixMilli(p.Created), Data: data})
		return
	case social.WasApproved:
		o.opt.Hooks.Tell(webhooks.Message{Event: eventApproved, Key: id, At: time.UnixMilli(p.Decided), Data: data})
		notice.Step = "post_approved"
	case social.Aired:
		o.opt.Hooks.Tell(webhooks.Message{Event: eventPostAired, Key: id, At: now, Data: data})
		notice.Step, notice.Key = "post_aired", fmt.Sprintf("post %s aired %d", id, now.Unix())
	case social.WasRejected:
		if p.Reason == nil || !p.Reason.ByModerator() {
			return
		}
		notice.Step, notice.Text = "post_rejected", p.Reason.Note
	case social.Changed:
		return
	}
	if o.opt.Push != nil && p.Device != nil {
		o.opt.Push.Notify(notice)
	}
}
