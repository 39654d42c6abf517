package edge

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/socket"
)

const (
	// mostWaiting is how many requests of one client may wait for their answers.
	mostWaiting = 32
	// mostHeld bounds the bytes of one client's waiting requests, unless it is only
	// one, and mostHeldByAll those of all clients together.
	mostHeld      = 8 << 20
	mostHeldByAll = 256 << 20
	// goneWait bounds the request that ends a gone desk's live audio.
	goneWait = 3 * time.Second
	// mostChunk bounds one chunk of live audio, in bytes: seconds of any codec.
	mostChunk = 256 << 10
	// mostStray bounds binary data from a listener, which is never used, in bytes.
	mostStray = 16 << 10
)

// answer is the object that a client's acknowledgement gets.
type answer = json.RawMessage

// visitor is one connection.
type visitor struct {
	*socket.Socket
	from Client
	who  []string // keys by which it may be banned; guarded by the edge's order
	// seats are its places in chat rooms. Only the request under way uses them, but
	// changes them as memory: under the edge's order, with which others read them.
	seats  []Seat
	memory memory

	mu      sync.Mutex
	waiting []turn // requests in order; the first is under way
	held    int    // bytes of waiting
}

// turn is a waiting request.
type turn struct {
	do    func()
	bytes int
}

// handshake is what a client sends as it connects.
type handshake struct {
	Key    string `json:"key"`
	Device string `json:"device"`
	// Recover says whether the client uses offsets; see offers.
	Recover *bool `json:"recover"`
}

// connected lets a client in. Without a key it is a listener; with a wrong key it is
// refused, so that no operator mistakes a listener's connection for a desk's.
func (e *Edge) connected(s *socket.Socket) error {
	var shown handshake
	if auth := s.Handshake().Auth; len(auth) > 0 && string(auth) != "null" {
		if err := json.Unmarshal(auth, &shown); err != nil {
			return &socket.ConnectError{Message: "auth: must be an object {key, device, recover}"}
		}
	}
	v := &visitor{Socket: s, from: Client{Address: s.Handshake().ClientKey, Socket: s.ID()}}
	if client.PlainID(shown.Device) { // malformed ids are ignored
		v.from.Device = shown.Device
	}
	if shown.Key != "" {
		who, err := e.opt.Staff(shown.Key, v.from.Address, s.Handshake().Foreign)
		if err != nil {
			return &socket.ConnectError{Message: station.Reason(err)}
		}
		v.from.Staff, v.from.Speaks, v.from.Of = who.Rights.Has(people.Moderate), who.Rights.Has(people.Air), who.Of
		if !v.from.Staff && !v.from.Speaks {
			return &socket.ConnectError{Message: "auth.key: is not the station key"}
		}
	}
	if !v.from.Speaks {
		s.LimitBinary(mostStray)
	}
	s.Data = v
	e.offer(v, shown)
	return nil
}

// left ends the live audio of a desk that disconnected, after its earlier requests.
func (e *Edge) left(s *socket.Socket) {
	v, ok := s.Data.(*visitor)
	if !ok || !v.from.Speaks {
		return
	}
	e.enqueue(v, turn{do: func() {
		// The edge may be ending too.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), goneWait)
		defer cancel()
		e.ask(ctx, Ask{Event: "stop_stream", From: v.from, Body: json.RawMessage(`{"gone":true}`)})
	}})
}

// unknown answers events that are not in the table.
func (e *Edge) unknown(_ *socket.Socket, ev *socket.Event) {
	e.reply(ev, e.opt.Refused(fmt.Errorf("event %q: %w", short([]byte(ev.Name)), station.ErrNotFound)))
}

// reply acknowledges an event, if the client asked for it.
func (e *Edge) reply(ev *socket.Event, a answer) {
	if err := ev.Ack(a); err != nil {
		e.opt.Log.Warn("answer not sent", "event", ev.Name, "err", err)
	}
}

// asked takes a request. One client's requests are carried out one after another,
// without blocking its connection.
func (e *Edge) asked(row Row, s *socket.Socket, ev *socket.Event) {
	v, ok := s.Data.(*visitor)
	if !ok {
		return
	}
	ask, err := read(row, v.from, ev)
	if err == nil && row.speaks && !v.from.Speaks {
		err = fmt.Errorf("%s: show the station key as auth.key: %w", row.Event, station.ErrUnauthentic)
	}
	if err != nil {
		e.reply(ev, e.opt.Refused(err))
		return
	}
	do := func() {
		ask.From.Seats = v.seats
		if row.here != nil {
			row.here(e, v, ask, func(a answer) { e.reply(ev, a) })
			return
		}
		e.reply(ev, e.handOn(ask))
	}
	if !e.queue(v, turn{do, weight(ev)}) {
		e.reply(ev, e.opt.Refused(&client.LimitError{RetryAfter: time.Second}))
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

func weight(ev *socket.Event) (n int) {
	for _, arg := range ev.Args {
		n += len(arg)
	}
	for _, data := range ev.Attachments {
		n += len(data)
	}
	return n
}

// queue adds a request behind the client's earlier ones; false when too many wait.
func (e *Edge) queue(v *visitor, t turn) bool {
	v.mu.Lock()
	full := len(v.waiting) >= mostWaiting || len(v.waiting) > 0 && v.held+t.bytes > mostHeld
	v.mu.Unlock()
	if full || e.held.Load()+int64(t.bytes) > mostHeldByAll {
		return false
	}
	e.enqueue(v, t)
	return true
}

// enqueue adds a request without a limit. One goroutine per client calls it at a time.
func (e *Edge) enqueue(v *visitor, t turn) {
	e.held.Add(int64(t.bytes))
	v.mu.Lock()
	defer v.mu.Unlock()
	v.held += t.bytes
	if v.waiting = append(v.waiting, t); len(v.waiting) == 1 {
		e.open.Go(func() { e.work(v) })
	}
}

// work carries out a client's requests and ends when none waits: a silent client
// needs no goroutine.
func (e *Edge) work(v *visitor) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(v.waiting) > 0 {
		t := v.waiting[0]
		v.mu.Unlock()
		t.do()
		e.held.Add(int64(-t.bytes))
		v.mu.Lock()
		v.held -= t.bytes
		v.waiting[0] = turn{} // frees its memory
		v.waiting = v.waiting[1:]
	}
	v.waiting = nil
}

func (e *Edge) handOn(a Ask) answer {
	ctx, cancel := context.WithTimeout(e.ctx, retry.Patience)
	defer cancel()
	return e.ask(ctx, a)
}

// ask carries out a request. A panic of the desk fails that request alone.
func (e *Edge) ask(ctx context.Context, a Ask) (got answer) {
	defer func() {
		if fault := recover(); fault != nil {
			e.opt.Log.Error("event handler panicked", "event", a.Event, "panic", fault, "stack", string(debug.Stack()))
			got = e.opt.Refused(fmt.Errorf("%s: panic: %v", a.Event, fault))
		}
	}()
	return e.opt.Desk.Do(ctx, a)
}
