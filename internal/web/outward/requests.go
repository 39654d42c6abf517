package outward

import (
	"strconv"

	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/webhooks"
)

// requestData is the data of request.new and request.aired.
type requestData struct {
	ID        int64  `json:"id"`
	File      string `json:"file"`
	Title     string `json:"title"`
	Artist    string `json:"artist"`
	Name      string `json:"name"` // of the listener, as written; may be empty
	Note      string `json:"note"`
	AskedAt   int64  `json:"askedAt"`
	StartedAt int64  `json:"startedAt,omitempty"` // of request.aired
}

// Request announces what has become of a listener's request: to webhooks, and to the
// device that asked. It never waits.
func (o *Outward) Request(e requests.Event, q requests.Request) {
	id := strconv.FormatInt(q.ID, 10)
	data := requestData{ID: q.ID, File: q.Track.Path, Title: q.Track.Title, Artist: q.Track.Artist, Name: q.Name, Note: q.Note, AskedAt: q.At.UnixMilli()}
	notice := webpush.Notice{Topic: webpush.Own, Device: q.Device, Key: string(e) + " " + id, Title: q.Track.Title, Artist: q.Track.Artist}
	switch e {
	case requests.New:
		o.opt.Hooks.Tell(webhooks.Message{Event: eventRequest, Key: id, At: q.At, Data: data})
		return
	case requests.OnAir:
		data.StartedAt = q.ClosedAt.UnixMilli()
		o.opt.Hooks.Tell(webhooks.Message{Event: eventRequested, Key: id, At: q.ClosedAt, Data: data})
		notice.At, notice.Step = q.ClosedAt, "request_aired"
	case requests.Soon:
		notice.Step = "request_soon"
	case requests.Refused:
		notice.At, notice.Step, notice.Text = q.ClosedAt, "request_refused", q.Word
	}
	if o.opt.Push != nil && q.Device != nil {
		o.opt.Push.Notify(notice)
	}
}
