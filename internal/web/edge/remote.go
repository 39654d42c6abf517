package edge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/retry"
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

// mostAsk is the longest request that the bus takes, in bytes.
const mostAsk = 8 << 20

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
	var got []byte
	err = retry.Answered(ctx, client.Repeatable(ask.Body), func(ctx context.Context) (err error) {
		if got, err = r.Bus.Request(ctx, Of(SubjectAsk, r.Edge), data); err == nil && !json.Valid(got) {
			err = errCut
		}
		return err
	})
	if err != nil {
		return r.Refused(fmt.Errorf("%s: the station does not answer: %w", ask.Event, station.ErrUnavailable))
	}
	return got
}

// errCut says that the control plane ended before it had an answer; see Answer.
var errCut = errors.New("no answer")

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
