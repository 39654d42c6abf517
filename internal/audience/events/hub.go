package events

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/athir-radio/athir/internal/kit/signal"
)

const (
	// kept is how many events a hub remembers, and keptBytes how much of them.
	kept      = 4096
	keptBytes = 32 << 20
)

// Hub is the events of one station, in order. Make it with NewHub; its methods
// may be called from any goroutine.
type Hub struct {
	epoch   string
	log     *slog.Logger
	table   table
	changes signal.Changes

	mu     sync.Mutex
	seq    uint64  // of the newest
	recent []Event // the newest, at most 2 × kept, no hole
	bytes  int     // of recent
	states map[string]Event
	order  []string // keys of states, oldest first
}

// NewHub makes a hub. The epoch must be another each time: it tells followers
// that the numbers begin anew.
func NewHub(log *slog.Logger, epoch string) *Hub {
	return &Hub{epoch: epoch, log: log, table: newTable(), states: map[string]Event{}}
}

// Tell adds an event. The payload is marshalled at once and not kept. A name
// that is not in the table is our own mistake: it is logged.
func (h *Hub) Tell(name string, payload any) {
	e, err := h.table.event(name, payload)
	if err != nil {
		h.log.Error("event not told", "err", err)
		return
	}
	h.add(e)
}

func (h *Hub) add(e Event) {
	h.mu.Lock()
	h.seq++
	e.Seq = h.seq
	h.recent = append(h.recent, e)
	if h.bytes += e.size(); len(h.recent) >= 2*kept || h.bytes > keptBytes {
		h.recent = slices.Clone(h.recent[len(h.recent)/2:])
		h.bytes = size(h.recent)
	}
	if e.class == State {
		h.keep(e)
	}
	h.mu.Unlock()
	h.changes.Tell()
}

func (h *Hub) keep(e Event) {
	key := e.key()
	if _, ok := h.states[key]; ok {
		h.order = slices.DeleteFunc(h.order, func(k string) bool { return k == key })
	}
	h.states[key] = e
	h.order = append(h.order, key)
}

// Latest returns the latest of each state, oldest first, and the number of the
// newest event.
func (h *Hub) Latest() (states []Event, seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range h.order {
		states = append(states, h.states[key])
	}
	return states, h.seq
}

// State returns the latest of a kind, of a room where it has rooms.
func (h *Hub) State(name, room string) (Event, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, ok := h.states[Event{Name: name, Room: room}.key()]
	return e, ok
}

// After returns the events after a number, oldest first. It reports false when
// some of them are not remembered any more, or the number is of another epoch.
func (h *Hub) After(seq uint64) ([]Event, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	missed := h.seq - seq
	if seq > h.seq || missed > uint64(len(h.recent)) {
		return nil, false
	}
	return slices.Clone(h.recent[uint64(len(h.recent))-missed:]), true
}

// Subscribe signals new events, many as one.
func (h *Hub) Subscribe() (told <-chan struct{}, cancel func()) { return h.changes.Subscribe() }
