package socket

import (
	"slices"
	"sync"

	"github.com/athir-radio/athir/internal/web/socket/engine"
)

// Namespace is one of the channels that share a session. Its handlers are given
// before the server runs.
type Namespace struct {
	server       *Server
	name         string
	onConnect    func(*Socket) error
	onDisconnect func(*Socket, Reason)
	events       map[string]func(*Socket, *Event)
	other        func(*Socket, *Event)

	mu      sync.Mutex
	sockets []*Socket
	byID    map[string]*Socket
	rooms   map[string]map[*Socket]struct{}
}

func newNamespace(s *Server, name string) *Namespace {
	return &Namespace{
		server: s,
		name:   name,
		events: map[string]func(*Socket, *Event){},
		byID:   map[string]*Socket{},
		rooms:  map[string]map[*Socket]struct{}{},
	}
}

// Name is the namespace's, "/" for the main one.
func (n *Namespace) Name() string { return n.name }

// OnConnect is asked for every client that wants in. With an error, preferably a
// *ConnectError, it stays out. What is emitted to the socket within reaches the
// client after it knows that it is in.
func (n *Namespace) OnConnect(f func(*Socket) error) { n.onConnect = f }

// OnDisconnect is called once for every socket that was in and is no more. Its
// Rooms are those it was in.
func (n *Namespace) OnDisconnect(f func(*Socket, Reason)) { n.onDisconnect = f }

// On sets the handler of an event.
func (n *Namespace) On(event string, f func(*Socket, *Event)) { n.events[event] = f }

// OnOther sets the handler of the events that have none.
func (n *Namespace) OnOther(f func(*Socket, *Event)) { n.other = f }

// Len is how many sockets are in.
func (n *Namespace) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.sockets)
}

// Members is how many sockets are in the room.
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

// Sockets are all that are in, now.
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

// Join puts the socket into rooms. After it has left the namespace, it does nothing.
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

// Rooms are those the socket is in; its own id is not among them.
func (s *Socket) Rooms() []string {
	s.namespace.mu.Lock()
	defer s.namespace.mu.Unlock()
	return slices.Clone(s.rooms)
}

// Broadcast says whom an event goes to. Two broadcasts of a namespace reach all
// whom both reach in the same order.
type Broadcast struct {
	namespace *Namespace
	to        []string
	except    []string
	volatile  bool
}

// All is everybody in the namespace.
func (n *Namespace) All() Broadcast { return Broadcast{namespace: n} }

// To is everybody in any of the rooms. A socket's id names a room of its own.
func (n *Namespace) To(rooms ...string) Broadcast { return n.All().To(rooms...) }

// Except is everybody who is in none of the rooms.
func (n *Namespace) Except(rooms ...string) Broadcast { return n.All().Except(rooms...) }

// Emit sends an event to everybody in the namespace.
func (n *Namespace) Emit(event string, args ...any) error { return n.All().Emit(event, args...) }

// Send sends a message to everybody in the namespace.
func (n *Namespace) Send(m *Message) error { return n.All().Send(m) }

// To is everybody in any of the rooms but the socket itself.
func (s *Socket) To(rooms ...string) Broadcast { return s.Others().To(rooms...) }

// Others is everybody in the namespace but the socket itself.
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

// Volatile leaves out whoever has not yet taken what was sent before.
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
		if s.send(&batch, m.packets) {
			sent++
		}
	})
	n.mu.Unlock()
	batch.Flush()
	n.server.eventsOut.Add(sent)
	return nil
}

// each visits those the broadcast goes to, once each; the namespace's lock is held.
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

// inAny reports whether the socket is in one of the rooms, or has one's name for
// its id; the namespace's lock is held.
func (s *Socket) inAny(rooms []string) bool {
	return slices.ContainsFunc(rooms, func(room string) bool { return room == s.id || slices.Contains(s.rooms, room) })
}
