// Package telemetry counts who listens. Every five seconds it asks the HLS
// relay's path list, and the streaming server where the relay does not answer
// (mission: Telemetry and other routes). It keeps the latest count only.
package telemetry

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// Every is the mission's period of the listener poll.
const Every = 5 * time.Second

// Reading is what one server says of itself.
type Reading struct {
	Listeners int
	BytesSent uint64 // since the server's start; falls back to 0 when it restarts
}

// Source is one server that can be asked.
type Source struct {
	Name string // lowercase product name, shown as "source"
	Ask  func(ctx context.Context) (Reading, error)
}

// Count is the latest count.
type Count struct {
	Listeners     int
	Source        string // name of the server that was asked; empty before the first answer
	BitsPerSecond float64
	At            time.Time
}

// Poller asks its sources in order of preference.
type Poller struct {
	log     *slog.Logger
	sources []Source
	latest  atomic.Pointer[Count]
}

// New takes the sources in order of preference: relay first.
func New(log *slog.Logger, sources ...Source) *Poller {
	p := &Poller{log: log, sources: sources}
	p.latest.Store(&Count{})
	return p
}

// Latest returns the latest count.
func (p *Poller) Latest() Count { return *p.latest.Load() }

// Run polls until ctx ends.
func (p *Poller) Run(ctx context.Context) error {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	var before sample
	for {
		before = p.poll(ctx, before)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// sample is what a rate is computed from.
type sample struct {
	source string
	bytes  uint64
	at     time.Time
}

// stale is when a count is no longer worth showing.
const stale = time.Minute

// poll asks once. Where no source answers, the last count stays for a while: a
// relay that restarts has not lost its listeners.
func (p *Poller) poll(ctx context.Context, before sample) sample {
	for _, src := range p.sources {
		ask, cancel := context.WithTimeout(ctx, Every/2)
		r, err := src.Ask(ask)
		cancel()
		if err != nil {
			p.log.Debug("listener poll", "source", src.Name, "err", err)
			continue
		}
		now := sample{src.Name, r.BytesSent, time.Now()}
		p.latest.Store(&Count{Listeners: r.Listeners, Source: src.Name, BitsPerSecond: rate(before, now), At: now.at})
		return now
	}
	if last := p.latest.Load(); time.Since(last.At) > stale {
		p.latest.Store(&Count{})
	}
	return before
}

// rate is in bits per second; zero across a change or a restart of the source.
func rate(before, now sample) float64 {
	seconds := now.at.Sub(before.at).Seconds()
	if before.source != now.source || now.bytes < before.bytes || seconds <= 0 {
		return 0
	}
	return float64(now.bytes-before.bytes) * 8 / seconds
}
