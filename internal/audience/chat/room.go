package chat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat/attach"
	"github.com/athir-radio/athir/internal/kit/emoji"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// History is how many messages a newcomer gets.
	History = 50
	// CrowdedRoom is the number of members above which only the newcomer sees a welcome.
	CrowdedRoom = 50
	// At most this many welcomes are shown to a whole room; further newcomers see
	// theirs alone.
	welcomesAtOnce, welcomeEvery = 5, 2 * time.Second
	// mostEmoji bounds the different emoji of a message, mostReactions its
	// reactions in all.
	mostEmoji, mostReactions = 20, 2000
	// longestList bounds the messages in one answer.
	longestList = 200
)

// JoinIn is what a client sends as join.
type JoinIn struct {
	Name string `json:"name"`
	Room string `json:"room"`
}

// JoinOut is the answer to it.
type JoinOut struct {
	Room    string    `json:"room"`
	Name    string    `json:"name" doc:"As it was understood: send it as user with each message"`
	History []Message `json:"history" nullable:"false" doc:"The last messages, newest last"`
	State   State     `json:"state"`
	Members int       `json:"members"`
	// Welcome is for the newcomer alone; when absent, the whole room got it.
	Welcome *Message `json:"welcome,omitempty"`
}

// Join decides whether a client may enter a room, and returns the room's history and
// rules. The edge then lets it in, unless it is banned meanwhile: see Keys.
// Errors: station.ErrInvalid, ErrNotFound, ErrForbidden, *client.LimitError.
func (c *Chat) Join(ctx context.Context, from Client, in JoinIn) (JoinOut, error) {
	rules := c.rules.Load() // before all else: events sent after this are newer
	if err := checkIDs(from, ""); err != nil {
		return JoinOut{}, err
	}
	room, err := c.room(in.Room)
	if err != nil {
		return JoinOut{}, err
	}
	if err := c.budgets.joins.take(from); err != nil {
		return JoinOut{}, err
	}
	name, err := c.name(from, room.ID, in.Name)
	if err != nil {
		return JoinOut{}, err
	}
	mine := c.author(from)
	s, found := rules.against(mine, c.opt.Now().UnixMilli())
	if found && s.Kind == ban && !from.Staff {
		return JoinOut{}, s.refusal()
	}
	out := JoinOut{Room: room.ID, Name: name, State: rules.state(room.ID)}
	if c.opt.Members != nil {
		out.Members = c.opt.Members(room.ID)
	}
	if out.History, err = c.history(ctx, room.ID, mine, 0, History); err != nil {
		return JoinOut{}, err
	}
	c.greet(&out, room, found)
	return out, nil
}

// greet welcomes a newcomer, before the whole room unless that would flood it.
func (c *Chat) greet(out *JoinOut, room Room, quietly bool) {
	if c.opt.Welcome == "" {
		return
	}
	text := strings.NewReplacer("{name}", out.Name, "{room}", room.Name).Replace(c.opt.Welcome)
	m := Message{User: c.opt.Station, Text: text, Room: room.ID, Type: "admin", At: c.opt.Now().UnixMilli()}
	if quietly || out.Members > CrowdedRoom || c.welcomes.Take(room.ID) != nil {
		out.Welcome = &m
		return
	}
	c.opt.Tell("message", m)
}

// RoomOut is a room as it is listed.
type RoomOut struct {
	Name string `json:"name"`
	State
	Members int `json:"members"`
}

// Rooms lists the rooms in their order.
func (c *Chat) Rooms() []RoomOut {
	out := make([]RoomOut, len(c.opt.Rooms))
	for i, r := range c.opt.Rooms {
		out[i] = RoomOut{Name: r.Name, State: c.rules.Load().state(r.ID)}
		if c.opt.Members != nil {
			out[i].Members = c.opt.Members(r.ID)
		}
	}
	return out
}

// CommentsState returns the rules of the comments.
func (c *Chat) CommentsState() State { return c.rules.Load().state(Comments) }

// Messages returns a room's messages before an id (empty: the newest), newest last.
// Errors: station.ErrNotFound, ErrInvalid.
func (c *Chat) Messages(ctx context.Context, room, before string, limit int) ([]Message, error) {
	r, err := c.room(room)
	if err != nil {
		return nil, err
	}
	id, err := optional(before, false)
	if err != nil {
		return nil, err
	}
	return c.history(ctx, r.ID, author{}, id, limit)
}

// optional reads an id that may be left out.
func optional(name string, comment bool) (int64, error) {
	if name == "" {
		return 0, nil
	}
	id, isComment, err := parse(name)
	if err == nil && isComment != comment {
		err = fmt.Errorf("%s: is not an id of this list: %w", clip(name), station.ErrInvalid)
	}
	return id, err
}

// history returns messages. Hidden ones are included for the device that wrote them,
// not for its address, which a whole mobile network may share.
func (c *Chat) history(ctx context.Context, room string, mine author, before int64, limit int) ([]Message, error) {
	all, err := lines(ctx, c.opt.DB.Read(), `room = ? AND (? = 0 OR id < ?) AND (state = 0 OR (state = 1 AND CASE WHEN device IS NULL THEN address = ? ELSE device = ? END))
		ORDER BY id DESC LIMIT ?`, room, before, before, mine.address, mine.device, clamp(limit))
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	slices.Reverse(all)
	counts, err := reactionsOf(ctx, c.opt.DB.Read(), all)
	if err != nil {
		return nil, fmt.Errorf("read reactions: %w", err)
	}
	out := make([]Message, len(all))
	for i := range all {
		out[i] = all[i].message(counts[all[i].id])
	}
	return out, nil
}

func clamp(limit int) int { return min(max(limit, 1), longestList) }

// CommentsAfter returns the comments after an id, oldest first; for an empty id the
// newest ones, newest last. Errors: station.ErrInvalid.
func (c *Chat) CommentsAfter(ctx context.Context, after string, limit int) ([]Comment, error) {
	id, err := optional(after, true)
	if err != nil {
		return nil, err
	}
	var all []line
	if after == "" {
		all, err = lines(ctx, c.opt.DB.Read(), `room = ? AND state = 0 ORDER BY id DESC LIMIT ?`, Comments, clamp(limit))
		slices.Reverse(all)
	} else {
		all, err = lines(ctx, c.opt.DB.Read(), `room = ? AND id > ? AND state = 0 ORDER BY id LIMIT ?`, Comments, id, clamp(limit))
	}
	if err != nil {
		return nil, fmt.Errorf("read comments: %w", err)
	}
	out := make([]Comment, len(all))
	for i := range all {
		out[i] = all[i].comment()
	}
	return out, nil
}

func mimeOf(media string) string {
	k, _ := attach.ParseName(media)
	return k.MIME
}

// ReactIn is what a client sends as reaction.
type ReactIn struct {
	MsgID string `json:"msgId"`
	Emoji string `json:"emoji"`
	User  string `json:"user,omitempty"` // not kept
	On    *bool  `json:"on,omitempty"`   // false takes the reaction back; reacting twice counts once
	ID    string `json:"id,omitempty"`   // not needed: the same reaction again changes nothing
}

// Reacted is the answer to it.
type Reacted struct {
	Counts map[string]int `json:"counts" doc:"How often each emoji"`
}

// Reaction is the payload of message_reaction.
type Reaction struct {
	MsgID  string         `json:"msgId"`
	Room   string         `json:"room"`
	Emoji  string         `json:"emoji"`
	Count  int            `json:"count" doc:"Of this emoji; 0 when it was taken back"`
	Counts map[string]int `json:"counts" doc:"Of all emoji"`
}

// React sets or takes back one client's reaction to a message. Errors:
// station.ErrInvalid, ErrNotFound, ErrForbidden, ErrConflict (the message has
// too many already), *client.LimitError.
func (c *Chat) React(ctx context.Context, from Client, in ReactIn) (Reacted, error) {
	if err := checkIDs(from, in.ID); err != nil {
		return Reacted{}, err
	}
	face, ok := emoji.Full(in.Emoji)
	if !ok {
		return Reacted{}, invalid("emoji", "must be one emoji")
	}
	if _, comment, err := parse(in.MsgID); err != nil || comment {
		return Reacted{}, errors.Join(err, fmt.Errorf("msgId: must be the id of a message: %w", station.ErrInvalid))
	}
	if err := c.budgets.reactions.take(from); err != nil {
		return Reacted{}, err
	}
	var out Reacted
	err := c.write(ctx, func(w *writer) (err error) {
		out.Counts, err = w.react(c, from, in, face)
		return err
	})
	return out, err
}

func (w *writer) react(c *Chat, from Client, in ReactIn, face string) (map[string]int, error) {
	l, err := find(w.ctx, w.tx, in.MsgID)
	me := c.author(from)
	own := l.state == hidden && bytes.Equal(l.author.reactor(), me.reactor())
	if err == nil && l.state != shown && !own {
		err = fmt.Errorf("%s: %w", clip(in.MsgID), station.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	as := line{room: l.room, staff: from.Staff, author: me}
	if err := c.allowed(w.rules, &as); err != nil {
		return nil, err
	}
	counts := w.counts(l)
	on := in.On == nil || *in.On
	total := 0
	for _, n := range counts {
		total += n
	}
	switch {
	case as.state == hidden || own:
		if on { // pretend to a muted client that it counted
			counts[face]++
		}
		return counts, w.failed()
	case on && (total >= mostReactions || (counts[face] == 0 && len(counts) >= mostEmoji)):
		return nil, fmt.Errorf("this message cannot take more reactions: %w", station.ErrConflict)
	}
	query := `DELETE FROM chat_reactions WHERE line = ? AND emoji = ? AND who = ?`
	if on {
		query = `INSERT INTO chat_reactions (line, emoji, who) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	}
	if n, _ := w.exec(query, l.id, face, me.reactor()).RowsAffected(); n > 0 {
		counts = w.counts(l)
		w.later("message_reaction", Reaction{MsgID: l.name(), Room: l.room, Emoji: face, Count: counts[face], Counts: counts})
	}
	return counts, w.failed()
}

func (w *writer) counts(l line) map[string]int {
	if w.err != nil {
		return map[string]int{}
	}
	all, err := reactionsOf(w.ctx, w.tx, []line{l})
	w.err = err
	if all[l.id] == nil {
		return map[string]int{}
	}
	return all[l.id]
}
