package events

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/athir-radio/athir/internal/kit/signal"
)

const (
	// kept is how many events a hub remembers at least, within keptBytes bytes.
	kept      = 4096
	keptBytes = 32 << 20
)

// Hub holds one station's newest events, in order, and its latest states. Make it
// with NewHub; its methods may be called from any goroutine.
type Hub struct {
	epoch   string
	log     *slog.Logger
	table   table
	changes signal.Changes

	mu     sync.Mutex
	seq    uint64  // of the newest
	recent []Event // the newest, at most 2 × kept, without gaps
	bytes  int     // of recent
	states map[string]Event
	order  []string // keys of states, oldest first
	// heard is the position that a mirror has reached in the other hub; empty in a
	// hub that is no mirror.
	heard Mark
	away  bool // a mirror that does not hear the other hub
	// lastRecords has the id of the newest record of each name; ended is set by Save.
	lastRecords map[string]string
	ended       bool
}

// NewHub makes a hub. The epoch must differ at each start: it tells followers that
// the numbers begin anew.
func NewHub(log *slog.Logger, epoch string) *Hub {
	return &Hub{epoch: epoch, log: log, table: newTable(), states: map[string]Event{}, lastRecords: map[string]string{}}
}

// Tell publishes an event. The payload is marshalled at once and not kept. A name
// that is not in the table is a programming error, which is logged.
func (h *Hub) Tell(name string, payload any) { h.tell(name, payload, false) }

// TellChange is Tell for a state that may not have changed: the same again is not told.
func (h *Hub) TellChange(name string, payload any) {
	e, err := h.table.event(name, payload)
	if err == nil {
		if have, ok := h.State(e.Name, e.Room, e.Channel); ok && string(have.Payload) == string(e.Payload) {
			return
		}
	}
	h.Tell(name, payload)
}

// Withdraw publishes the last event of a state: current followers get it, later
// ones do not.
func (h *Hub) Withdraw(name string, payload any) { h.tell(name, payload, true) }

func (h *Hub) tell(name string, payload any, gone bool) {
	e, err := h.table.event(name, payload)
	if err != nil {
		h.log.Error("event not published", "event", name, "err", err)
		return
	}
	e.Gone = gone
	h.add(e)
}

func (h *Hub) add(e Event) {
	h.mu.Lock()
	h.put(e)
	h.mu.Unlock()
	h.changes.Tell()
}

// put numbers and stores an event. The caller holds mu.
func (h *Hub) put(e Event) {
	if h.ended {
		h.log.Debug("event told after the end of its hub", "event", e.Name)
		return
	}
	h.seq++
	e.Seq = h.seq
	if e.told.Epoch == "" {
		e.told = Mark{h.epoch, e.Seq}
	}
	h.recent = append(h.recent, e)
	if h.bytes += e.size(); len(h.recent) >= 2*kept || h.bytes > keptBytes {
		h.recent = slices.Clone(h.recent[len(h.recent)/2:])
		h.bytes = size(h.recent)
	}
	switch e.class {
	case State:
		h.keep(e)
	case Record:
		if id := e.id(); id != "" {
			h.lastRecords[e.Name] = id
		}
	case Moment:
	}
}

func (h *Hub) keep(e Event) {
	key := e.key()
	if _, ok := h.states[key]; ok {
		h.order = slices.DeleteFunc(h.order, func(k string) bool { return k == key })
		delete(h.states, key)
	}
	if !e.Gone {
		h.states[key] = e
		h.order = append(h.order, key)
	}
}

// Latest returns the latest event of each state, oldest first, and the number of
// the newest event. A mirror that is away returns only its LinkEvent.
func (h *Hub) Latest() (states []Event, seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range h.order {
		if e := h.states[key]; h.shows(e) {
			states = append(states, e)
		}
	}
	return states, h.seq
}

func (h *Hub) shows(e Event) bool { return !h.away || e.Name == LinkEvent }

// State returns the latest event of a state, of a room or a channel where the kind
// has them; false where there is none, or it may be out of date.
func (h *Hub) State(name, room, channel string) (Event, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, ok := h.states[Event{Name: name, Room: room, Channel: channel}.key()]
	return e, ok && h.shows(e)
}

// Mark returns the position of the newest event. Data read after this call includes
// everything that the events up to it announced.
func (h *Hub) Mark() Mark {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Mark{h.epoch, h.seq}
}

// Reached reports whether all events up to a mark of the station's hub are here.
func (h *Hub) Reached(m Mark) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	here := h.heard
	if here.Epoch == "" {
		here = Mark{h.epoch, h.seq}
	}
	return here.Epoch == m.Epoch && here.Seq >= m.Seq
}

// Away reports whether this is a mirror that does not hear the station.
func (h *Hub) Away() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.away
}

// After returns the events after a number, oldest first; false when some of them are
// no longer kept, or the number is of another epoch.
func (h *Hub) After(seq uint64) ([]Event, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	missed := h.seq - seq
	if seq > h.seq || missed > uint64(len(h.recent)) {
		return nil, false
	}
	return slices.Clone(h.recent[uint64(len(h.recent))-missed:]), true
}

// Subscribe signals new events; several may cause one signal.
func (h *Hub) Subscribe() (told <-chan struct{}, cancel func()) { return h.changes.Subscribe() }
