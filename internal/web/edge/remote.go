package edge

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/station"
)

// Subjects of the bus. An edge with a credential of its own has its own of both: Of.
const (
	SubjectAsk     = "athir.ask"
	SubjectPresent = "athir.present"
)

// Of is a subject for the edge of that name; "" is any of those that have the SYNC_TOKEN.
func Of(subject, edge string) string {
	if edge == "" {
		return subject
	}
	return subject + "." + edge
}

// Asker is what an edge on another machine needs of the bus.
type Asker interface {
	Request(ctx context.Context, subject string, data []byte) ([]byte, error)
}

const (
	// tryWait is how long one attempt waits for the control plane.
	tryWait = 4 * time.Second
	// mostAsk is the longest request that the bus takes, in bytes.
	mostAsk = 8 << 20
	// tryPause lies between attempts.
	tryPause = 200 * time.Millisecond
)

// Remote is a desk on the other side of the bus. A request with an id counts once
// however often it arrives, so it is sent again when no answer comes. All others are
// sent once; without an answer it is unknown whether they were carried out.
type Remote struct {
	Bus     Asker
	Edge    string // the name of this edge in its credential; empty for none
	Refused func(err error) json.RawMessage
}

// Do asks over the bus.
func (r Remote) Do(ctx context.Context, ask Ask) json.RawMessage {
	data, err := events.Encode(ask)
	switch {
	case err != nil:
		return r.Refused(fmt.Errorf("%s: %w: %w", ask.Event, station.ErrInvalid, err))
	case len(data) > mostAsk: // the bus would refuse it each time
		return r.Refused(fmt.Errorf("%s: %d bytes: %w", ask.Event, len(data), station.ErrTooLarge))
	}
	for {
		bounded, cancel := context.WithTimeout(ctx, tryWait)
		got, err := r.Bus.Request(bounded, Of(SubjectAsk, r.Edge), data)
		cancel()
		if err == nil && json.Valid(got) {
			return got
		}
		if !repeatable(ask.Body) {
			return r.unreachable(ask)
		}
		select {
		case <-ctx.Done():
			return r.unreachable(ask)
		case <-time.After(tryPause):
		}
	}
}

func (r Remote) unreachable(ask Ask) json.RawMessage {
	return r.Refused(fmt.Errorf("%s: the station does not answer: %w", ask.Event, station.ErrUnavailable))
}

func repeatable(body json.RawMessage) bool {
	var b struct {
		ID string `json:"id"`
	}
	return json.Unmarshal(body, &b) == nil && b.ID != ""
}

// Answer is the other end of Remote: it carries out one request from the bus. It
// returns nil for a request that ctx cut short, so that the edge repeats it to the
// next control plane.
func Answer(ctx context.Context, desk Desk, data []byte) []byte {
	var ask Ask
	if err := json.Unmarshal(data, &ask); err != nil {
		return nil // not from an edge of this station
	}
	got := desk.Do(ctx, ask)
	var r result
	if ctx.Err() != nil && (json.Unmarshal(got, &r) != nil || !r.OK) {
		return nil
	}
	return got
}
