package socket

import (
	"container/list"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// mostMemory is the longest memory of one socket, in bytes; keptCost what one takes
// beside it.
const (
	mostMemory = 8 << 10
	keptCost   = 512
)

// kept is what is remembered of a socket that has left.
type kept struct {
	ID        string          `json:"id"`
	PID       string          `json:"pid"`
	Namespace string          `json:"namespace"`
	Owner     string          `json:"owner,omitempty"`
	Client    string          `json:"client,omitempty"`
	Memory    json.RawMessage `json:"memory"`
	Left      int64           `json:"left"` // epoch ms
}

func (k *kept) bytes() int { return keptCost + len(k.Memory) }

// shelf holds what is kept, the oldest first. When it is full the oldest goes: most
// clients are back within seconds. One client key that has its share keeps no more, so
// that a storm from one address costs only that address.
type shelf struct {
	lasts     time.Duration
	most      int // sockets
	perClient int // of one key; of a wider network, eight times that
	mostBytes int
	wider     func(string) string

	mu      sync.Mutex
	byPID   map[string]*list.Element
	order   list.List // of *kept
	clients map[string]int
	bytes   int
}

func (h *shelf) init(opts Options) {
	h.lasts, h.most, h.perClient = opts.RecoverFor, opts.MostKept, opts.MostKeptPerClient
	h.mostBytes = opts.MostKeptBytes
	if h.wider = opts.Wider; h.wider == nil {
		h.wider = func(string) string { return "" }
	}
	h.byPID, h.clients = map[string]*list.Element{}, map[string]int{}
}

func (h *shelf) keys(k *kept) [2]string { return [2]string{k.Client, h.wider(k.Client)} }

func (h *shelf) add(k *kept) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire(time.Now())
	keys := h.keys(k)
	if h.perClient > 0 && (k.Client != "" && h.clients[keys[0]] >= h.perClient || keys[1] != "" && h.clients[keys[1]] >= 8*h.perClient) {
		return
	}
	if old := h.byPID[k.PID]; old != nil {
		h.drop(old)
	}
	h.byPID[k.PID] = h.order.PushBack(k)
	h.bytes += k.bytes()
	for _, key := range keys {
		if key != "" {
			h.clients[key]++
		}
	}
	for len(h.byPID) > h.most || h.bytes > h.mostBytes {
		h.drop(h.order.Front())
	}
}

// take removes and returns what is kept under a pid for an owner.
func (h *shelf) take(namespace, pid, owner string) *kept {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire(time.Now())
	e := h.byPID[pid]
	if e == nil {
		return nil
	}
	k := e.Value.(*kept)
	if k.Namespace != namespace || k.Owner != owner {
		return nil
	}
	h.drop(e)
	return k
}

// expire drops what is too old; mu is held.
func (h *shelf) expire(now time.Time) {
	for e := h.order.Front(); e != nil && e.Value.(*kept).Left+h.lasts.Milliseconds() <= now.UnixMilli(); e = h.order.Front() {
		h.drop(e)
	}
}

// drop removes one; mu is held.
func (h *shelf) drop(e *list.Element) {
	k := h.order.Remove(e).(*kept)
	delete(h.byPID, k.PID)
	h.bytes -= k.bytes()
	for _, key := range h.keys(k) {
		if n := h.clients[key]; n > 1 {
			h.clients[key] = n - 1
		} else {
			delete(h.clients, key)
		}
	}
}

func (h *shelf) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire(time.Now())
	return len(h.byPID)
}

// saved is the form in which a server's memory goes to the next process.
type saved struct {
	Version int     `json:"version"`
	Sockets []*kept `json:"sockets"` // oldest first
}

// savedVersion is that of the form above: Load takes no other.
const savedVersion = 1

// Save returns what the next process needs for clients to take up where their
// connections to this one break, those that are connected now included. It holds
// secrets. Call it when nothing is broadcast any more.
func (s *Server) Save() ([]byte, error) {
	s.kept.mu.Lock()
	s.kept.expire(time.Now())
	out, bytes := saved{Version: savedVersion}, s.kept.bytes
	for e := s.kept.order.Front(); e != nil; e = e.Next() {
		out.Sockets = append(out.Sockets, e.Value.(*kept))
	}
	s.kept.mu.Unlock()
	now := time.Now()
	for _, n := range s.namespaces {
		for _, socket := range n.Sockets() {
			if socket.pid == "" {
				continue
			}
			if k := socket.snapshot(now); k != nil {
				out.Sockets = append(out.Sockets, k)
				bytes += k.bytes()
			}
		}
	}
	for len(out.Sockets) > s.kept.most || bytes > s.kept.mostBytes { // as when each of them had left
		bytes -= out.Sockets[0].bytes()
		out.Sockets = out.Sockets[1:]
	}
	return json.Marshal(out)
}

// Load takes what another process saved. It keeps the bounds of this server. Call it
// before Run.
func (s *Server) Load(data []byte) error {
	var in saved
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("read saved sockets: %w", err)
	}
	if in.Version != savedVersion {
		return fmt.Errorf("saved sockets are of version %d, not %d", in.Version, savedVersion)
	}
	now := time.Now().UnixMilli()
	for _, k := range in.Sockets {
		if k == nil || k.ID == "" || k.PID == "" || len(k.Memory) > mostMemory || s.namespaces[k.Namespace] == nil {
			return fmt.Errorf("saved sockets hold one that none can be")
		}
		k.Left = min(k.Left, now) // the clock may have been set back
		s.kept.add(k)
	}
	return nil
}
