package jitter

import (
	"math"
	"time"
)

// Tick begins the tick of playout at now and reports whether there is a run to play.
// Next then hands out what the tick holds.
func (b *Buffer) Tick(now time.Duration) bool {
	b.next = now + Tick
	switch b.phase {
	case idle:
		return false
	case filling:
		if now < b.startAt {
			return false
		}
		b.phase = playing
		b.pos = b.held[0].ts
		b.out = b.pos
		b.lastSeq = b.held[0].seq - 1
	case playing:
		if len(b.held) == 0 && now-b.lastArrival > idleAfter {
			b.phase = idle
			b.floor = b.newest + 1
			return false
		}
	}
	b.out += tick
	return true
}

// Ready reports that the next tick begins with audio that is here.
func (b *Buffer) Ready() bool {
	return b.phase == playing && len(b.held) > 0 && b.held[0].ts <= b.out
}

// Next is what comes next in this tick. A Frame may reach beyond the tick's end.
func (b *Buffer) Next() Piece {
	if b.phase != playing || b.pos >= b.out {
		return Piece{}
	}
	for len(b.held) > 0 && b.held[0].end() <= b.pos {
		b.held = b.held[1:] // its neighbour was longer than the time stamps say
	}
	if len(b.held) == 0 {
		n := b.out - b.pos
		b.pos = b.out
		b.open += n
		return Piece{Kind: Gap, Samples: int(n)}
	}
	e := b.held[0]
	if e.ts > b.pos {
		return b.gap(e)
	}
	b.held[0] = entry{}
	b.held = b.held[1:]
	if len(b.held) == 0 {
		b.held = nil
	}
	if e.seq > b.lastSeq+1 {
		b.stats.ConcealedSamples += uint64(b.open)
	}
	b.open, b.lastSeq = 0, e.seq
	skip := max(0, b.pos-e.ts)
	b.pos, b.played = e.end(), e.end()
	b.stats.Frames++
	return Piece{Kind: Frame, Payload: e.payload, Samples: int(e.samples), Skip: int(skip)}
}

// gap is the time before the packet e, which is the next that is here.
func (b *Buffer) gap(e entry) Piece {
	n := min(b.out, e.ts) - b.pos
	lost := e.seq > b.lastSeq+1
	if lost && b.target-b.delay >= Tick && n == tick {
		// The delay has to grow, and here it costs least: the missing packet gets
		// another tick to come.
		b.out -= n
		b.shift(Tick)
		b.stats.ConcealedSamples += uint64(n)
		return Piece{Kind: Gap, Samples: int(n)}
	}
	b.pos += n
	if lost {
		b.stats.ConcealedSamples += uint64(n)
	}
	return Piece{Kind: Gap, Samples: int(n)}
}

// Surplus is how much longer the delay is than it has to be; negative where it is too
// short. A caller takes it back in pauses, by Skip and Stall, a Tick at a time.
func (b *Buffer) Surplus() time.Duration {
	if b.phase != playing {
		return 0
	}
	return b.delay - b.target
}

// Overfull reports that the delay is so long that it must shrink, pause or not.
func (b *Buffer) Overfull() bool { return b.phase == playing && b.delay > b.most+10*Tick }

// Skip ends the tick a Tick later in the stream: what Next hands out meanwhile is not
// to be heard.
func (b *Buffer) Skip() {
	if b.phase == playing {
		b.out += tick
		b.shift(-Tick)
	}
}

// Stall lets a tick of the clock pass in which nothing is played.
func (b *Buffer) Stall(now time.Duration) {
	b.next = now + Tick
	if b.phase == playing {
		b.shift(Tick)
	}
}

// shift makes the delay longer.
func (b *Buffer) shift(by time.Duration) {
	b.delay += by
	if b.fastest != math.MinInt64 {
		b.fastest += by
	}
}

// measure closes a window: the delay is that of its fastest packets, so that jitter,
// which only ever delays, does not look like drift.
func (b *Buffer) measure(now time.Duration) {
	if b.loss.closeWindow(now) {
		b.target = max(b.target, b.need())
	}
	if now-b.windowAt < window {
		return
	}
	b.windowAt = now
	if b.phase == playing && b.fastest != math.MinInt64 {
		b.delay = b.fastest
	}
	b.fastest = math.MinInt64
	if now-b.lateAt > calm {
		b.target = max(b.need(), b.target-Tick/2)
	}
}

// need is the delay that loss and round trip ask for. A lost packet shows when a later
// one comes, 60 ms later after a burst of three; then each retransmission takes a round
// trip, jitter included. One leaves loss squared, two its third power: as many are
// waited for as leave less than half a percent, two at most. For what copies fill nothing
// is waited.
func (b *Buffer) need() time.Duration {
	p, trip := b.loss.holes, b.loss.measured
	if p < 0.005 || trip == 0 {
		return b.least
	}
	rounds := 1
	if p*p > 0.005 {
		rounds = 2
	}
	return min(b.most, max(b.least, waitFor(rounds, b.loss.round())))
}

// waitFor is the delay with which so many retransmissions come in time.
func waitFor(rounds int, trip time.Duration) time.Duration {
	return 100*time.Millisecond + margin + time.Duration(rounds)*trip
}

// Stats returns the counts and measurements so far.
func (b *Buffer) Stats() Stats {
	s := b.stats
	s.Lost = b.loss.lost
	s.Jitter = b.loss.jitter
	s.RoundTrip = b.loss.measured
	s.Loss = b.loss.rate
	s.Delay, s.Target = b.delay, b.target
	return s
}

// SSRC is the source that the last packet came from.
func (b *Buffer) SSRC() uint32 { return b.ssrc }
