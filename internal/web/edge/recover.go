package edge

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/web/socket"
)

// Clients whose connection breaks take up where they were (socket.Recovery): the
// offset of an event is its number in the edge's source, which still has what they
// missed.

const (
	// mostMissed is how much a client that comes back is sent, in bytes. Beyond it
	// it gets the latest of each state alone, and beyond that it begins anew.
	mostMissed = 512 << 10
	// mostReady bounds the messages that are kept encoded for those who come back, in
	// bytes.
	mostReady = 8 << 20
	// mostOffset is the longest offset that is remembered for who begins anew with it, in
	// bytes.
	mostOffset = 64
)

// memory is what is kept of a visitor whose connection broke.
type memory struct {
	Epoch string `json:"epoch"`
	// From is the newest event that was sent to others before the client was let in: it
	// gets those after it.
	From uint64 `json:"from"`
	// Stale is the offset that it showed then. While it shows that one, it has had
	// nothing since.
	Stale string   `json:"stale,omitempty"`
	Who   []string `json:"who,omitempty"`
	Seats []Seat   `json:"seats,omitempty"`
	// Since has, for each room of the transport, the newest event that was sent before
	// the client was in it.
	Since map[string]uint64 `json:"since,omitempty"`
}

// offers reports whether a client gets what it needs to take up where its connection
// broke: offsets are a second argument of events, which only clients that use it
// should see. JavaScript is indifferent to an argument too many; the libraries for Python
// and Dart are not. A client is known by what it says, by a pid that it shows, and
// otherwise by its headers: those of browsers and of Node.
func offers(h socket.Handshake, shown handshake, pid string) bool {
	if shown.Recover != nil {
		return *shown.Recover
	}
	agent := h.Header.Get("User-Agent")
	if pid != "" || strings.HasPrefix(agent, "Mozilla/") || strings.HasPrefix(agent, "node") {
		return true
	}
	// Node's WebSocket has no name, but always asks for this.
	return agent == "" && h.Header.Get("Sec-Websocket-Extensions") == "permessage-deflate; client_max_window_bits"
}

// offer prepares for the break of a listener's connection. Staff begins anew: what it
// had begun on the air has ended with its connection.
func (e *Edge) offer(v *visitor, shown handshake) {
	pid, offset := v.Presented()
	if v.from.Staff || v.from.Speaks || !offers(v.Handshake(), shown, pid) {
		return
	}
	if len(offset) > mostOffset {
		offset = ""
	}
	v.Offer(v.from.Device)
	e.order.Lock()
	defer e.order.Unlock()
	v.memory = memory{Epoch: e.epoch, From: e.sent, Stale: offset, Since: map[string]uint64{}}
}

// keep is the Keep of socket.Recovery.
func (e *Edge) keep(s *socket.Socket) []byte {
	v, ok := s.Data.(*visitor)
	if !ok {
		return nil
	}
	e.order.Lock()
	defer e.order.Unlock()
	m := v.memory
	m.Who, m.Seats = v.who, v.seats
	data, err := events.Encode(m)
	if err != nil {
		e.opt.Log.Error("cannot keep a client that is away", "err", err)
		return nil
	}
	return data
}

// resume is the Resume of socket.Recovery.
func (e *Edge) resume(s *socket.Socket, was socket.Kept, admit func() bool) bool {
	v, ok := s.Data.(*visitor)
	var m memory
	if !ok || json.Unmarshal(was.Memory, &m) != nil {
		return false
	}
	e.order.Lock()
	defer e.order.Unlock()
	e.current()
	if ok = m.reach(was.Offset, events.Mark{Epoch: e.epoch, Seq: e.sent}); !ok {
		return false
	}
	missed, ok := e.opt.Source.After(m.From)
	if !ok {
		return false
	}
	if missed = m.due(missed, e.sent); size(missed) > mostMissed {
		if missed = latest(missed); size(missed) > mostMissed {
			return false
		}
	}
	messages := make([]*socket.Message, len(missed))
	for i, ev := range missed {
		if messages[i], ok = e.ready(ev); !ok {
			return false
		}
	}
	if m.Since == nil {
		m.Since = map[string]uint64{}
	}
	v.from.Socket, v.memory, v.who, v.seats = v.ID(), m, m.Who, m.Seats
	for room := range m.Since {
		v.Join(room)
		if room, is := strings.CutPrefix(room, roomPrefix); is {
			e.occupied(room)
		}
	}
	for _, message := range messages {
		_ = v.Send(message) // fails only for another namespace's message
	}
	return admit()
}

// reach moves From to the last event that the client has; false where its offset says
// what cannot be.
func (m *memory) reach(offset string, sent events.Mark) bool {
	if m.Epoch != sent.Epoch || m.From > sent.Seq {
		return false
	}
	if offset == "" || offset == m.Stale {
		return true
	}
	seq, ok := sent.Read(offset)
	if !ok || seq < m.From {
		return false
	}
	m.From = seq
	return true
}

// due returns the events up to a number that the client would have been sent. A ban
// among them takes effect where it stands.
func (m *memory) due(missed []events.Event, upTo uint64) (out []events.Event) {
	for _, ev := range missed {
		room := ""
		switch {
		case ev.Seq > upTo:
			return out
		case ev.Inside():
			if bans(ev, m.Who) {
				m.expel(ev.Seq)
			}
			continue
		case ev.Room != "":
			room = inRoom(ev.Room)
		case ev.Channel != "":
			room = inChannel(ev.Channel)
		}
		if since, in := m.Since[room]; room == "" || in && ev.Seq > since {
			out = append(out, ev)
		}
	}
	return out
}

// expel takes the client out of the chat rooms that it was in at an event.
func (m *memory) expel(seq uint64) {
	for room, since := range m.Since {
		if strings.HasPrefix(room, roomPrefix) && since < seq {
			delete(m.Since, room)
		}
	}
}

// latest leaves out the states that a later event replaces.
func latest(all []events.Event) []events.Event {
	newer := map[string]bool{}
	out := make([]events.Event, 0, len(all))
	for _, ev := range slices.Backward(all) {
		if key, is := ev.Replaces(); !is || !newer[key] {
			newer[key] = true
			out = append(out, ev)
		}
	}
	slices.Reverse(out)
	return out
}

func size(all []events.Event) (n int) {
	for _, ev := range all {
		n += len(ev.Payload)
	}
	return n
}

// ready returns an event as it goes out to all, encoded once. The caller holds order.
func (e *Edge) ready(ev events.Event) (*socket.Message, bool) {
	if m := e.encoded[ev.Seq]; m != nil {
		return m, true
	}
	m, err := e.all.At(events.Mark{Epoch: e.epoch, Seq: ev.Seq}.Offset(), ev.Name, ev.Payload)
	if err != nil {
		e.opt.Log.Warn("event not sent", "event", ev.Name, "err", err)
		return nil, false
	}
	e.encoded[ev.Seq] = m
	e.oldest = append(e.oldest, ev.Seq)
	for e.bytes += m.Bytes(); e.bytes > mostReady && len(e.oldest) > 1; e.oldest = e.oldest[1:] {
		e.bytes -= e.encoded[e.oldest[0]].Bytes()
		delete(e.encoded, e.oldest[0])
	}
	return m, true
}

// Save returns what the next process needs for this edge's clients to take up where
// they were, as Options.Saved. Its source must be saved as well. Call it when no event comes any
// more.
func (e *Edge) Save() ([]byte, error) { return e.server.Save() }
