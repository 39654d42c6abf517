package requests

import (
	"encoding/json"
	"time"
)

// tellEvery is the shortest time between two events.
const tellEvery = 2 * time.Second

// Shown is a request as everybody may see it.
type Shown struct {
	ID         int64  `json:"id"`
	File       string `json:"file"`
	Title      string `json:"title"`
	Artist     string `json:"artist"`
	Name       string `json:"name" doc:"As the listener wrote it; may be empty"`
	At         int64  `json:"at" doc:"Epoch milliseconds"`
	Status     Status `json:"status" enum:"waiting,planned,aired,refused,expired,cancelled"`
	ExpectedAt int64  `json:"expectedAt" doc:"Epoch milliseconds; 0 while it is unknown"`
	AiredAt    int64  `json:"airedAt" doc:"Epoch milliseconds; 0 before"`
}

// Show returns a request as everybody may see it.
func (q Request) Show() Shown {
	s := Shown{
		ID: q.ID, File: string([]rune(q.Track.Path)), Title: q.Track.Title, Artist: q.Track.Artist, Name: q.Name, At: q.At.UnixMilli(), Status: q.Status,
	}
	if !q.ExpectedAt.IsZero() {
		s.ExpectedAt = q.ExpectedAt.UnixMilli()
	}
	if q.Status == Aired {
		s.AiredAt = q.ClosedAt.UnixMilli()
	}
	return s
}

// Told is the payload of the event "requests".
type Told struct {
	Open     bool    `json:"open" doc:"Whether the studio takes requests"`
	Requests []Shown `json:"requests" nullable:"false" doc:"Those that wait, oldest first, then those that aired of late, newest first"`
}

// Told returns the queue for everybody.
func (r *Requests) Told() Told {
	open, recent := r.Queue()
	out := Told{Open: r.Open(), Requests: []Shown{}}
	for _, q := range append(open, recent...) {
		out.Requests = append(out.Requests, q.Show())
	}
	return out
}

// tale is what was told last. It belongs to Run's goroutine.
type tale struct {
	last string
	at   time.Time
}

// tell sends the queue if it has changed, and returns when to try again where it is too
// soon.
func (t *tale) tell(r *Requests) time.Duration {
	told := r.Told()
	rough := told // a start that moves by seconds is no news
	rough.Requests = append([]Shown{}, told.Requests...)
	for i := range rough.Requests {
		rough.Requests[i].ExpectedAt /= 30_000
	}
	data, err := json.Marshal(rough)
	if err != nil || string(data) == t.last {
		return 0
	}
	now := r.opt.Now()
	if wait := t.at.Add(tellEvery).Sub(now); wait > 0 && wait <= tellEvery {
		return wait
	}
	t.last, t.at = string(data), now
	r.opt.Tell("requests", told)
	return 0
}
