package jitter

import (
	"slices"
	"time"
)

const (
	mostMissing = 128
	// patience is given to a packet that may only have been overtaken.
	patience = 10 * time.Millisecond
	// copies of one request go out, a Tick apart: a burst of loss takes three. A sender
	// answers the first that arrives, and not again within a round trip.
	copies     = 4
	mostRounds = 3
	// shortRun is how many samples in a row are believed that are far shorter than before.
	shortRun = 5
	// firstTrip is the round trip until one was measured.
	firstTrip = 100 * time.Millisecond
)

// missing is a number that a later one overtook.
type missing struct {
	seq      int64
	revealed time.Duration
	deadline time.Duration // when it would be played
	first    time.Duration // when it was first asked for
	round    time.Duration // when this round began
	sent     time.Duration
	copies   int
	rounds   int
}

// losses keeps the numbers that are missing and decides when to ask for them. Its
// measures of loss are before retransmission.
type losses struct {
	missing []missing // by number

	jitter   time.Duration // RFC 3550, section 6.4.1
	transit  time.Duration
	hasTimes bool

	lost     uint64
	measured time.Duration // round trip of retransmissions
	short    int           // samples in a row that were far shorter

	rate              float64 // of all that was sent
	holes             float64 // less what copies filled before it was asked for
	windowAt          time.Duration
	expected, revealN int
	arrivedUnasked    int
	restoredUnasked   int
	hasRate           bool
}

func (l *losses) init() { l.missing = make([]missing, 0, mostMissing) }

func (l *losses) clear() {
	l.missing = l.missing[:0]
	l.hasTimes = false
}

func (l *losses) began(now time.Duration) { l.windowAt = now }

// arrived measures jitter by a packet that is newer than all before.
func (l *losses) arrived(now time.Duration, e entry) {
	transit := now - span(e.ts-1<<40)
	if l.hasTimes {
		d := transit - l.transit
		if d = max(d, -d); d < time.Second { // a leap of the time stamps is no jitter
			l.jitter += (d - l.jitter) / 16
		}
	}
	l.transit, l.hasTimes = transit, true
}

// revealed notes the numbers between newest and that of e as missing.
func (l *losses) revealed(now time.Duration, newest int64, e entry, slack time.Duration) {
	gap := e.seq - newest - 1
	l.expected += int(min(gap, mostMissing)) + 1
	if gap <= 0 || gap > mostMissing {
		return
	}
	l.lost += uint64(gap)
	l.revealN += int(gap)
	for s := newest + 1; s < e.seq; s++ {
		if len(l.missing) >= mostMissing {
			l.missing = slices.Delete(l.missing, 0, 1)
		}
		l.missing = append(l.missing, missing{seq: s, revealed: now, deadline: now + slack - span((e.seq-s)*e.samples)})
	}
}

// found reports whether a number was missing, and measures the round trip by it.
func (l *losses) found(now time.Duration, seq int64) bool {
	i, ok := l.find(seq)
	if !ok {
		return false
	}
	m := l.missing[i]
	l.missing = slices.Delete(l.missing, i, i+1)
	if m.rounds == 0 {
		l.arrivedUnasked++ // overtaken, not lost
		return true
	}
	l.sample(now - m.first)
	return true
}

// restored reports whether a number was missing whose copy came, and whether it had been
// asked for. The copy is no answer, and measures no round trip.
func (l *losses) restored(seq int64) (missing, asked bool) {
	i, ok := l.find(seq)
	if !ok {
		return false, false
	}
	asked = l.missing[i].rounds > 0
	l.missing = slices.Delete(l.missing, i, i+1)
	if !asked {
		l.restoredUnasked++
	}
	return true, asked
}

// overtaken notes that a packet comes whose copy came unasked: it was late, and not lost.
func (l *losses) overtaken() {
	l.arrivedUnasked++
	l.restoredUnasked--
}

func (l *losses) find(seq int64) (int, bool) {
	return slices.BinarySearchFunc(l.missing, seq, func(m missing, s int64) int { return int(m.seq - s) })
}

// sample takes a round trip. Which request was answered is not known: it is counted from
// the first. One that is far shorter may be that of a packet that was overtaken and came
// just after it was asked for: only a run of them is believed.
func (l *losses) sample(trip time.Duration) {
	switch {
	case l.measured == 0:
		l.measured = trip
	case trip < l.measured/2:
		if l.short++; l.short >= shortRun {
			l.measured, l.short = trip, 0
		}
		return
	case trip < l.measured:
		l.measured += (trip - l.measured) / 2
	default: // perhaps that of a later request
		l.measured += (trip - l.measured) / 16
	}
	l.short = 0
}

// round is how long an answer to a request may take.
func (l *losses) round() time.Duration {
	trip := l.measured
	if trip == 0 {
		trip = firstTrip
	}
	return trip + 3*l.jitter
}

// closeWindow measures loss once in a while, and reports that it did.
func (l *losses) closeWindow(now time.Duration) bool {
	// The first window is short: heavy loss shows at once, and every packet that the
	// delay is too short for is lost.
	long := window
	if !l.hasRate {
		long = window / 4
	}
	if now-l.windowAt < long || l.expected == 0 {
		return false
	}
	lost := l.revealN - l.arrivedUnasked
	rate := float64(max(0, lost)) / float64(l.expected)
	holes := float64(max(0, lost-l.restoredUnasked)) / float64(l.expected)
	if l.hasRate {
		rate = l.rate + (rate-l.rate)/3
		holes = l.holes + (holes-l.holes)/3
	}
	l.rate, l.holes, l.hasRate = rate, holes, true
	l.windowAt, l.expected, l.revealN, l.arrivedUnasked, l.restoredUnasked = now, 0, 0, 0, 0
	return true
}

// Nacks are the numbers to ask for now. Called each Tick, it asks for a missing number
// several times in a row, and anew when no answer came within a round trip, for as long
// as the answer could still be played.
func (b *Buffer) Nacks(now time.Duration) []uint16 {
	if b.phase == idle {
		return nil
	}
	l := &b.loss
	room := max(0, b.most-b.delay)
	var ask []uint16
	l.missing = slices.DeleteFunc(l.missing, func(m missing) bool { return now > m.deadline+room })
	for i := range l.missing {
		m := &l.missing[i]
		switch {
		case now-m.revealed < patience:
			continue
		case m.rounds == 0 || (m.rounds < mostRounds && now-m.round >= l.round()):
			if m.rounds == 0 {
				m.first = now
			}
			m.rounds++
			m.round, m.copies = now, 0
		case m.copies >= copies || now-m.sent < Tick-Tick/8:
			continue
		}
		m.sent = now
		m.copies++
		ask = append(ask, uint16(m.seq))
	}
	return ask
}
