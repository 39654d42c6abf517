// Package events numbers what happens at the station and keeps it for a while,
// so that whoever follows misses nothing: the control plane tells a Hub, edges
// on other machines keep a mirror of it (Follower), and both look the same to
// those who send events on to clients.
//
// Telling waits for nobody. A follower that falls behind reads on from where it
// was; one that was away too long begins again from the latest states; and one
// that is away for long says so, and shows none of them.
package events

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/athir-radio/athir/internal/station"
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

// Scope says whom an event is for.
type Scope int

// The scopes.
const (
	Everyone Scope = iota
	// Roomed events go to those in the chat room that the payload names as room.
	Roomed
	// Channelled events go to those who follow the channel that the payload names
	// as channel; the main one's to everyone.
	Channelled
	// Inside is what edges are told, and no client. It is the last.
	Inside
)

// Kind is one row of the table of events from server to client.
type Kind struct {
	Name  string
	Class Class
	Scope Scope
	Says  string // for the documentation
}

// Kinds is the mission's table of events from server to client (Events), then
// ours.
func Kinds() []Kind {
	return []Kind{
		{"status", State, Channelled, "What is on air: on join, on every change of track, and when the way it is heard changes; of a channel beside main to those who joined it"},
		{"new_comment", Record, Everyone, "A comment was posted"},
		{"interaction", State, Everyone, "A listener voted on the vibe"},
		{"message", Record, Roomed, "A message in a chat room, the station's welcome included"},
		{"stream_error", Moment, Everyone, "The live audio pipeline failed"},
		{"stats_update", State, Everyone, "Listeners and bandwidth, with a bounded history"},
		{"timeline_update", State, Everyone, "The queue: what comes next"},

		{"reactions", State, Everyone, "Reactions of listeners: all counts, and what is new since the last"},
		{"votes", State, Everyone, "Votes on the queue"},
		{"message_reaction", Moment, Roomed, "Reactions to a chat message"},
		{MessageDeleted, Moment, Everyone, "A message or a comment was taken away"},
		{"chat_state", State, Roomed, "A chat room's rules"},
		{"presence", State, Everyone, "Who is connected, and who is in which chat room"},
		{"alert", State, Everyone, "Dead air was noticed, or is over"},
		{LinkEvent, State, Everyone, "Whether this server hears the station: while it does not, what it said before may be old"},
	}
}

// Names that others than their tellers know.
const (
	// MessageDeleted is about a room, and told to everyone.
	MessageDeleted = "message_deleted"
	// LinkEvent is told by followers alone.
	LinkEvent = "link"
	// Banned is told to edges: whoever it names leaves every chat room.
	Banned = "banned"
)

// inside are the kinds for edges alone.
func inside() []Kind {
	return []Kind{{Banned, Record, Inside, "Somebody may not be in chat rooms any more"}}
}

// Link is the payload of LinkEvent.
type Link struct {
	Up    bool  `json:"up"`
	Since int64 `json:"since" doc:"Epoch milliseconds at which the station was last heard, or is heard again"`
}

// BannedPayload is the payload of Banned.
type BannedPayload struct {
	ID string `json:"id"` // of the ban
	// By are the keys of whom it is about: one of them is enough.
	By []string `json:"by"`
}

// Comments is the room that everybody is in.
const Comments = "comments"

// Mark is a place in the events of one hub: those up to a number.
type Mark struct {
	Epoch string `json:"epoch"`
	Seq   uint64 `json:"seq"`
}

// Event is one thing that happened.
type Event struct {
	Seq     uint64          `json:"seq"` // from 1, without holes
	Name    string          `json:"name"`
	Room    string          `json:"room,omitempty"`    // only for those in this chat room
	Channel string          `json:"channel,omitempty"` // only for those who follow this channel
	Gone    bool            `json:"gone,omitempty"`    // the last of its state: who comes later is not told
	Payload json.RawMessage `json:"payload"`

	class  Class
	inside bool
	told   Mark // where its teller told it; no number where that is not known
}

// Inside reports whether it is for edges alone.
func (e Event) Inside() bool { return e.inside }

// Record reports whether it is of that class.
func (e Event) Record() bool { return e.class == Record }

// Before reports whether an event is known to be no newer than a mark that its
// source has reached: told before it, or by a teller before that one.
func (e Event) Before(m Mark) bool {
	return e.told.Seq > 0 && (e.told.Epoch != m.Epoch || e.told.Seq <= m.Seq)
}

// key names what a state event replaces.
func (e Event) key() string { return e.Name + " " + e.Room + " " + e.Channel }

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

// table is all kinds by name.
type table map[string]Kind

func newTable() table {
	t := table{}
	for _, k := range append(Kinds(), inside()...) {
		t[k.Name] = k
	}
	return t
}

// heeded are the names of records in the order in which an edge should have them:
// whom it has to put out must not hear what comes with that.
func (t table) heeded(records map[string]string) []string {
	return slices.SortedFunc(maps.Keys(records), func(a, b string) int {
		return cmp.Or(cmp.Compare(t[b].Scope, t[a].Scope), cmp.Compare(a, b))
	})
}

// event makes one of a kind.
func (t table) event(name string, payload any) (Event, error) {
	k, ok := t[name]
	if !ok {
		return Event{}, fmt.Errorf("event %q is not in the table", name)
	}
	data, err := Encode(payload)
	if err != nil {
		return Event{}, fmt.Errorf("encode event %s: %w", name, err)
	}
	e := Event{Name: name, Payload: data, class: k.Class, inside: k.Scope == Inside}
	var p struct {
		Room    string `json:"room"`
		Channel string `json:"channel"`
	}
	switch k.Scope {
	case Roomed:
		if err := json.Unmarshal(data, &p); err != nil || p.Room == "" {
			return Event{}, fmt.Errorf("event %s names no room", name)
		}
		if p.Room != Comments {
			e.Room = p.Room
		}
	case Channelled:
		// A payload that names none is the main one's.
		if err := json.Unmarshal(data, &p); err == nil && p.Channel != station.MainChannel {
			e.Channel = p.Channel
		}
	case Everyone, Inside:
	}
	return e, nil
}
