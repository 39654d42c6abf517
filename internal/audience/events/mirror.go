package events

import (
	"slices"
	"time"
)

// What a hub does that mirrors another.

// reach takes note of how far the other is known.
func (h *Hub) reach(m Mark) {
	h.mu.Lock()
	h.heard = m
	h.mu.Unlock()
	h.changes.Tell() // whoever waits for a mark that brought no event
}

// retain forgets the states that the other does not have: they were those of one
// that is no more.
func (h *Hub) retain(all []Event) {
	there := map[string]bool{Event{Name: LinkEvent}.key(): true}
	for _, e := range all {
		there[e.key()] = true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.order = slices.DeleteFunc(h.order, func(key string) bool {
		if !there[key] {
			delete(h.states, key)
		}
		return !there[key]
	})
}

// leave says that nothing is heard of the other any more, and shows no state
// until it is back: what was true then is not known to be true.
func (h *Hub) leave(last time.Time) {
	h.mu.Lock()
	if h.away {
		h.mu.Unlock()
		return
	}
	h.away = true
	h.link(Link{Up: false, Since: last.UnixMilli()})
	h.mu.Unlock()
	h.changes.Tell()
}

// comeBack ends that. All states are told again, but those told after a number:
// whoever has come meanwhile knows none.
func (h *Hub) comeBack(from uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.away {
		return
	}
	h.away = false
	h.link(Link{Up: true, Since: time.Now().UnixMilli()})
	for _, key := range slices.Clone(h.order) {
		if e := h.states[key]; e.Seq <= from && e.Name != LinkEvent {
			h.put(e)
		}
	}
	h.changes.Tell()
}

// link needs mu.
func (h *Hub) link(l Link) {
	e, err := h.table.event(LinkEvent, l)
	if err != nil {
		h.log.Error("event not published", "event", LinkEvent, "err", err)
		return
	}
	h.put(e)
}
