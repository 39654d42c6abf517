package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// What a hub or a mirror hands to the process that replaces its own, so that numbers
// go on in the same epoch and nobody who follows notices.

// savedVersion is that of the forms below: Load takes no other.
const savedVersion = 1

// savedBytes bounds the events of a saved hub; the oldest are left out.
const savedBytes = 16 << 20

// savedHub is a hub as it is saved.
type savedHub struct {
	Version int               `json:"version"`
	Epoch   string            `json:"epoch"`
	Seq     uint64            `json:"seq"`
	Recent  []savedEvent      `json:"recent"`
	States  []savedEvent      `json:"states"` // oldest first
	Records map[string]string `json:"records,omitempty"`
	Heard   Mark              `json:"heard"`
	Away    bool              `json:"away,omitempty"`
}

// savedEvent is an event with what the bus does not carry.
type savedEvent struct {
	Event
	Told Mark `json:"told"`
}

func save(all []Event) []savedEvent {
	out := make([]savedEvent, len(all))
	for i, e := range all {
		out[i] = savedEvent{e, e.told}
	}
	return out
}

// restore gives events back their class and scope.
func (t table) restore(all []savedEvent) ([]Event, error) {
	out := make([]Event, len(all))
	for i, s := range all {
		k, ok := t[s.Name]
		if !ok {
			return nil, fmt.Errorf("event %q is not in the table", s.Name)
		}
		out[i] = s.Event
		out[i].class, out[i].inside, out[i].told = k.Class, k.Scope == Inside, s.Told
	}
	return out, nil
}

// Save returns the hub's epoch, number, newest events and states for Load, and ends
// the hub: what is told from now on is dropped, for its number would be that of another
// event in the next process.
func (h *Hub) Save() ([]byte, error) { return json.Marshal(h.saved()) }

func (h *Hub) saved() savedHub {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	recent, bytes := h.recent, 0
	for i, e := range slices.Backward(recent) {
		if bytes += e.size(); bytes > savedBytes {
			recent = recent[i+1:]
			break
		}
	}
	states := make([]Event, 0, len(h.order))
	for _, key := range h.order {
		states = append(states, h.states[key])
	}
	return savedHub{
		Version: savedVersion, Epoch: h.epoch, Seq: h.seq, Recent: save(recent), States: save(states),
		Records: maps.Clone(h.lastRecords), Heard: h.heard, Away: h.away,
	}
}

// Load takes what another hub saved in the place of what this one has, which nobody
// may follow yet. On an error nothing is changed. One that has ended tells events again.
func (h *Hub) Load(data []byte) error {
	var in savedHub
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("read saved events: %w", err)
	}
	return h.load(in)
}

func (h *Hub) load(in savedHub) error {
	if in.Version != savedVersion {
		return fmt.Errorf("saved events are of version %d, not %d", in.Version, savedVersion)
	}
	recent, err := h.table.restore(in.Recent)
	if err != nil {
		return fmt.Errorf("read saved events: %w", err)
	}
	states, err := h.table.restore(in.States)
	if err != nil {
		return fmt.Errorf("read saved states: %w", err)
	}
	for i, e := range recent {
		if e.Seq == 0 || e.Seq+uint64(len(recent)-1-i) != in.Seq {
			return errors.New("saved events have holes")
		}
	}
	byKey, order := map[string]Event{}, make([]string, 0, len(states))
	for _, e := range states {
		if e.class != State || e.Seq > in.Seq || byKey[e.key()].Seq > 0 {
			return fmt.Errorf("saved state %s cannot be one", e.Name)
		}
		byKey[e.key()] = e
		order = append(order, e.key())
	}
	if in.Epoch == "" {
		return errors.New("saved events have no epoch")
	}
	h.mu.Lock()
	h.epoch, h.seq, h.recent, h.bytes = in.Epoch, in.Seq, recent, size(recent)
	h.states, h.order, h.heard, h.away, h.ended = byKey, order, in.Heard, in.Away, false
	h.lastRecords = map[string]string{}
	maps.Copy(h.lastRecords, in.Records)
	h.mu.Unlock()
	h.changes.Tell()
	return nil
}

// Begin notes the newest records that the storage has as the hub begins.
func (h *Hub) Begin(records map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastRecords = maps.Clone(records)
}

// Current reports whether these are the newest records that were told: when the
// storage has others, events that were saved are not the whole truth.
func Current(saved []byte, records map[string]string) bool {
	var in savedHub
	return json.Unmarshal(saved, &in) == nil && maps.Equal(in.Records, records)
}

// savedFollower is a mirror as it is saved.
type savedFollower struct {
	savedHub
	From   Mark              `json:"from"` // position in the other hub
	Newest map[string]string `json:"newest"`
	Seen   []string          `json:"seen"`
}

// Save is the hub's Save for a mirror, once Run has returned: the next process goes on
// with the same numbers and asks the other hub for what it missed meanwhile.
func (f *Follower) Save() ([]byte, error) {
	return json.Marshal(savedFollower{f.saved(), Mark{f.epoch, f.seq}, f.newest, f.seen.next})
}

// Load takes what another mirror saved, before Run.
func (f *Follower) Load(data []byte) error {
	var in savedFollower
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("read saved events: %w", err)
	}
	if len(in.Seen) > kept {
		return fmt.Errorf("saved events name %d records, at most %d can be", len(in.Seen), kept)
	}
	if err := f.load(in.savedHub); err != nil {
		return err
	}
	f.epoch, f.seq = in.From.Epoch, in.From.Seq
	f.newest, f.seen = map[string]string{}, recently{}
	maps.Copy(f.newest, in.Newest)
	for _, key := range in.Seen {
		f.seen.add(key)
	}
	return nil
}
