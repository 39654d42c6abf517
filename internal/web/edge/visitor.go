package edge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/socket"
)

const (
	// mostWaiting is how many asks of one client may wait for their answers.
	mostWaiting = 32
	// patience bounds one ask.
	patience = 15 * time.Second
	// longestRoom is the longest name of a room, in bytes.
	longestRoom = 64
	// mostRooms is how many chat rooms one client may be in.
	mostRooms = 16
	// mostChunk bounds one chunk of live audio, in bytes: seconds of any codec.
	mostChunk = 256 << 10
)

// answer is the object that a client's acknowledgement gets.
type answer = json.RawMessage

// visitor is one connection.
type visitor struct {
	*socket.Socket
	from Client

	mu      sync.Mutex
	waiting []func() // asks in their order; the first is under way
}

// handshake is what a client shows as it connects.
type handshake struct {
	Key    string `json:"key"`
	Device string `json:"device"`
}

// connected lets a client in. Without a key it is a listener; with a wrong one
// it is refused, so that nobody believes to be on the desk who is not.
func (e *Edge) connected(s *socket.Socket) error {
	var shown handshake
	if auth := s.Handshake().Auth; len(auth) > 0 && string(auth) != "null" {
		if err := json.Unmarshal(auth, &shown); err != nil {
			return &socket.ConnectError{Message: "auth: must be an object {key, device}"}
		}
	}
	v := &visitor{Socket: s, from: Client{Address: s.Handshake().ClientKey, Socket: s.ID()}}
	if DeviceOK(shown.Device) {
		v.from.Device = shown.Device
	}
	if shown.Key != "" {
		staff, err := e.opt.Staff(shown.Key, v.from.Address)
		if err != nil {
			return &socket.ConnectError{Message: err.Error()}
		}
		if !staff {
			return &socket.ConnectError{Message: "auth.key: is not the station key"}
		}
		v.from.Staff = true
	}
	s.Data = v
	return nil
}

// DeviceOK reports whether an id is one that a browser of ours could have made:
// 8 to 64 of A-Z a-z 0-9 _ -.
func DeviceOK(id string) bool {
	if len(id) < 8 || len(id) > 64 {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
}

// left: the transport has taken it out of its rooms, and what it asked is
// carried out.
func (e *Edge) left(s *socket.Socket) {
	if v, ok := s.Data.(*visitor); ok && v.from.Staff {
		e.goneStaff(v.from)
	}
}

// unknown answers what is in no table.
func (e *Edge) unknown(_ *socket.Socket, ev *socket.Event) {
	e.reply(ev, e.opt.Refused(fmt.Errorf("event %q: %w", short([]byte(ev.Name)), station.ErrNotFound)))
}

// reply acknowledges, where the client wants it.
func (e *Edge) reply(ev *socket.Event, a answer) {
	if err := ev.Ack(a); err != nil {
		e.opt.Log.Warn("answer not sent", "event", ev.Name, "err", err)
	}
}

// goneStaff ends the live audio of a desk that is gone.
func (e *Edge) goneStaff(from Client) {
	e.open.Go(func() {
		ctx, cancel := context.WithTimeout(e.ctx, patience)
		defer cancel()
		e.opt.Desk.Do(ctx, Ask{Event: "stop_stream", From: from, Body: json.RawMessage(`{"gone":true}`)})
	})
}

// asked takes an event of a client. One client's asks are carried out one after
// another; the connection goes on meanwhile.
func (e *Edge) asked(row Row, s *socket.Socket, ev *socket.Event) {
	v, ok := s.Data.(*visitor)
	if !ok {
		return
	}
	ask, err := read(row, v.from, ev)
	if err == nil && row.staff && !v.from.Staff {
		err = fmt.Errorf("%s: show the station key as auth.key: %w", row.Event, station.ErrUnauthentic)
	}
	if err != nil {
		e.reply(ev, e.opt.Refused(err))
		return
	}
	do := func() {
		if row.here != nil {
			e.reply(ev, row.here(e, v, ask))
			return
		}
		e.reply(ev, e.ask(ask))
	}
	if err := e.queue(v, do); err != nil {
		e.reply(ev, e.opt.Refused(err))
	}
}

func read(row Row, from Client, ev *socket.Event) (Ask, error) {
	ask := Ask{Event: row.Event, From: from}
	if row.audio {
		if len(ev.Attachments) != 1 || len(ev.Attachments[0]) > mostChunk {
			return ask, fmt.Errorf("audio_data: send one binary chunk of at most %d bytes: %w", mostChunk, station.ErrInvalid)
		}
		ask.Audio = ev.Attachments[0]
		return ask, nil
	}
	if len(ev.Attachments) > 0 {
		return ask, fmt.Errorf("%s: takes no binary data: %w", row.Event, station.ErrInvalid)
	}
	if len(ev.Args) > 0 {
		ask.Body = ev.Args[0]
	}
	return ask, nil
}

// queue carries out what a client asks after what it asked before.
func (e *Edge) queue(v *visitor, do func()) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.waiting) >= mostWaiting {
		return &client.LimitError{RetryAfter: time.Second}
	}
	if v.waiting = append(v.waiting, do); len(v.waiting) > 1 {
		return nil
	}
	e.open.Go(func() { v.work() })
	return nil
}

// work lives as long as something waits: a client that is silent costs nothing.
func (v *visitor) work() {
	for {
		v.mu.Lock()
		do := v.waiting[0]
		v.mu.Unlock()
		do()
		v.mu.Lock()
		if v.waiting = v.waiting[1:]; len(v.waiting) == 0 {
			v.waiting = nil
			v.mu.Unlock()
			return
		}
		v.mu.Unlock()
	}
}

func (e *Edge) ask(a Ask) answer {
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	return e.opt.Desk.Do(ctx, a)
}

// states are what a page needs to be current: all that is true now, but for
// what belongs to rooms.
func (e *Edge) joinChannel(v *visitor, a Ask) answer {
	var channel string
	if json.Unmarshal(a.Body, &channel) != nil || channel != mainChannel {
		return e.opt.Refused(fmt.Errorf("channel %s: %w", short(a.Body), station.ErrNotFound))
	}
	states, _ := e.opt.Source.Latest()
	for _, s := range states {
		if s.Room == "" {
			if err := v.Emit(s.Name, s.Payload); err != nil {
				e.opt.Log.Warn("event not sent", "event", s.Name, "err", err)
			}
		}
	}
	return accepted(map[string]any{"channel": channel})
}

func short(b []byte) string { return strings.ToValidUTF8(string(b[:min(len(b), 80)]), "") }

// accepted is the answer to what the edge did by itself.
func accepted(with map[string]any) answer {
	with["ok"] = true
	data, err := json.Marshal(with)
	if err != nil {
		return answer(`{"ok":true}`) // strings and numbers: it cannot fail
	}
	return data
}

// result is what the edge looks at in an answer of the station.
type result struct {
	OK   bool   `json:"ok"`
	Room string `json:"room"`
}

// join is in the room before it asks, so that nothing falls between the history
// it gets and the first message that comes.
func (e *Edge) join(v *visitor, a Ask) answer {
	var want struct {
		Room string `json:"room"`
	}
	_ = json.Unmarshal(a.Body, &want) // the station says what is wrong with it
	rooms := v.Rooms()
	already := slices.Contains(rooms, inRoom(want.Room))
	if len(rooms) >= mostRooms && !already {
		return e.opt.Refused(fmt.Errorf("you are in %d rooms: leave one first: %w", mostRooms, station.ErrConflict))
	}
	if !already && len(want.Room) <= longestRoom {
		v.Join(inRoom(want.Room))
	}
	got := e.ask(a)
	var r result
	if json.Unmarshal(got, &r) != nil || !r.OK || r.Room != want.Room {
		if !already {
			v.Leave(inRoom(want.Room))
		}
		if !r.OK {
			return got
		}
		v.Join(inRoom(r.Room)) // none was named: the station has chosen
	}
	e.mu.Lock()
	e.rooms[r.Room] = true
	e.mu.Unlock()
	return got
}

func (e *Edge) leave(v *visitor, a Ask) answer {
	var want struct {
		Room string `json:"room"`
	}
	if err := json.Unmarshal(a.Body, &want); err != nil {
		return e.opt.Refused(fmt.Errorf("room: must be given: %w", station.ErrInvalid))
	}
	v.Leave(inRoom(want.Room))
	return accepted(map[string]any{"room": want.Room})
}
