package events

import (
	"slices"
	"time"
)

// The methods of a hub that mirrors another.

// reach notes the position that the mirror has reached in the other hub.
func (h *Hub) reach(m Mark) {
	h.mu.Lock()
	h.heard = m
	h.mu.Unlock()
	h.changes.Tell() // for waiters on a mark that brought no event
}

// retain drops the states that the other hub does not have: they come from an
// earlier epoch.
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

// leave announces that the other hub is not heard, and hides all states until it is
// back, because they may be out of date.
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

// comeBack ends leave. It publishes all states again, except those newer than from:
// clients that connected meanwhile have none.
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

// link publishes a LinkEvent. The caller holds mu.
func (h *Hub) link(l Link) {
	e, err := h.table.event(LinkEvent, l)
	if err != nil {
		h.log.Error("event not published", "event", LinkEvent, "err", err)
		return
	}
	h.put(e)
}
