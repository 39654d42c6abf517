// Package events numbers the station's events and keeps the newest, so that readers
// miss nothing: the control plane publishes to a Hub, edges on other machines keep
// a mirror of it (Follower), and both look the same to code that sends events on
// to clients.
//
// Publishing never waits. A follower that falls behind reads on from where it was;
// one that was away too long begins again from the latest states; while it is away
// it says so, and shows no states.
package events

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/athir-radio/athir/internal/station"
)

// Class says what a follower needs when it has missed an event.
type Class int

// The classes.
const (
	// Moment is worth nothing later.
	Moment Class = iota
	// State is replaced by the next event of its kind: the latest is enough.
	State
	// Record is stored by its owner under an id, and must reach everyone once.
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
	// as channel; those of the main channel go to everyone.
	Channelled
	// Inside events go to edges and to no client. It must stay the last scope.
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
		{"requests", State, Everyone, "Listeners' requests: what waits, and what aired of late"},
		{"social_post", Moment, Everyone, "A listener's post may air, has changed, is on the air, is put to the vote, or is taken away"},
		{"social_queue", State, Everyone, "How many listeners' posts wait for a moderator"},
		{"message_reaction", Moment, Roomed, "Reactions to a chat message"},
		{MessageDeleted, Moment, Everyone, "A message or a comment was taken away"},
		{"chat_state", State, Roomed, "A chat room's rules"},
		{"presence", State, Everyone, "Who is connected, and who is in which chat room"},
		{"alert", State, Everyone, "Dead air was noticed, or is over"},
		{LinkEvent, State, Everyone, "Whether this server hears the station: while it does not, what it said before may be old"},
	}
}

// Names of events that other packages use too.
const (
	// MessageDeleted is about a room, but goes to everyone.
	MessageDeleted = "message_deleted"
	// LinkEvent is published by followers only.
	LinkEvent = "link"
	// Banned goes to edges: the client it names leaves every chat room.
	Banned = "banned"
)

// inside returns the kinds that only edges get.
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
	// By are the banned client's keys: one that matches is enough.
	By []string `json:"by"`
}

// Comments is the room that everybody is in.
const Comments = "comments"

// Mark is a position in one hub's events: everything up to Seq.
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
	Gone    bool            `json:"gone,omitempty"`    // withdraws the state: later clients do not get it
	Payload json.RawMessage `json:"payload"`

	class  Class
	inside bool
	told   Mark // position in the publisher's hub; Seq 0 where it is not known
}

// Inside reports whether the event is for edges only.
func (e Event) Inside() bool { return e.inside }

// Record reports whether the event is of class Record.
func (e Event) Record() bool { return e.class == Record }

// Before reports whether the event is known to be no newer than a mark that its
// source has reached: it comes from before the mark, or from an earlier epoch.
func (e Event) Before(m Mark) bool {
	return e.told.Seq > 0 && (e.told.Epoch != m.Epoch || e.told.Seq <= m.Seq)
}

// Replaces names what a state event takes the place of: the event of the same key
// before it. It is false for events of other classes.
func (e Event) Replaces() (key string, is bool) { return e.key(), e.class == State }

// key names what a state event replaces.
func (e Event) key() string { return e.Name + " " + e.Room + " " + e.Channel }

// size estimates an event's bytes on the bus and in memory.
func (e Event) size() int { return len(e.Payload) + 64 }

// id returns a record's id, by which its owner's storage finds it.
func (e Event) id() string {
	var p struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(e.Payload, &p) // a record without one cannot be asked for
	return p.ID
}

// table holds all kinds by name.
type table map[string]Kind

func newTable() table {
	t := table{}
	for _, k := range append(Kinds(), inside()...) {
		t[k.Name] = k
	}
	return t
}

// heeded returns the names of records in the order in which an edge should get
// them: bans first, so that a banned client does not hear the messages after them.
func (t table) heeded(records map[string]string) []string {
	return slices.SortedFunc(maps.Keys(records), func(a, b string) int {
		return cmp.Or(cmp.Compare(t[b].Scope, t[a].Scope), cmp.Compare(a, b))
	})
}

// event makes an event of a kind, with its payload encoded.
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
		// A payload without a channel is the main channel's.
		if err := json.Unmarshal(data, &p); err == nil && p.Channel != station.MainChannel {
			e.Channel = p.Channel
		}
	case Everyone, Inside:
	}
	return e, nil
}
