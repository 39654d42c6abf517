// Package jitter puts the packets of one RTP stream back into the order of their time
// stamps, at the pace of a playout clock, and says which are worth asking for again.
//
// It orders by time stamp, not by sequence number: discontinuous transmission leaves
// out time, not numbers. Nothing here reads a clock or decodes: callers say what time
// it is, as a duration since some start of theirs, so that all of it runs in virtual time.
package jitter

import (
	"math"
	"slices"
	"time"
)

// Tick is the step of the playout clock.
const Tick = 20 * time.Millisecond

const (
	rate = 48_000 // RTP clock of Opus (RFC 7587, section 4.1)
	tick = rate / 50
	// leap is a step of the time stamps that no network explains: the sender began anew.
	leap = 2 * rate
	// mostSamples is the longest packet of Opus, 120 ms.
	mostSamples = 5760
	// mostHeld bounds the packets that wait, and remembered the numbers of those seen.
	mostHeld   = 512
	remembered = 1024
	// idleAfter is for how long nothing comes before the next packet begins a new run.
	idleAfter = 2 * time.Second
	// lateRun is for how long all that is new may come too late before it is taken as
	// a new run: the sender's clock stood still, and will not catch up.
	lateRun = 500 * time.Millisecond
	// window is the time over which delay and loss are measured.
	window = 2 * time.Second
	// calm is for how long nothing may have come late before the delay shrinks.
	calm = 10 * time.Second
	// margin is added to what lateness or a retransmission asks for.
	margin = 20 * time.Millisecond
)

// Options are the settings of a Buffer. Zero values mean the defaults.
type Options struct {
	Least time.Duration // the delay to begin with and to return to: 200 ms; see Near
	// Most is the longest delay, 900 ms. Beyond 400 ms it goes only where measured loss
	// and round trip ask for a second retransmission: see need.
	Most time.Duration
}

// Packet is one RTP packet. Samples is the length of its audio at 48,000 Hz, 1 to 5760.
type Packet struct {
	SSRC      uint32
	Sequence  uint16
	Timestamp uint32
	Samples   int
	Payload   []byte // kept by the buffer
	Copies    []Copy // of packets before it
}

// Verdict says what became of a packet.
type Verdict int

// What may become of a packet.
const (
	Held      Verdict = iota // it will be played
	Late                     // its time is over
	Duplicate                // it was here before
	Refused                  // out of any reasonable range, or no room
)

// Kind is what comes next in the stream.
type Kind int

// What may come next.
const (
	Done  Kind = iota // nothing more in this tick
	Frame             // a packet
	Gap               // nothing came for this time
)

// Piece is what comes next. Of a Frame's audio the first Skip samples are over.
type Piece struct {
	Kind    Kind
	Payload []byte
	Samples int
	Skip    int
}

type entry struct {
	seq, ts int64
	samples int64
	payload []byte
}

func (e entry) end() int64 { return e.ts + e.samples }

type phase int

const (
	idle    phase = iota // no packet yet, or none for long
	filling              // the first packets wait until the delay is reached
	playing
)

// Buffer is the jitter buffer of one stream. It is not safe for use by many goroutines.
type Buffer struct {
	least, most time.Duration

	phase   phase
	ssrc    uint32
	known   bool // ssrc, newest and newestTS are set
	startAt time.Duration
	next    time.Duration // when the tick after this one begins
	held    []entry       // by time stamp
	pos     int64         // the next time stamp to hand out
	out     int64         // where this tick ends
	played  int64         // the end of the last packet handed out
	lastSeq int64         // its number
	open    int64         // samples of gaps whose cause the next packet will tell

	newest, newestTS int64
	floor            int64 // numbers below belong to an earlier run
	seen             [remembered]int64
	copied           [remembered]bool // of those seen: only a copy came, unasked
	lastArrival      time.Duration
	lateSince        time.Duration // 0: not so

	delay    time.Duration // of the fastest packets of the last window
	target   time.Duration
	fastest  time.Duration // largest slack in this window
	windowAt time.Duration
	lateAt   time.Duration // when a packet last came too late

	loss  losses
	stats Stats
}

// Stats count since the buffer was made.
type Stats struct {
	Packets    uint64 // that came, duplicates included
	Duplicates uint64
	LatePast   uint64 // came after their time
	Frames     uint64 // packets handed out
	Lost       uint64 // numbers that were missing when later ones came
	Recovered  uint64 // of these, those that came after all
	Restored   uint64 // and those whose copy came with a later packet
	// ConcealedSamples is time that was lost and heard as concealment; pauses of
	// discontinuous transmission are not.
	ConcealedSamples uint64
	Restarts         uint64 // runs after the first
	Jitter           time.Duration
	RoundTrip        time.Duration // of retransmissions; 0: unknown, as nothing was lost
	Loss             float64       // 0 to 1, lately, before retransmission and copies
	Delay, Target    time.Duration
}

// New returns a buffer that waits for its first packet.
func New(o Options) *Buffer {
	if o.Least <= 0 {
		o.Least = 200 * time.Millisecond
	}
	if o.Most <= 0 {
		o.Most = 900 * time.Millisecond
	}
	b := &Buffer{least: o.Least, most: max(o.Most, o.Least), target: o.Least}
	b.loss.init()
	b.forget()
	return b
}

// Near tells, before the first packet, that the round trip is at most so long: the delay
// to begin with need not be longer than one retransmission takes.
func (b *Buffer) Near(trip time.Duration) {
	if !b.known {
		b.least = min(b.least, waitFor(1, trip))
		b.target = b.least
	}
}

// forget is what a new sender means: its numbers say nothing about the old ones.
func (b *Buffer) forget() {
	for i := range b.seen {
		b.seen[i] = math.MinInt64
	}
	b.phase, b.known, b.held = idle, false, nil
	b.played, b.floor, b.open = math.MinInt64, math.MinInt64, 0
	b.loss.clear()
}

// Push takes a packet that came at now.
func (b *Buffer) Push(now time.Duration, p Packet) Verdict {
	b.stats.Packets++
	if p.Samples <= 0 || p.Samples > mostSamples {
		return Refused
	}
	if b.known && p.SSRC != b.ssrc {
		b.forget()
		b.stats.Restarts++
	}
	if !b.known {
		b.known, b.ssrc = true, p.SSRC
		b.newest, b.newestTS = 1<<32+int64(p.Sequence)-1, 1<<40+int64(p.Timestamp)
		b.windowAt, b.fastest = now, math.MinInt64
		b.loss.began(now)
	}
	e := entry{
		seq:     b.newest + int64(int16(p.Sequence-uint16(b.newest))),
		ts:      b.newestTS + int64(int32(p.Timestamp-uint32(b.newestTS))),
		samples: int64(p.Samples), payload: p.Payload,
	}
	if e.seq <= b.newest-remembered || e.seq < b.floor {
		b.stats.LatePast++
		return Late
	}
	place := &b.seen[uint64(e.seq)%remembered]
	copied := &b.copied[uint64(e.seq)%remembered]
	if *place == e.seq {
		b.stats.Duplicates++
		if *copied {
			b.loss.overtaken()
			*copied = false
		}
		b.restore(now, e, p.Copies)
		return Duplicate
	}
	*place, *copied = e.seq, false
	newer := e.seq > b.newest
	if newer {
		b.loss.arrived(now, e)
	} else if b.loss.found(now, e.seq) {
		b.stats.Recovered++
	}
	verdict := b.take(now, e, newer)
	if newer {
		b.loss.revealed(now, b.newest, e, b.slack(now, e.ts))
		b.newest, b.newestTS = e.seq, e.ts
	}
	if verdict == Held {
		b.restore(now, e, p.Copies) // before anybody asks, or measures what is missing
	}
	b.lastArrival = now
	b.measure(now)
	return verdict
}

// take puts a packet in its place, or begins a new run with it.
func (b *Buffer) take(now time.Duration, e entry, newer bool) Verdict {
	switch {
	case b.phase == idle:
		b.begin(now, e)
		return Held
	case b.phase == filling:
		if newer && distance(e.ts, b.held[0].ts) > leap {
			b.begin(now, e)
			return Held
		}
		if distance(e.ts, b.held[0].ts) > leap {
			return Refused // of the run before
		}
		return b.insert(e)
	case b.leapt(e):
		if !newer {
			return Refused
		}
		b.begin(now, e)
		b.stats.Restarts++
		return Held
	}
	slack := b.slack(now, e.ts)
	if newer {
		b.fastest = max(b.fastest, slack)
	}
	if e.ts >= b.pos {
		b.lateSince = 0
		return b.insert(e)
	}
	// Behind the position. Where nothing real has been played after it, it is not too
	// late: playout goes back to it, and what follows is that much later.
	back := b.pos - e.ts
	if e.ts >= b.played && b.delay+span(back) <= b.most {
		b.pos -= back
		b.out -= back
		b.shift(span(back))
		b.open = max(0, b.open-back)
		b.stats.ConcealedSamples += uint64(back)
		b.target = max(b.target, min(b.delay, b.most))
		b.lateAt, b.lateSince = now, 0
		return b.insert(e)
	}
	return b.tooLate(now, e, newer, -slack)
}

// leapt reports that a packet is too far from what is played to be of the same run. One that
// is near the newest comes of a clock that stood still, and not the sender's.
func (b *Buffer) leapt(e entry) bool {
	far := distance(e.ts, b.out)
	return far > 2*leap || far > leap && distance(e.ts, b.newestTS) > rate/2
}

func (b *Buffer) tooLate(now time.Duration, e entry, newer bool, by time.Duration) Verdict {
	b.stats.LatePast++
	if by > 0 && by < time.Second {
		b.target = min(b.most, max(b.target, b.delay+by+margin))
		b.lateAt = now
	}
	switch {
	case !newer || len(b.held) > 0:
	case b.lateSince == 0:
		b.lateSince = now
	case now-b.lateSince >= lateRun:
		b.target = b.need() // that lateness was no network's
		b.begin(now, e)
		b.stats.Restarts++
		return Held
	}
	return Late
}

// begin starts a run with a packet: it is played when the delay is over.
func (b *Buffer) begin(now time.Duration, e entry) {
	b.phase, b.startAt = filling, now+b.target
	b.held = append(b.held[:0], e)
	b.played, b.open, b.lateSince = math.MinInt64, 0, 0
	// What the network still carries of the run before must not come between.
	b.floor = max(b.floor, e.seq-8)
	b.delay, b.fastest, b.windowAt = b.target, math.MinInt64, now
}

func (b *Buffer) insert(e entry) Verdict {
	if len(b.held) >= mostHeld {
		return Refused
	}
	i, same := slices.BinarySearchFunc(b.held, e.ts, func(h entry, ts int64) int { return int(h.ts - ts) })
	if same {
		b.stats.Duplicates++
		return Duplicate
	}
	b.held = slices.Insert(b.held, i, e)
	return Held
}

// slack is how long before its time a packet of that time stamp is here.
func (b *Buffer) slack(now time.Duration, ts int64) time.Duration {
	if b.phase == playing {
		return b.next + span(ts-b.out) - now
	}
	if len(b.held) == 0 {
		return b.target
	}
	return b.startAt + span(ts-b.held[0].ts) - now
}

func span(samples int64) time.Duration { return time.Duration(samples) * time.Second / rate }

func distance(a, b int64) int64 { return max(a-b, b-a) }
