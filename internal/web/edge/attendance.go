package edge

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
)

// presenceKept is how long an edge that says nothing counts.
const presenceKept = 15 * time.Second

// Attendance adds up who is here over all edges.
type Attendance struct {
	tell func(event string, payload any)

	mu    sync.Mutex
	edges map[string]presentAt
	last  string
}

type presentAt struct {
	Presence
	at time.Time
}

// wirePresence is what an edge says over the bus.
type wirePresence struct {
	Edge string `json:"edge"`
	Presence
}

// NewAttendance tells the event presence whenever the sum changes.
func NewAttendance(tell func(string, any)) *Attendance {
	return &Attendance{tell: tell, edges: map[string]presentAt{}}
}

// Heard takes the word of one edge.
func (p *Attendance) Heard(name string, here Presence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.edges[name] = presentAt{here, now}
	sum := Presence{Rooms: map[string]int{}}
	for name, e := range p.edges {
		if now.Sub(e.at) > presenceKept {
			delete(p.edges, name)
			continue
		}
		sum.Clients += e.Clients
		for room, n := range e.Rooms {
			sum.Rooms[room] += n
		}
	}
	if data, err := json.Marshal(sum); err == nil && string(data) != p.last {
		p.last = string(data)
		p.tell("presence", sum)
	}
}

// Members counts who is in a chat room, as far as its edges have said.
func (p *Attendance) Members(room string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, e := range p.edges {
		n += e.Rooms[room]
	}
	return n
}

// OverBus takes the word of an edge on another machine.
func (p *Attendance) OverBus(data []byte) {
	var w wirePresence
	if json.Unmarshal(data, &w) == nil && w.Edge != "" {
		p.Heard(w.Edge, w.Presence)
	}
}

// TellPresence says over the bus who is here at an edge of that name.
func TellPresence(b *bus.Bus, name string, here Presence) {
	if data, err := json.Marshal(wirePresence{name, here}); err == nil {
		_ = b.Publish(SubjectPresent, data) // the next one tells as much
	}
}
