package edge

import (
	"encoding/json"
	"strings"
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

// mostProcesses bounds how many processes may report with one credential.
const mostProcesses = 64

// OverBus takes the report of an edge on another machine. The subject names the edge that
// sent it, and is the bus's word: it speaks for no other.
func (p *Attendance) OverBus(subject string, data []byte) {
	var w wirePresence
	if json.Unmarshal(data, &w) != nil || w.Edge == "" {
		return
	}
	if edge, named := strings.CutPrefix(subject, SubjectPresent+"."); named {
		w.Edge = edge + "/" + w.Edge
		if !p.room(edge+"/", w.Edge) {
			return
		}
	}
	p.Heard(w.Edge, w.Presence)
}

// room reports whether one more process of an edge may be counted.
func (p *Attendance) room(prefix, name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for other, e := range p.edges {
		if strings.HasPrefix(other, prefix) && time.Since(e.at) <= presenceKept {
			n++
		}
	}
	_, known := p.edges[name]
	return known || n < mostProcesses
}

// TellPresence reports over the bus the connections of a process of the edge of that name.
func TellPresence(b *bus.Bus, edge, process string, here Presence) {
	if data, err := json.Marshal(wirePresence{process, here}); err == nil {
		_ = b.Publish(Of(SubjectPresent, edge), data) // a lost report is replaced by the next
	}
}
