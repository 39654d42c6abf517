// Package edge speaks to listeners over Socket.IO: it sends them the station's
// events, and hands on what they ask. Both tables are data: what is sent is
// audience/events' table, what may be asked is Asks.
//
// It keeps no state of the station and decides nothing. The control plane has
// one in its own process, and others run on other machines.
package edge

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/web/socket"
)

// Source is the station's events, or a mirror of them.
type Source interface {
	Latest() (states []events.Event, seq uint64)
	After(seq uint64) (batch []events.Event, ok bool)
	Subscribe() (told <-chan struct{}, cancel func())
	// Reached reports whether all is here that the station told up to a mark.
	Reached(mark events.Mark) bool
	// Away reports that nothing is heard of the station.
	Away() bool
}

// Client is who asks.
type Client struct {
	Address string `json:"address,omitempty"` // by kit/client.Address; empty for this machine
	Device  string `json:"device,omitempty"`  // random id that the browser keeps
	Staff   bool   `json:"staff,omitempty"`   // showed the station key
	// Socket is this connection's, of one edge.
	Socket string `json:"socket"`
}

// Ask is one thing that a client wants.
type Ask struct {
	Event string          `json:"event"`
	From  Client          `json:"from"`
	Body  json.RawMessage `json:"body,omitempty"` // the event's first argument
	Audio []byte          `json:"audio,omitempty"`
}

// Desk carries out what clients ask. It always has an answer, a JSON object
// with ok.
type Desk interface {
	Do(ctx context.Context, ask Ask) json.RawMessage
}

// Options of an Edge. All are required.
type Options struct {
	Log    *slog.Logger
	Source Source
	Desk   Desk
	// Staff says whether a key is the station's; an error when that client may
	// not try any more.
	Staff func(key, address string) (bool, error)
	// Refused makes the answer to what is not handed on.
	Refused func(err error) json.RawMessage
	// Present hears now and then who is here.
	Present func(Presence)
	Socket  socket.Options
}

// Presence is who is connected to one edge.
type Presence struct {
	Clients int            `json:"clients" doc:"Connections"`
	Rooms   map[string]int `json:"rooms" doc:"Connections in each chat room"`
}

// Edge is one server of events. Make it with New, mount Handler at /socket.io/.
type Edge struct {
	opt    Options
	server *socket.Server
	all    *socket.Namespace
	open   sync.WaitGroup  // answers under way
	ctx    context.Context //nolint:containedctx // of Run: ends what clients have asked
	end    context.CancelFunc

	held atomic.Int64 // bytes of asks that wait

	// order is held while something is sent to clients, so that whoever joins is
	// not told what was true before what it has heard. Nothing waits under it.
	order  sync.Mutex
	sent   uint64           // number of the newest event that was sent
	frames map[string]frame // of states by name, for those who join

	mu    sync.Mutex
	rooms map[string]bool // chat rooms that somebody has joined
}

// frame is a state as it is sent, made once for all who join.
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
	e := &Edge{opt: opt, server: socket.New(opt.Socket), frames: map[string]frame{}, rooms: map[string]bool{}}
	e.ctx, e.end = context.WithCancel(context.Background())
	e.all = e.server.Of("/")
	e.all.OnConnect(e.connected)
	e.all.OnDisconnect(func(s *socket.Socket, _ socket.Reason) { e.left(s) })
	e.all.OnOther(e.unknown)
	for _, a := range Asks() {
		e.all.On(a.Event, func(s *socket.Socket, ev *socket.Event) { e.asked(a, s, ev) })
	}
	return e
}

// Handler answers below /socket.io/.
func (e *Edge) Handler() http.Handler { return e.server }

// Stats are the transport's.
func (e *Edge) Stats() socket.Stats { return e.server.Stats() }

// presentEvery is how often an edge says who is here.
const presentEvery = 5 * time.Second

// Run sends events until ctx ends, then lets every client go.
func (e *Edge) Run(ctx context.Context) error {
	defer e.open.Wait()
	defer e.end()
	told, cancel := e.opt.Source.Subscribe()
	defer cancel()
	e.order.Lock()
	_, e.sent = e.opt.Source.Latest() // before the first client can have asked
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
		case <-told:
			e.order.Lock()
			e.current()
			e.order.Unlock()
		}
	}
}

// current sends what is new, and returns the states as they are then. The caller
// holds order; the transport waits for no client.
func (e *Edge) current() (states []events.Event) {
	states, seq := e.opt.Source.Latest()
	batch, ok := e.opt.Source.After(e.sent)
	if !ok { // too far behind: what is true now has to do
		batch = states
	}
	for _, ev := range batch {
		if ev.Seq > seq {
			break // later than the states: the source has signalled it
		}
		e.emit(ev)
	}
	e.sent = max(e.sent, seq)
	return states
}

// emit sends one event to all whom it is for.
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
	if err := to.Emit(ev.Name, ev.Payload); err != nil {
		e.opt.Log.Warn("event not sent", "event", ev.Name, "err", err)
	}
}

// sendStates tells one client all that is true now, but for what belongs to
// rooms and to channels beside the main one. The caller holds order.
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
		_ = to.Send(f.message) // it is of this namespace
	}
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
