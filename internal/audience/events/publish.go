package events

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Subjects of the bus.
const (
	SubjectEvents = "athir.events"
	SubjectSync   = "athir.events.sync"
)

// Publisher sends on the bus without waiting.
type Publisher interface {
	Publish(subject string, data []byte) error
}

// wire is a message of the bus: one event, or, without a name, a heartbeat with the
// newest number.
type wire struct {
	Epoch string `json:"epoch"`
	Event
}

// beatEvery is the period of the heartbeat, by which a follower notices that it has
// missed the last event.
const beatEvery = 2 * time.Second

// Publish sends every event of the hub, and heartbeats, over the bus until ctx ends.
// Followers ask again for what the bus loses.
func (h *Hub) Publish(ctx context.Context, to Publisher) {
	told, cancel := h.Subscribe()
	defer cancel()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	_, sent := h.Latest()
	send := func(e Event) {
		data, err := Encode(wire{h.epoch, e})
		if err == nil {
			err = to.Publish(SubjectEvents, data)
		}
		if err != nil {
			h.log.Debug("event not sent over the bus", "event", e.Name, "err", err)
		}
	}
	send(Event{Seq: sent}) // what was told before is not sent: followers ask for it
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
			_, sent = h.Latest() // followers see the gap and ask
			continue
		}
		for _, e := range batch {
			send(e)
			sent = e.Seq
		}
	}
}

// syncAsk is a follower's sync request: its position in the hub.
type syncAsk struct {
	Epoch   string            `json:"epoch"`
	Seq     uint64            `json:"seq"`
	Records map[string]string `json:"records,omitempty"` // id of the newest record of each name
}

// syncAnswer brings a follower up to date: with the events it missed, or, when they
// are no longer kept, with all states and the records since.
type syncAnswer struct {
	Epoch   string            `json:"epoch"`
	Seq     uint64            `json:"seq"`
	Whole   bool              `json:"whole"`          // Events are exactly the missed ones
	More    bool              `json:"more,omitempty"` // there is more than one message holds: ask again
	Records map[string]string `json:"records,omitempty"`
	Events  []Event           `json:"events"`
}

// Records is the storage of events of class Record.
type Records interface {
	// Newest returns the id of the newest record of each name, with a valid id
	// even for "none yet".
	Newest(ctx context.Context) (map[string]string, error)
	// Since returns the payloads after an id, oldest first; it may stop before
	// the newest.
	Since(ctx context.Context, name, after string) ([]any, error)
}

const (
	// syncBytes bounds an answer: a message of the bus holds 1 MiB.
	syncBytes = 700 << 10
	// syncEvents bounds the events of an answer, so that readers of the mirror can
	// keep up.
	syncEvents = 1024
)

// Sync answers a follower's request; nil when it cannot, so that the follower asks
// again.
func (h *Hub) Sync(ctx context.Context, ask []byte, records Records) []byte {
	var in syncAsk
	if err := json.Unmarshal(ask, &in); err != nil {
		h.log.Warn("cannot read a follower's sync request", "err", err)
		return nil
	}
	out := h.missed(in)
	if !out.Whole {
		var err error
		if out, err = h.since(ctx, in, out, records); err != nil {
			h.log.Warn("cannot read the records that a follower missed", "err", err)
			return nil
		}
	}
	data, err := Encode(out)
	if err != nil {
		h.log.Error("cannot encode the answer to a follower", "err", err)
		return nil
	}
	return data
}

func (h *Hub) missed(in syncAsk) syncAnswer {
	if in.Epoch == h.epoch {
		batch, ok := h.After(in.Seq)
		if n := fitting(batch, syncBytes); ok && (n > 0 || len(batch) == 0) {
			return syncAnswer{Epoch: h.epoch, Seq: in.Seq + uint64(n), Whole: true, More: n < len(batch), Events: batch[:n]}
		}
	}
	out := syncAnswer{Epoch: h.epoch}
	out.Events, out.Seq = h.Latest()
	return out
}

// since adds the stored records before the states. Where they do not fit into one
// answer, it returns records only and leaves the follower's position unchanged.
func (h *Hub) since(ctx context.Context, in syncAsk, states syncAnswer, records Records) (syncAnswer, error) {
	newest, err := records.Newest(ctx)
	if err != nil {
		return syncAnswer{}, err
	}
	left := max(syncBytes-size(states.Events), syncBytes/4)
	var found []Event
	more := false
	for _, name := range h.table.heeded(newest) {
		if in.Records[name] == "" {
			continue // a new follower has missed nothing
		}
		kept, err := h.records(ctx, name, in.Records[name], records)
		if err != nil {
			return syncAnswer{}, err
		}
		n := fitting(kept, left)
		more = more || n < len(kept) || n > 0 && !slices.ContainsFunc(kept, func(e Event) bool { return e.id() == newest[name] })
		found, left = append(found, kept[:n]...), left-size(kept[:n])
	}
	if more {
		return syncAnswer{Epoch: in.Epoch, Seq: in.Seq, More: true, Events: found}, nil
	}
	states.Records, states.Events = newest, append(found, states.Events...)
	return states, nil
}

// records returns the stored records of a name after an id, as events.
func (h *Hub) records(ctx context.Context, name, after string, from Records) ([]Event, error) {
	kept, err := from.Since(ctx, name, after)
	if err != nil {
		return nil, err
	}
	out := make([]Event, 0, len(kept))
	for _, payload := range kept {
		e, err := h.table.event(name, payload)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// fitting returns how many events of a batch fit into one answer.
func fitting(batch []Event, bytes int) int {
	for i, e := range batch {
		if bytes -= e.size(); bytes < 0 || i == syncEvents {
			return i
		}
	}
	return len(batch)
}

func size(batch []Event) (n int) {
	for _, e := range batch {
		n += e.size()
	}
	return n
}
