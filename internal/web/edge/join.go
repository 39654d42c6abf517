package edge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostRooms is how many chat rooms one client may be in, mostChannels how many
	// channels it may follow.
	mostRooms    = 16
	mostChannels = 32
	// reachWait is how long an answer waits for the events before it.
	reachWait = 2 * time.Second
)

// joinChannel sends a client the channel's latest states; events that follow are newer.
func (e *Edge) joinChannel(v *visitor, a Ask, reply func(answer)) {
	var channel string
	if json.Unmarshal(a.Body, &channel) != nil {
		reply(e.noChannel(a.Body))
		return
	}
	e.order.Lock()
	defer e.order.Unlock()
	states := e.current()
	if channel == station.MainChannel {
		e.sendStates(v, states)
		reply(accepted(map[string]any{"channel": channel}))
		return
	}
	i := slices.IndexFunc(states, func(s events.Event) bool { return s.Name == "status" && s.Channel == channel && channel != "" })
	joined := in(v, channelPrefix)
	switch {
	case i < 0 && e.opt.Source.Away():
		reply(e.opt.Refused(fmt.Errorf("this server cannot reach the station, try again soon: %w", station.ErrUnavailable)))
	case i < 0:
		reply(e.noChannel(a.Body))
	case len(joined) >= mostChannels && !slices.Contains(joined, inChannel(channel)):
		reply(e.opt.Refused(fmt.Errorf("you follow %d channels: leave one first: %w", mostChannels, station.ErrConflict)))
	default:
		e.let(v, inChannel(channel))
		if err := v.Emit(states[i].Name, states[i].Payload); err != nil {
			e.opt.Log.Warn("event not sent", "event", states[i].Name, "err", err)
		}
		reply(accepted(map[string]any{"channel": channel}))
	}
}

func (e *Edge) noChannel(body json.RawMessage) answer {
	return e.opt.Refused(fmt.Errorf("channel %s: %w", short(body), station.ErrNotFound))
}

func (e *Edge) leaveChannel(v *visitor, a Ask, reply func(answer)) {
	var channel string
	if json.Unmarshal(a.Body, &channel) != nil {
		reply(e.noChannel(a.Body))
		return
	}
	e.order.Lock()
	e.current() // what came before is heard
	v.quit(inChannel(channel))
	e.order.Unlock()
	reply(accepted(map[string]any{"channel": short([]byte(channel))}))
}

// in returns the client's transport rooms that have a prefix.
func in(v *visitor, prefix string) []string {
	return slices.DeleteFunc(v.Rooms(), func(room string) bool { return !strings.HasPrefix(room, prefix) })
}

func short(b []byte) string { return strings.ToValidUTF8(string(b[:min(len(b), 80)]), "") }

// accepted is the answer to a request that the edge carried out itself.
func accepted(with map[string]any) answer {
	with["ok"] = true
	data, err := events.Encode(with)
	if err != nil {
		return answer(`{"ok":true}`) // cannot happen: with holds strings and numbers
	}
	return data
}

// result is the part of the desk's answers that the edge reads.
type result struct {
	OK bool `json:"ok"`
}

// Joined is the desk's answer when a client may join a chat room; Answer goes to the
// client.
type Joined struct {
	Room   string          `json:"room"`
	Name   string          `json:"name"`
	Mark   events.Mark     `json:"mark"` // read before what Answer shows
	Who    []string        `json:"who"`  // the client's keys: see events.BannedPayload
	Answer json.RawMessage `json:"answer"`
}

// join asks the desk before it lets a client into a room. Events that come while the
// answer is on its way are sent after it, older ones are not.
func (e *Edge) join(v *visitor, a Ask, reply func(answer)) {
	var want struct {
		Room string `json:"room"`
	}
	_ = json.Unmarshal(a.Body, &want) // the desk refuses a malformed body
	if rooms := in(v, roomPrefix); len(rooms) >= mostRooms && !slices.Contains(rooms, inRoom(want.Room)) {
		reply(e.opt.Refused(fmt.Errorf("you are in %d rooms: leave one first: %w", mostRooms, station.ErrConflict)))
		return
	}
	e.order.Lock()
	from := e.sent
	e.order.Unlock()
	got := e.handOn(a)
	var may struct {
		result
		Joined
	}
	if json.Unmarshal(got, &may) != nil || !may.OK || may.Room == "" {
		reply(got)
		return
	}
	e.enter(v, may.Joined, from, e.reach(may.Mark), reply)
}

// reach waits until the events that an answer includes have arrived, so that they are
// not sent after it. It reports whether they have arrived.
func (e *Edge) reach(mark events.Mark) bool {
	changed, cancel := e.opt.Source.Subscribe()
	defer cancel()
	wait := time.NewTimer(reachWait)
	defer wait.Stop()
	for !e.opt.Source.Reached(mark) {
		select {
		case <-changed:
		case <-wait.C: // the station has restarted, or the bus lost an event
			return false
		case <-e.ctx.Done():
			return false
		}
	}
	return true
}

// enter answers a client that may join, brings it up to date and lets it in, while
// holding order. from is the newest event that was sent before its request.
func (e *Edge) enter(v *visitor, may Joined, from uint64, reached bool, reply func(answer)) {
	e.order.Lock()
	defer e.order.Unlock()
	e.current()
	since, ok := e.opt.Source.After(from)
	if !ok {
		reply(e.opt.Refused(fmt.Errorf("too many events came while you joined, join again: %w", station.ErrUnavailable)))
		return
	}
	since = slices.DeleteFunc(since, func(ev events.Event) bool {
		return ev.Seq > e.sent || reached && ev.Before(may.Mark)
	})
	if slices.ContainsFunc(since, func(ev events.Event) bool { return bans(ev, may.Who) }) {
		reply(e.opt.Refused(fmt.Errorf("you may not take part here: %w", station.ErrForbidden)))
		return
	}
	already := slices.Contains(v.Rooms(), inRoom(may.Room))
	v.who = may.Who
	reply(may.Answer)
	for _, ev := range since {
		// A client already in the room has its messages, but the answer may be older
		// than a deletion or a change of the room's rules.
		if ev.Name == events.MessageDeleted || ev.Room == may.Room && !(already && ev.Record()) {
			if err := v.Emit(ev.Name, ev.Payload); err != nil {
				e.opt.Log.Warn("event not sent", "event", ev.Name, "err", err)
			}
		}
	}
	e.let(v, inRoom(may.Room))
	v.seats = append(v.without(may.Room), Seat{may.Room, may.Name})
	e.occupied(may.Room)
}

// let takes a client into a room of the transport. The caller holds order.
func (e *Edge) let(v *visitor, room string) {
	if _, in := v.memory.Since[room]; !in && v.memory.Since != nil {
		v.memory.Since[room] = e.sent
	}
	v.Join(room)
}

// quit takes the client out of rooms of the transport. The caller holds order.
func (v *visitor) quit(rooms ...string) {
	for _, room := range rooms {
		delete(v.memory.Since, room)
	}
	v.Leave(rooms...)
}

// without returns the visitor's seats in all rooms but one.
func (v *visitor) without(room string) []Seat {
	return slices.DeleteFunc(slices.Clone(v.seats), func(s Seat) bool { return s.Room == room })
}

// bans reports whether an event bans a client with one of those keys.
func bans(ev events.Event, who []string) bool {
	var about events.BannedPayload
	if ev.Name != events.Banned || json.Unmarshal(ev.Payload, &about) != nil {
		return false
	}
	return slices.ContainsFunc(about.By, func(key string) bool { return slices.Contains(who, key) })
}

// heed carries out an event for edges. The caller holds order.
func (e *Edge) heed(ev events.Event) {
	if ev.Name != events.Banned {
		return
	}
	for _, s := range e.all.Sockets() {
		if v, ok := s.Data.(*visitor); ok && len(v.who) > 0 && bans(ev, v.who) {
			v.quit(in(v, roomPrefix)...)
		}
	}
}

func (e *Edge) leave(v *visitor, a Ask, reply func(answer)) {
	var want struct {
		Room string `json:"room"`
	}
	if err := json.Unmarshal(a.Body, &want); err != nil {
		reply(e.opt.Refused(fmt.Errorf("room: must be given: %w", station.ErrInvalid)))
		return
	}
	e.order.Lock()
	e.current() // what came before is heard
	v.quit(inRoom(want.Room))
	v.seats = v.without(want.Room)
	e.order.Unlock()
	reply(accepted(map[string]any{"room": short([]byte(want.Room))}))
}
