// Package events numbers what happens at the station and keeps it for a while,
// so that whoever follows misses nothing: the control plane tells a Hub, edges
// on other machines keep a mirror of it (Follower), and both look the same to
// those who send events on to clients.
//
// Telling waits for nobody. A follower that falls behind reads on from where it
// was; one that was away too long begins again from the latest states.
package events

import (
	"encoding/json"
	"fmt"
)

// Class says what a follower needs of an event that it missed.
type Class int

// The classes.
const (
	// Moment is worth nothing later.
	Moment Class = iota
	// State is replaced by the next of its kind: the latest is all one needs.
	State
	// Record is kept by whoever made it under an id, and must reach everyone once.
	Record
)

// Kind is one row of the table of events from server to client.
type Kind struct {
	Name  string
	Class Class
	// Roomed events go to those in the room that the payload names.
	Roomed bool
	Says   string // for the documentation
}

// Kinds is the mission's table of events from server to client (Events), then
// ours.
func Kinds() []Kind {
	return []Kind{
		{"status", State, false, "What is on air: on join, on every change of track, and when the way it is heard changes"},
		{"new_comment", Record, false, "A comment was posted"},
		{"interaction", State, false, "A listener voted on the vibe"},
		{"message", Record, true, "A message in a chat room, the station's welcome included"},
		{"stream_error", Moment, false, "The live audio pipeline failed"},
		{"stats_update", State, false, "Listeners and bandwidth, with a bounded history"},
		{"timeline_update", State, false, "The queue: what comes next"},

		{"reactions", State, false, "Reactions of listeners: all counts, and what is new since the last"},
		{"votes", State, false, "Votes on the queue"},
		{"message_reaction", Moment, true, "Reactions to a chat message"},
		{"message_deleted", Moment, false, "A message or a comment was taken away"},
		{"chat_state", State, true, "A chat room's rules"},
		{"presence", State, false, "Who is connected, and who is in which chat room"},
		{"alert", State, false, "Dead air was noticed, or is over"},
	}
}

// Comments is the room that everybody is in.
const Comments = "comments"

// Event is one thing that happened.
type Event struct {
	Seq     uint64          `json:"seq"` // from 1, without holes
	Name    string          `json:"name"`
	Room    string          `json:"room,omitempty"` // only for those in this chat room
	Payload json.RawMessage `json:"payload"`

	class Class
}

// key names what a state event replaces.
func (e Event) key() string { return e.Name + " " + e.Room }

// size is what an event weighs on the bus and in memory, in bytes.
func (e Event) size() int { return len(e.Payload) + 64 }

// id is the record's own, by which it is found again in its owner's storage.
func (e Event) id() string {
	var p struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(e.Payload, &p) // a record without one cannot be asked for
	return p.ID
}

// table is Kinds by name.
type table map[string]Kind

func newTable() table {
	t := table{}
	for _, k := range Kinds() {
		t[k.Name] = k
	}
	return t
}

// event makes one of a kind.
func (t table) event(name string, payload any) (Event, error) {
	k, ok := t[name]
	if !ok {
		return Event{}, fmt.Errorf("event %q is not in the table", name)
	}
	data, err := json.Marshal(payload)
	if err != nil {
		return Event{}, fmt.Errorf("event %s: %w", name, err)
	}
	e := Event{Name: name, Payload: data, class: k.Class}
	if k.Roomed {
		var p struct {
			Room string `json:"room"`
		}
		if err := json.Unmarshal(data, &p); err != nil || p.Room == "" {
			return Event{}, fmt.Errorf("event %s names no room", name)
		}
		if e.Room = p.Room; p.Room == Comments {
			e.Room = ""
		}
	}
	return e, nil
}
