package stream

import (
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
)

// State is what the upstream connection is doing.
//
//	Connecting → Live     the first audio arrived
//	Live       → Away     the connection was lost: listeners wait out the grace
//	Away       → Live     audio arrived again
//	any        → Stopped  Run has ended
type State int

// The states of an upstream.
const (
	Connecting State = iota
	Live
	Away
	Stopped
)

func (s State) String() string {
	return [...]string{"connecting", "live", "away", "stopped"}[s]
}

// Stats is one reading of a fan-out's counters. Totals count since New.
type Stats struct {
	Listeners   int    // connected now
	Peak        int    // most at one time
	Served      uint64 // all that were ever admitted
	Refused     uint64 // turned away: full, or no upstream
	CutSlow     uint64 // disconnected because they did not keep up
	BytesIn     uint64 // from the upstream
	BytesOut    uint64 // accepted by the kernel for listeners, response heads included
	Upstream    State
	Since       time.Time    // of Upstream
	LastData    time.Time    // last upstream byte; zero when there was none
	ContentType string       // of the upstream, empty before the first connection
	Crowd       census.Crowd // of what kinds the listeners are
}

// Stats reads the counters.
func (f *Fanout) Stats() Stats {
	f.mu.Lock()
	s := Stats{Upstream: f.state, Since: f.since, LastData: f.last, ContentType: f.format}
	f.mu.Unlock()
	f.door.mu.Lock()
	s.Listeners, s.Peak, s.Served, s.Refused = f.door.now, f.door.peak, f.door.served, f.door.refused
	s.Crowd = f.door.kinds.Crowd()
	f.door.mu.Unlock()
	s.CutSlow, s.BytesIn, s.BytesOut = f.count.slow.Load(), f.count.in.Load(), f.count.out.Load()
	return s
}
