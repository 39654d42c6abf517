package edge

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/census"
)

// presenceKept is how long an edge's last report counts.
const presenceKept = 15 * time.Second

// Attendance adds up the connections of all edges.
type Attendance struct {
	tell func(event string, payload any)

	mu    sync.Mutex
	edges map[string]presentAt
	last  string
	sent  uint64 // bytes of HLS of all edges, those that are gone included
}

type presentAt struct {
	Presence
	HLS
	at time.Time
}

// HLS is what an edge serves of it from a cache of its own. It is told to no client.
type HLS struct {
	Listeners int    `json:"hlsListeners,omitempty"`
	Bytes     uint64 `json:"hlsBytes,omitempty"` // sent since its process began
	// Crowd is of what kinds they are: sums alone, under the names of kit/census.
	Crowd census.Crowd `json:"hlsCrowd,omitzero"`
}

// wirePresence is an edge's report over the bus.
type wirePresence struct {
	Edge string `json:"edge"`
	Presence
	HLS
}

// NewAttendance makes an Attendance that calls tell with the event presence whenever
// the sum changes.
func NewAttendance(tell func(string, any)) *Attendance {
	return &Attendance{tell: tell, edges: map[string]presentAt{}}
}

// Heard takes the report of one edge.
func (p *Attendance) Heard(name string, here Presence) { p.heard(name, here, HLS{}) }

func (p *Attendance) heard(name string, here Presence, hls HLS) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if before := p.edges[name].Bytes; hls.Bytes > before {
		p.sent += hls.Bytes - before
	}
	p.edges[name] = presentAt{here, hls, now}
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

const (
	// mostProcesses bounds how many processes may report with one credential.
	mostProcesses = 64
	// mostListeners bounds those of HLS that may be reported with one credential, each of whom
	// is remembered, and mostClients the connections of one process: more than one machine has.
	mostListeners = 100_000
	mostClients   = 1_000_000
	// mostReported bounds the chat rooms of one report, and longestName their names and that
	// of a process, in bytes: a station has no more, and every listener is told of all.
	mostReported = 64
	longestName  = 64
	// reportAfter is how long a process must leave between two reports. An edge of the
	// station's reports every presentEvery.
	reportAfter = time.Second
)

// likely reports whether a report may be that of an edge of the station.
func (w wirePresence) likely() bool {
	if w.Edge == "" || len(w.Edge) > longestName || w.Clients < 0 || w.Clients > mostClients || len(w.Rooms) > mostReported {
		return false
	}
	for room, n := range w.Rooms {
		if room == "" || len(room) > longestName || n < 0 || n > mostClients {
			return false
		}
	}
	return true
}

// OverBus takes the report of an edge on another machine. The subject names the edge that
// sent it, and is the bus's word: it speaks for no other. What no edge of ours would report,
// or not so often, is left out.
func (p *Attendance) OverBus(subject string, data []byte) {
	var w wirePresence
	if json.Unmarshal(data, &w) != nil || !w.likely() {
		return
	}
	most := mostListeners
	if edge, named := strings.CutPrefix(subject, SubjectPresent+"."); named {
		w.Edge = edge + "/" + w.Edge
		room, others := p.room(edge+"/", w.Edge)
		if !room {
			return
		}
		most -= others
	}
	w.Listeners = min(max(w.Listeners, 0), most)
	w.Crowd = w.Crowd.Fit(w.Listeners)
	p.heard(w.Edge, w.Presence, w.HLS)
}

// HLS names each listener that an edge serves HLS, as far as edges name them, with the bytes
// that all edges have sent and of what kinds the listeners are.
func (p *Attendance) HLS() (ids []string, bytes uint64, crowd census.Crowd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, e := range p.edges {
		if time.Since(e.at) > presenceKept {
			continue
		}
		for i := range e.Listeners {
			ids = append(ids, name+" "+strconv.Itoa(i))
		}
		crowd.Join(e.Crowd)
	}
	return ids, p.sent, crowd
}

// room reports whether a process of an edge may be counted, and now; others are the listeners
// of HLS that its other processes have.
func (p *Attendance) room(prefix, name string) (ok bool, others int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for other, e := range p.edges {
		if strings.HasPrefix(other, prefix) && time.Since(e.at) <= presenceKept && other != name {
			n++
			others += e.Listeners
		}
	}
	before, known := p.edges[name]
	return known && time.Since(before.at) >= reportAfter || !known && n < mostProcesses, others
}

// TellPresence reports over the bus the connections of a process of the edge of that name.
func TellPresence(b *bus.Bus, edge, process string, here Presence, hls HLS) {
	if data, err := json.Marshal(wirePresence{process, here, hls}); err == nil {
		_ = b.Publish(Of(SubjectPresent, edge), data) // a lost report is replaced by the next
	}
}
