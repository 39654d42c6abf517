package outward

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/station"
)

type notes struct{ said []string }

func (n *notes) Notify(w webpush.Notice) {
	n.said = append(n.said, fmt.Sprintf("push %s %s to %s", w.Step, w.Text, w.Device))
}
func (n *notes) Queue(context.Context, webhooks.Message) error { return nil }
func (n *notes) Tell(m webhooks.Message) {
	d, _ := m.Data.(requestData)
	n.said = append(n.said, fmt.Sprintf("hook %s %s %s %d", m.Event, m.Key, d.Name, d.StartedAt))
}

// Webhooks hear of a request when it comes and when it airs, its asker of all that
// follows; a listener without a device is told nothing.
func TestWhatBecomesOfARequestIsAnnounced(t *testing.T) {
	n := &notes{}
	o := New(Options{Push: n, Hooks: n})
	q := requests.Request{ID: 7, Track: station.Track{Title: "t"}, Name: "سلمى", At: time.UnixMilli(5), Device: []byte("d")}
	o.Request(requests.New, q)
	o.Request(requests.Soon, q)
	q.ClosedAt = time.UnixMilli(9)
	o.Request(requests.OnAir, q)
	q.Word = "ليست اليوم"
	o.Request(requests.Refused, q)
	q.Device = nil
	o.Request(requests.Refused, q)
	want := []string{"hook request.new 7 سلمى 0", "push request_soon  to d", "hook request.aired 7 سلمى 9", "push request_aired  to d", "push request_refused ليست اليوم to d"}
	if !slices.Equal(n.said, want) {
		t.Errorf("%q", n.said)
	}
}
