package edge

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// asksAtOnce bounds the requests carried out for edges at the same time: most
	// of them wait for the same commit. Each edge with a credential of its own has as many
	// places beside these, so that one that floods the station keeps no other out.
	asksAtOnce  = 256
	syncsAtOnce = 8
)

// Server answers the requests of edges on other machines and sends them the events.
type Server struct {
	Log     *slog.Logger
	Bus     *bus.Bus
	Hub     *events.Hub
	Desk    Desk
	Records events.Records
	Present *Attendance
	Refused func(err error) json.RawMessage // makes the answer to a refused request
}

// Run serves until ctx ends.
func (s Server) Run(ctx context.Context) error {
	for _, subject := range []string{SubjectPresent, Of(SubjectPresent, "*")} {
		cancel, err := s.Bus.SubscribeAll(subject, s.Present.OverBus)
		if err != nil {
			return err
		}
		defer cancel()
	}
	var all sync.WaitGroup
	serve := func(subject string, workers int, fn func(context.Context, []byte) []byte) {
		all.Go(func() {
			if err := s.Bus.Serve(ctx, subject, workers, fn); err != nil {
				s.Log.Error("the bus is not served", "subject", subject, "err", err)
			}
		})
	}
	answer := func(desk Desk) func(context.Context, []byte) []byte {
		return func(ctx context.Context, data []byte) []byte { return Answer(ctx, desk, data) }
	}
	serve(SubjectAsk, asksAtOnce, answer(s.Desk))
	serve(Of(SubjectAsk, "*"), asksAtOnce, answer(guests{s.Desk, s.Refused, staffOnly()}))
	serve(events.SubjectSync, syncsAtOnce, func(ctx context.Context, data []byte) []byte { return s.Hub.Sync(ctx, data, s.Records) })
	all.Go(func() { s.Hub.Publish(ctx, s.Bus) })
	all.Wait()
	return nil
}

// guests is the desk of edges that have credentials of their own. They speak for listeners
// alone: no key is tried through them, and nobody is staff because they say so.
type guests struct {
	desk    Desk
	refused func(err error) json.RawMessage
	staff   []string // events that are for staff alone
}

// Do implements Desk.
func (g guests) Do(ctx context.Context, ask Ask) json.RawMessage {
	switch {
	case ask.Event == operatorEvent:
		return g.refused(fmt.Errorf("this edge takes no station key: open the page at the control plane: %w", station.ErrForbidden))
	case ask.From.Staff, ask.From.Speaks, slices.Contains(g.staff, ask.Event):
		return g.refused(fmt.Errorf("%.40s: this edge speaks for listeners alone: %w", ask.Event, station.ErrForbidden))
	}
	return g.desk.Do(ctx, ask)
}

func staffOnly() (events []string) {
	for _, r := range Asks() {
		if r.speaks {
			events = append(events, r.Event)
		}
	}
	return events
}
