package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// answer is the answer to a call: a value or an error.
type answer struct {
	Value json.RawMessage `json:"value,omitempty"`
	Kind  string          `json:"kind,omitempty"` // of the error
	Error string          `json:"error,omitempty"`
}

// kinds are the errors that keep their kind over the bus.
func kinds() map[string]error {
	return map[string]error{
		"not found": station.ErrNotFound, "invalid": station.ErrInvalid, "conflict": station.ErrConflict,
		"unavailable": station.ErrUnavailable, "too large": station.ErrTooLarge, "forbidden": station.ErrForbidden,
	}
}

// Call sends in to the process that serves the subject with Answering, and waits
// at most within. An error of the other side keeps its kind (package station).
// Without an answer it is station.ErrUnavailable, and whether the call was carried
// out is unknown. Where ctx was cancelled it is ctx's.
func Call[Out any](ctx context.Context, b *Bus, subject string, within time.Duration, in any) (out Out, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	data, err := json.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("encode request %s: %w", subject, err)
	}
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	text, err := b.Request(bounded, subject, data)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return out, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return out, fmt.Errorf("request %s: no answer within %s: %w", subject, within, station.ErrUnavailable)
	case err != nil:
		return out, fmt.Errorf("%w: %w", err, station.ErrUnavailable)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return out, fmt.Errorf("decode answer to %s: %w", subject, err)
	}
	if a.Error != "" {
		return out, &Refusal{Subject: subject, Text: a.Error, kind: kinds()[a.Kind]}
	}
	if len(a.Value) > 0 {
		err = json.Unmarshal(a.Value, &out)
	}
	return out, err
}

// Refusal is an error that the other side answered with.
type Refusal struct {
	Subject, Text string
	kind          error
}

func (r *Refusal) Error() string { return r.Text }

// Unwrap is the kind of the error, nil where it has none.
func (r *Refusal) Unwrap() error { return r.kind }

// Answering adapts fn to Serve: it decodes what Call sends and encodes the answer.
func Answering[In, Out any](fn func(ctx context.Context, in In) (Out, error)) func(context.Context, []byte) []byte {
	return func(ctx context.Context, data []byte) []byte {
		var a answer
		err := func() error {
			var in In
			if err := json.Unmarshal(data, &in); err != nil {
				return fmt.Errorf("%w: %w", err, station.ErrInvalid)
			}
			out, err := fn(ctx, in)
			if err != nil {
				return err
			}
			a.Value, err = json.Marshal(out)
			return err
		}()
		if err != nil {
			a = answer{Error: err.Error()}
			for name, kind := range kinds() {
				if errors.Is(err, kind) {
					a.Kind = name
				}
			}
		}
		text, _ := json.Marshal(a) // a struct of texts
		return text
	}
}
