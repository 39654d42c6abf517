package socket

import (
	"slices"
	"sync"

	"github.com/athir-radio/athir/internal/web/socket/engine"
)

// Namespace is one of the channels that share a session. Set its handlers before the
// server runs.
type Namespace struct {
	server       *Server
	name         string
	onConnect    func(*Socket) error
	onDisconnect func(*Socket, Reason)
	events       map[string]func(*Socket, *Event)
	other        func(*Socket, *Event)
	recovery     *Recovery

	mu      sync.Mutex
	sockets []*Socket
	byID    map[string]*Socket
	byPID   map[string]*Socket // until what is to be kept of them is kept
	rooms   map[string]map[*Socket]struct{}
}

func newNamespace(s *Server, name string) *Namespace {
	return &Namespace{
		server: s,
		name:   name,
		events: map[string]func(*Socket, *Event){},
		byID:   map[string]*Socket{},
		byPID:  map[string]*Socket{},
		rooms:  map[string]map[*Socket]struct{}{},
	}
}

// Name is the namespace's name, "/" for the main one.
func (n *Namespace) Name() string { return n.name }

// OnConnect sets the function that admits each client, or refuses it with an error,
// preferably a *ConnectError. What it emits to the socket reaches the client after
// the client knows that it is connected.
func (n *Namespace) OnConnect(f func(*Socket) error) { n.onConnect = f }

// OnDisconnect sets the function that is called once for every socket that was
// connected and has left. Its Rooms are those it was in.
func (n *Namespace) OnDisconnect(f func(*Socket, Reason)) { n.onDisconnect = f }

// On sets the handler of an event.
func (n *Namespace) On(event string, f func(*Socket, *Event)) { n.events[event] = f }

// OnOther sets the handler of the events that have none.
func (n *Namespace) OnOther(f func(*Socket, *Event)) { n.other = f }

// Len counts the connected sockets.
func (n *Namespace) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.sockets)
}

// Members counts the sockets in the room.
func (n *Namespace) Members(room string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.rooms[room])
}

// Socket is the socket of that id, or nil.
func (n *Namespace) Socket(id string) *Socket {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.byID[id]
}

// Sockets returns the sockets that are connected now.
func (n *Namespace) Sockets() []*Socket {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.sockets)
}

// add and remove keep the lists; n.mu is held.
func (n *Namespace) add(s *Socket) {
	s.index = len(n.sockets)
	n.sockets = append(n.sockets, s)
	n.byID[s.id] = s
	if s.pid != "" {
		n.byPID[s.pid] = s
	}
}

func (n *Namespace) remove(s *Socket) {
	if s.index >= 0 {
		last := len(n.sockets) - 1
		n.sockets[s.index] = n.sockets[last]
		n.sockets[s.index].index = s.index
		n.sockets[last] = nil
		n.sockets = n.sockets[:last]
		s.index = -1
		delete(n.byID, s.id)
	}
	for _, room := range s.rooms {
		n.part(s, room)
	}
}

func (n *Namespace) part(s *Socket, room string) {
	delete(n.rooms[room], s)
	if len(n.rooms[room]) == 0 {
		delete(n.rooms, room)
	}
}

// Join puts the socket into rooms, unless it has left the namespace.
func (s *Socket) Join(rooms ...string) {
	n := s.namespace
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.state.Load() == left {
		return
	}
	for _, room := range rooms {
		if slices.Contains(s.rooms, room) {
			continue
		}
		s.rooms = append(s.rooms, room)
		if n.rooms[room] == nil {
			n.rooms[room] = map[*Socket]struct{}{}
		}
		n.rooms[room][s] = struct{}{}
	}
}

// Leave takes the socket out of rooms.
func (s *Socket) Leave(rooms ...string) {
	n := s.namespace
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.state.Load() == left {
		return
	}
	for _, room := range rooms {
		if i := slices.Index(s.rooms, room); i >= 0 {
			s.rooms = slices.Delete(s.rooms, i, i+1)
			n.part(s, room)
		}
	}
}

// Rooms returns the socket's rooms, without its own id.
func (s *Socket) Rooms() []string {
	s.namespace.mu.Lock()
	defer s.namespace.mu.Unlock()
	return slices.Clone(s.rooms)
}

// Broadcast selects the sockets that get an event. Sockets that get two broadcasts
// of a namespace get them in the same order.
type Broadcast struct {
	namespace *Namespace
	to        []string
	except    []string
	volatile  bool
}

// All selects every socket in the namespace.
func (n *Namespace) All() Broadcast { return Broadcast{namespace: n} }

// To selects every socket in any of the rooms. A socket's id names a room of its own.
func (n *Namespace) To(rooms ...string) Broadcast { return n.All().To(rooms...) }

// Except selects every socket that is in none of the rooms.
func (n *Namespace) Except(rooms ...string) Broadcast { return n.All().Except(rooms...) }

// Emit sends an event to every socket in the namespace.
func (n *Namespace) Emit(event string, args ...any) error { return n.All().Emit(event, args...) }

// Send sends a message to every socket in the namespace.
func (n *Namespace) Send(m *Message) error { return n.All().Send(m) }

// To selects every socket in any of the rooms but this one.
func (s *Socket) To(rooms ...string) Broadcast { return s.Others().To(rooms...) }

// Others selects every socket in the namespace but this one.
func (s *Socket) Others() Broadcast { return s.namespace.Except(s.id) }

// To adds rooms.
func (b Broadcast) To(rooms ...string) Broadcast {
	b.to = append(slices.Clone(b.to), rooms...)
	return b
}

// Except adds rooms, or ids, that are left out.
func (b Broadcast) Except(rooms ...string) Broadcast {
	b.except = append(slices.Clone(b.except), rooms...)
	return b
}

// Volatile leaves out sockets that still have something queued.
func (b Broadcast) Volatile() Broadcast {
	b.volatile = true
	return b
}

// Emit sends an event; arguments as for Namespace.Message.
func (b Broadcast) Emit(event string, args ...any) error {
	m, err := b.namespace.Message(event, args...)
	if err != nil {
		return err
	}
	return b.Send(m)
}

// Send sends a message of the namespace.
func (b Broadcast) Send(m *Message) error {
	n := b.namespace
	if m.namespace != n {
		return ErrNamespace
	}
	var batch engine.Batch
	sent := uint64(0)
	n.mu.Lock()
	b.each(func(s *Socket) {
		if b.volatile && !s.client.session.Idle() {
			return
		}
		if s.send(&batch, m.to(s)) {
			sent++
		}
	})
	n.mu.Unlock()
	batch.Flush()
	n.server.eventsOut.Add(sent)
	return nil
}

// each visits every selected socket once; the namespace's lock is held.
func (b Broadcast) each(visit func(*Socket)) {
	n := b.namespace
	send := visit
	if len(b.except) > 0 {
		send = func(s *Socket) {
			if !s.inAny(b.except) {
				visit(s)
			}
		}
	}
	switch len(b.to) {
	case 0:
		for _, s := range n.sockets {
			send(s)
		}
	case 1:
		n.room(b.to[0], send)
	default:
		seen := map[*Socket]bool{}
		for _, room := range b.to {
			n.room(room, func(s *Socket) {
				if !seen[s] {
					seen[s] = true
					send(s)
				}
			})
		}
	}
}

// room visits a room's members, or the socket of that id.
func (n *Namespace) room(name string, visit func(*Socket)) {
	if s := n.byID[name]; s != nil {
		visit(s)
	}
	for s := range n.rooms[name] {
		visit(s)
	}
}

// inAny reports whether the socket is in one of the rooms, or has one of the names
// as its id; the namespace's lock is held.
func (s *Socket) inAny(rooms []string) bool {
	return slices.ContainsFunc(rooms, func(room string) bool { return room == s.id || slices.Contains(s.rooms, room) })
}
