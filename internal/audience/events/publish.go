package events

import (
	"context"
	"encoding/json"
	"time"
)

// Subjects of the bus.
const (
	SubjectEvents = "athir.events"
	SubjectSync   = "athir.events.sync"
)

// Publisher sends without waiting.
type Publisher interface {
	Publish(subject string, data []byte) error
}

// wire is what goes over the bus: one event, or with no name a beat that tells
// the newest number.
type wire struct {
	Epoch string `json:"epoch"`
	Event
}

// beatEvery bounds how long a follower does not know that it missed the last
// event.
const beatEvery = 2 * time.Second

// Publish sends every event of the hub over the bus until ctx ends, and beats.
// What the bus loses followers ask for again.
func (h *Hub) Publish(ctx context.Context, to Publisher) {
	told, cancel := h.Subscribe()
	defer cancel()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	_, sent := h.Latest()
	send := func(e Event) {
		data, err := json.Marshal(wire{h.epoch, e})
		if err == nil {
			err = to.Publish(SubjectEvents, data)
		}
		if err != nil {
			h.log.Debug("event not on the bus", "event", e.Name, "err", err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			send(Event{Seq: sent})
		case <-told:
		}
		batch, ok := h.After(sent)
		if !ok {
			_, sent = h.Latest() // followers see the hole and ask
			continue
		}
		for _, e := range batch {
			send(e)
			sent = e.Seq
		}
	}
}

// syncAsk is what a follower knows.
type syncAsk struct {
	Epoch   string            `json:"epoch"`
	Seq     uint64            `json:"seq"`
	Records map[string]string `json:"records,omitempty"` // id of the newest record of each name
}

// syncAnswer brings it up to date: with the events it missed, or, when they are
// not remembered, with all states and the records since.
type syncAnswer struct {
	Epoch   string            `json:"epoch"`
	Seq     uint64            `json:"seq"`
	Whole   bool              `json:"whole"` // events are all that was missed, states included
	Records map[string]string `json:"records,omitempty"`
	Events  []Event           `json:"events"`
}

// Records is where events of the class Record are kept.
type Records interface {
	// Newest returns the id of the newest of each kind; one for "none yet" too.
	Newest(ctx context.Context) (map[string]string, error)
	// Since returns the payloads after an id, oldest first.
	Since(ctx context.Context, name, after string) ([]any, error)
}

// syncBytes bounds an answer: a message of the bus holds 1 MiB.
const syncBytes = 700 << 10

// Sync answers a follower.
func (h *Hub) Sync(ctx context.Context, ask []byte, records Records) []byte {
	var in syncAsk
	if err := json.Unmarshal(ask, &in); err != nil {
		h.log.Warn("a follower asks for nothing that we understand", "err", err)
		return nil
	}
	out := h.missed(in)
	if !out.Whole {
		h.since(ctx, &out, in.Records, records)
	}
	data, err := json.Marshal(out)
	if err != nil {
		h.log.Error("answer to a follower", "err", err)
		return nil
	}
	return data
}

func (h *Hub) missed(in syncAsk) syncAnswer {
	out := syncAnswer{Epoch: h.epoch}
	if in.Epoch == h.epoch {
		if batch, ok := h.After(in.Seq); ok && size(batch) < syncBytes {
			out.Whole, out.Seq = true, in.Seq+uint64(len(batch))
			out.Events = batch
			return out
		}
	}
	out.Events, out.Seq = h.Latest()
	return out
}

// since puts what its owners kept before the states.
func (h *Hub) since(ctx context.Context, out *syncAnswer, last map[string]string, records Records) {
	newest, err := records.Newest(ctx)
	if err != nil {
		h.log.Warn("records for a follower", "err", err)
		return
	}
	out.Records = newest
	var found []Event
	left := syncBytes - size(out.Events)
	for name := range newest {
		if last[name] == "" {
			continue // it has just begun: there is nothing that it missed
		}
		kept, err := records.Since(ctx, name, last[name])
		if err != nil {
			h.log.Warn("records for a follower", "event", name, "err", err)
			continue
		}
		for _, payload := range kept {
			e, err := h.table.event(name, payload)
			if left -= len(e.Payload) + 64; err != nil || left < 0 {
				break
			}
			found = append(found, e)
		}
	}
	out.Events = append(found, out.Events...)
}

func size(batch []Event) (n int) {
	for _, e := range batch {
		n += len(e.Payload) + 64
	}
	return n
}
