package socket

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/athir-radio/athir/internal/web/socket/engine"
)

// Recovery lets the clients of a namespace take up where their connection broke: the
// connection state recovery of Socket.IO 4.6. A client that was offered it in OnConnect
// (Offer) gets a secret pid with its id, and the offset of each message made by At.
// When it connects again it shows both, and Resume brings it up to date.
//
// What is kept of a socket is bounded, see Options. A pid that is unknown, too old or
// somebody else's makes an ordinary new socket.
type Recovery struct {
	// Keep returns what the application needs to resume a socket, at most 8 KiB; nil
	// for what cannot be resumed. It is called when the socket's connection has broken,
	// and by Save. Not to be called with a lock held that it needs itself.
	Keep func(*Socket) []byte
	// Resume is called for a client that OnConnect has agreed to. It joins the socket to
	// its rooms, sends what was missed after the offset, and calls admit, all while it
	// holds up broadcasts; it returns what admit does. When it cannot, it returns false
	// without having done any of that.
	Resume func(s *Socket, was Kept, admit func() bool) bool
}

// Kept is what is known of a socket that comes back.
type Kept struct {
	Memory []byte // what Keep returned
	Offset string // of the last message that the client has; empty where it has none
}

// Recover allows recovery in the namespace. Call it before Run.
func (n *Namespace) Recover(r Recovery) { n.recovery = &r }

// Offer makes the socket one that can be recovered, by a client of the same owner
// alone. Call it in OnConnect.
func (s *Socket) Offer(owner string) {
	if s.namespace.recovery == nil || s.state.Load() != pending {
		return
	}
	s.pid, s.owner, s.settled = secret(), owner, make(chan struct{})
}

// Presented is what the client showed to be recovered: both are empty if it showed
// nothing, or nothing that could be one.
func (s *Socket) Presented() (pid, offset string) {
	var shown struct {
		PID    string `json:"pid"`
		Offset string `json:"offset"`
	}
	if len(s.auth) == 0 || json.Unmarshal(s.auth, &shown) != nil {
		return "", ""
	}
	return shown.PID, shown.Offset
}

// secret is 160 random bits.
func secret() string {
	id := make([]byte, 20)
	_, _ = rand.Read(id) // never fails
	return base64.RawURLEncoding.EncodeToString(id)
}

// admit takes a socket that OnConnect has agreed to into its namespace, where it was
// before if it can be. A session beyond the limits is let in for that alone.
func (c *client) admit(s *Socket) (in, guest bool) {
	if resumed, in := c.resume(s); resumed {
		return in, false
	}
	if c.session.Guest() && !c.known {
		return false, true
	}
	return s.welcome(), false
}

// resume makes the socket that which its client had before its connection broke, if
// that is kept; in reports whether it is connected now.
func (c *client) resume(s *Socket) (resumed, in bool) {
	if s.pid == "" {
		return false, false
	}
	pid, offset := s.Presented()
	was := s.namespace.reclaim(pid, s.owner)
	if was == nil {
		return false, false
	}
	id, own := s.id, s.pid
	s.id, s.pid, s.recovered = was.ID, was.PID, true
	s.guard("resume", func() {
		resumed = s.namespace.recovery.Resume(s, Kept{was.Memory, offset}, func() bool {
			in = s.welcome()
			return in
		})
	})
	switch {
	case in:
		return true, true
	case resumed || s.state.Load() == left: // it was disconnected meanwhile
		return true, false
	}
	s.id, s.pid, s.recovered = id, own, false
	return false, false
}

// Recovered reports whether the client has taken up where its connection broke.
func (s *Socket) Recovered() bool { return s.recovered }

// reclaim takes what is kept under a pid. A socket that is still connected is
// disconnected first: the client knows better whether its connection has broken.
func (n *Namespace) reclaim(pid, owner string) *kept {
	if pid == "" {
		return nil
	}
	n.mu.Lock()
	old := n.byPID[pid]
	n.mu.Unlock()
	if old != nil {
		if old.owner != owner {
			return nil
		}
		old.leave(engine.ReasonReplaced)
		old.client.session.End(engine.ReasonReplaced)
		<-old.settled // another goroutine may have been first, and is about to keep it
	}
	return n.server.kept.take(n.name, pid, owner)
}

// recoverable reports whether a client may come back after a reason.
func recoverable(r Reason) bool {
	switch r {
	case ReasonClientLeft, ReasonServerLeft, engine.ReasonParseError, engine.ReasonFault:
		return false
	}
	return true
}

// remember keeps what a socket that has left needs to come back. The caller holds no
// lock.
func (s *Socket) remember() {
	n := s.namespace
	defer close(s.settled)
	defer func() {
		n.mu.Lock()
		delete(n.byPID, s.pid)
		n.mu.Unlock()
	}()
	if recoverable(s.reason) {
		if k := s.snapshot(time.Now()); k != nil {
			n.server.kept.add(k)
		}
	}
}

// snapshot asks the application what it needs to resume the socket.
func (s *Socket) snapshot(now time.Time) (k *kept) {
	var memory []byte
	s.guard("keep", func() { memory = s.namespace.recovery.Keep(s) })
	if memory == nil || len(memory) > mostMemory || !json.Valid(memory) {
		return nil
	}
	return &kept{
		ID: s.id, PID: s.pid, Namespace: s.namespace.name, Owner: s.owner, Client: s.client.handshake.ClientKey,
		Memory: bytes.Clone(memory), Left: now.UnixMilli(),
	}
}
