// Package edge serves listeners over Socket.IO: it sends them the station's events,
// and forwards their requests. Both tables are data: events.Kinds lists what is sent,
// Asks what may be requested.
//
// It keeps no state of the station and decides nothing. One edge runs in the control
// plane's process, others on other machines.
package edge

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/web/socket"
)

// Source is the station's event hub, or a mirror of it.
type Source interface {
	Latest() (states []events.Event, seq uint64)
	After(seq uint64) (batch []events.Event, ok bool)
	// Mark is the position of the newest event, in the epoch of its numbers.
	Mark() events.Mark
	Subscribe() (changed <-chan struct{}, cancel func())
	// Reached reports whether all events up to a mark of the station's hub have
	// arrived.
	Reached(mark events.Mark) bool
	// Away reports whether the mirror has lost the station.
	Away() bool
}

// Client is the sender of a request.
type Client struct {
	Address string `json:"address,omitempty"` // by kit/client.Address; empty for this machine
	Device  string `json:"device,omitempty"`  // random id that the browser keeps
	Staff   bool   `json:"staff,omitempty"`   // writes in the chat as the station
	Speaks  bool   `json:"speaks,omitempty"`  // may send live audio
	Of      string `json:"of,omitempty"`      // id of the session or key by which it is either; empty for the station key
	// Socket is the connection's id, unique within one edge.
	Socket string `json:"socket"`
	// Seats are the chat rooms that the connection is in, the last joined last.
	Seats []Seat `json:"seats,omitempty"`
}

// Seat is a client's place in a chat room.
type Seat struct {
	Room string `json:"room"`
	Name string `json:"name"` // as it joined
}

// seat returns the client's place in a room; in the one it joined last, if room is
// empty. It is zero for a room that the client did not join.
func (c Client) seat(room string) Seat {
	for _, s := range slices.Backward(c.Seats) {
		if room == "" || s.Room == room {
			return s
		}
	}
	return Seat{}
}

// Ask is one request of a client.
type Ask struct {
	Event string          `json:"event"`
	From  Client          `json:"from"`
	Body  json.RawMessage `json:"body,omitempty"` // the event's first argument
	Audio []byte          `json:"audio,omitempty"`
}

// Desk carries out requests. Every answer is a JSON object with the member ok.
type Desk interface {
	Do(ctx context.Context, ask Ask) json.RawMessage
}

// Options of an Edge. All but Saved are required.
type Options struct {
	Log    *slog.Logger
	Source Source
	Desk   Desk
	// Staff returns who shows a key, or the ticket of a session: with the right Moderate one
	// writes in the chat as the station, with Air one sends live audio. foreign says that
	// another site made the browser connect. It fails when that address has tried too many
	// keys, and where every key is the station's and the site is foreign.
	Staff func(key, address string, foreign bool) (people.Caller, error)
	// Refused makes the answer to a request that the edge refuses itself.
	Refused func(err error) json.RawMessage
	// Present is called regularly with the connections of this edge.
	Present func(Presence)
	Socket  socket.Options
	// Saved is what the Save of an edge before this one returned, of the same source;
	// empty where there was none.
	Saved []byte
}

// Presence is who is connected to one edge.
type Presence struct {
	Clients int            `json:"clients" doc:"Connections"`
	Rooms   map[string]int `json:"rooms" doc:"Connections in each chat room"`
}

// Edge is one Socket.IO server. Make it with New, mount Handler at /socket.io/.
type Edge struct {
	opt    Options
	server *socket.Server
	all    *socket.Namespace
	open   sync.WaitGroup  // clients with requests under way
	ctx    context.Context //nolint:containedctx // Run's: ends requests under way
	end    context.CancelFunc

	held atomic.Int64 // bytes of waiting requests

	// order is held while events are sent, so that a joining client never gets an
	// older state after a newer one. Nothing blocks while holding it.
	order  sync.Mutex
	sent   uint64           // number of the newest event that was sent
	frames map[string]frame // encoded states by name, for joining clients

	// What went out to all, by number, for those who come back; guarded by order.
	epoch   string // of the source, fixed while Run runs
	encoded map[uint64]*socket.Message
	oldest  []uint64 // keys of encoded
	bytes   int      // of encoded

	mu    sync.Mutex
	rooms map[string]bool // chat rooms that somebody has joined
}

// frame is an encoded state, made once for all joining clients.
type frame struct {
	seq     uint64
	message *socket.Message
}

// Rooms of the transport.
const (
	roomPrefix    = "room:"
	channelPrefix = "channel:"
)

func inRoom(room string) string       { return roomPrefix + room }
func inChannel(channel string) string { return channelPrefix + channel }

// New makes an Edge.
func New(opt Options) *Edge {
	e := &Edge{opt: opt, server: socket.New(opt.Socket), frames: map[string]frame{}, encoded: map[uint64]*socket.Message{}, rooms: map[string]bool{}}
	e.ctx, e.end = context.WithCancel(context.Background())
	e.all = e.server.Of("/")
	e.all.OnConnect(e.connected)
	e.all.OnDisconnect(func(s *socket.Socket, _ socket.Reason) { e.left(s) })
	e.all.OnOther(e.unknown)
	e.all.Recover(socket.Recovery{Keep: e.keep, Resume: e.resume})
	for _, a := range Asks() {
		e.all.On(a.Event, func(s *socket.Socket, ev *socket.Event) { e.asked(a, s, ev) })
	}
	if len(opt.Saved) > 0 {
		if err := e.server.Load(opt.Saved); err != nil {
			opt.Log.Warn("listeners connect anew: saved connections cannot be read", "err", err)
		}
	}
	return e
}

// Handler answers below /socket.io/.
func (e *Edge) Handler() http.Handler { return e.server }

// Stats are the transport's.
func (e *Edge) Stats() socket.Stats { return e.server.Stats() }

// presentEvery is how often an edge reports its connections.
const presentEvery = 5 * time.Second

// Run sends events until ctx ends, then disconnects every client.
func (e *Edge) Run(ctx context.Context) error {
	defer e.open.Wait()
	defer e.end()
	changed, cancel := e.opt.Source.Subscribe()
	defer cancel()
	e.order.Lock()
	_, e.sent = e.opt.Source.Latest() // before the first client can connect
	e.epoch = e.opt.Source.Mark().Epoch
	e.order.Unlock()
	done := make(chan error, 1)
	go func() { done <- e.server.Run(ctx) }()
	present := time.NewTicker(presentEvery)
	defer present.Stop()
	for {
		select {
		case err := <-done: // it ends with ctx, when all its clients are gone
			return err
		case <-present.C:
			e.opt.Present(e.presence())
		case <-changed:
			e.order.Lock()
			e.current()
			e.order.Unlock()
		}
	}
}

// current sends new events to all clients and returns the latest states. The caller
// holds order; the transport does not wait for clients.
func (e *Edge) current() (states []events.Event) {
	states, seq := e.opt.Source.Latest()
	batch, ok := e.opt.Source.After(e.sent)
	if !ok { // too far behind: send the latest states instead, those that are new
		batch = slices.DeleteFunc(slices.Clone(states), func(s events.Event) bool { return s.Seq <= e.sent })
	}
	for _, ev := range batch {
		if ev.Seq > seq {
			break // newer than the states: the source has signalled it
		}
		e.emit(ev)
	}
	e.sent = max(e.sent, seq)
	return states
}

// emit sends one event to the clients in its scope.
func (e *Edge) emit(ev events.Event) {
	if ev.Inside() {
		e.heed(ev)
		return
	}
	to := e.all.All()
	switch {
	case ev.Room != "":
		to = to.To(inRoom(ev.Room))
	case ev.Channel != "":
		to = to.To(inChannel(ev.Channel))
	}
	if m, ok := e.ready(ev); ok {
		_ = to.Send(m) // fails only for another namespace's message
	}
}

// sendStates sends one client the latest states, except those of rooms and of
// channels other than main. The caller holds order.
func (e *Edge) sendStates(to *visitor, states []events.Event) {
	for _, s := range states {
		if s.Room != "" || s.Channel != "" {
			continue
		}
		f := e.frames[s.Name]
		if f.message == nil || f.seq != s.Seq {
			m, err := e.all.Message(s.Name, s.Payload)
			if err != nil {
				e.opt.Log.Warn("event not sent", "event", s.Name, "err", err)
				continue
			}
			f = frame{s.Seq, m}
			e.frames[s.Name] = f
		}
		_ = to.Send(f.message) // fails only for another namespace's message
	}
}

// occupied notes that somebody is in a chat room.
func (e *Edge) occupied(room string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rooms[room] = true
}

func (e *Edge) presence() Presence {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := Presence{Clients: e.all.Len(), Rooms: map[string]int{}}
	for room := range e.rooms {
		if n := e.all.Members(inRoom(room)); n > 0 {
			p.Rooms[room] = n
		} else {
			delete(e.rooms, room)
		}
	}
	return p
}
