package edge

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
)

// presenceKept is how long an edge's last report counts.
const presenceKept = 15 * time.Second

// Attendance adds up the connections of all edges.
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

// wirePresence is an edge's report over the bus.
type wirePresence struct {
	Edge string `json:"edge"`
	Presence
}

// NewAttendance makes an Attendance that calls tell with the event presence whenever
// the sum changes.
func NewAttendance(tell func(string, any)) *Attendance {
	return &Attendance{tell: tell, edges: map[string]presentAt{}}
}

// Heard takes the report of one edge.
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

// Members counts the connections in a chat room, by the edges' last reports.
func (p *Attendance) Members(room string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, e := range p.edges {
		n += e.Rooms[room]
	}
	return n
}

// OverBus takes the report of an edge on another machine.
func (p *Attendance) OverBus(data []byte) {
	var w wirePresence
	if json.Unmarshal(data, &w) == nil && w.Edge != "" {
		p.Heard(w.Edge, w.Presence)
	}
}

// TellPresence reports the connections of the edge of that name over the bus.
func TellPresence(b *bus.Bus, name string, here Presence) {
	if data, err := json.Marshal(wirePresence{name, here}); err == nil {
		_ = b.Publish(SubjectPresent, data) // a lost report is replaced by the next
	}
}
