package telemetry

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
)

// Every is the period of the listener poll, as the mission sets it.
const Every = 5 * time.Second

const (
	// stale is how old a count may be and still be shown: a server that restarts
	// has not lost its listeners.
	stale = time.Minute
	// settling is how long the tune-ins and tune-outs of a server that was away,
	// or has restarted, are ignored: its listeners come back one by one.
	settling = time.Minute
)

// Reading is one server's own count.
type Reading struct {
	Listeners int
	// IDs names each listener, where the server does. Otherwise Begun counts all
	// listeners there ever were, which also tells how many came and went.
	IDs   []string
	Begun uint64
	// BytesSent is what all listeners got since the server's start. BytesEach is
	// what each of them got, where only that is known.
	BytesSent, BytesEach uint64
	// Crowd is of what kinds they are, as far as the server tells.
	Crowd census.Crowd
}

// Source is one server that can be asked.
type Source struct {
	Name string // lowercase product name, shown as "source"
	Ask  func(ctx context.Context) (Reading, error)
}

// part is one way to listen, with its latest count.
type part struct {
	source Source

	last      Reading
	at        time.Time // of last; zero before the first
	missing   bool      // the newest poll was not answered
	known     map[string]bool
	believed  time.Time // from when on comings and goings count
	bits      float64   // per second
	came      int       // since the reading before
	went      int
	answering bool
}

// take takes a poll's answer.
func (p *part) take(r Reading, now time.Time) {
	seconds := now.Sub(p.at).Seconds()
	restarted := r.BytesSent < p.last.BytesSent || r.Begun < p.last.Begun
	known := make(map[string]bool, len(r.IDs))
	for _, id := range r.IDs {
		known[id] = true
	}
	came, went := p.churn(r, known)
	p.came, p.went, p.bits = 0, 0, 0
	switch {
	case p.at.IsZero():
	case restarted || p.missing || seconds <= 0:
		p.believed = now.Add(settling)
	default:
		sent := float64(r.BytesSent - p.last.BytesSent)
		if r.BytesEach >= p.last.BytesEach {
			sent += float64(r.BytesEach-p.last.BytesEach) * float64(r.Listeners)
		}
		p.bits = sent * 8 / seconds
		if !now.Before(p.believed) {
			p.came, p.went = came, went
		}
	}
	p.last, p.at, p.missing, p.known, p.answering = r, now, false, known, true
}

// churn returns how many listeners came and went since the last reading.
func (p *part) churn(r Reading, known map[string]bool) (came, went int) {
	if r.IDs == nil {
		came = int(r.Begun - p.last.Begun)
		return came, max(0, p.last.Listeners+came-r.Listeners)
	}
	for id := range known {
		if !p.known[id] {
			came++
		}
	}
	for id := range p.known {
		if !known[id] {
			went++
		}
	}
	return came, went
}

// miss notes that a poll had no answer. The last count stays until it is stale.
func (p *part) miss(now time.Time) {
	p.missing, p.answering, p.came, p.went, p.bits = true, false, 0, 0, 0
	if now.Sub(p.at) > stale {
		p.last.Listeners = 0
	}
}
