package jitter

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"
)

// wire is a network in virtual time: loss in bursts, delay and jitter, both ways.
type wire struct {
	rng    *rand.Rand
	loss   float64 // share of packets
	burst  int
	delay  time.Duration // one way
	jitter time.Duration
	left   [2]int // of a burst under way, each direction
	copies int    // each packet carries those of so many before it
	deaf   bool   // nothing is sent again
}

// send is when a packet arrives; false where it is lost.
func (w *wire) send(now time.Duration, direction int) (time.Duration, bool) {
	if w.left[direction] > 0 {
		w.left[direction]--
		return 0, false
	}
	// A burst starts so often that its packets are the share.
	if start := w.loss / (float64(w.burst) * (1 - w.loss)); w.loss > 0 && w.rng.Float64() < start {
		w.left[direction] = w.burst - 1
		return 0, false
	}
	return now + w.delay + time.Duration(w.rng.Float64()*float64(w.jitter)), true
}

type event struct {
	at   time.Duration
	seq  int
	nack []uint16
}

// run is what was heard: the sequence numbers in order, and what was concealed.
type run struct {
	heard     []int
	concealed int // samples
	asked     int
	stats     Stats
}

// publish sends n packets through the wire to a buffer and plays it out. The sender
// resends what it is asked for at once, and again only after a round trip, as
// Chromium's does. Clock is the sender's clock, 1 being ours.
func publish(t testing.TB, w *wire, b *Buffer, n int, clock float64) run {
	t.Helper()
	var out run
	var up, down []event
	resent := map[uint16]time.Duration{}
	push := func(now time.Duration, seq int) {
		if at, ok := w.send(now, 0); ok {
			up = append(up, event{at: at, seq: seq})
		}
	}
	end := time.Duration(float64(n)*clock)*Tick + 2*time.Second
	sent := 0
	for now := time.Duration(0); now < end; now += time.Millisecond {
		for sent < n && time.Duration(float64(sent)*float64(Tick)*clock) <= now {
			push(now, sent)
			sent++
		}
		for _, e := range due(&down, now) {
			for _, s := range e.nack {
				last, again := resent[s]
				if again && now-last < 2*w.delay {
					continue
				}
				resent[s] = now
				full := sent - 1 - int(uint16(sent-1+65_000)-s)
				if full >= 0 {
					push(now, full)
				}
			}
		}
		for _, e := range due(&up, now) {
			b.Push(now, carrying(e.seq, w.copies))
		}
		if now%Tick != 0 {
			continue
		}
		if ask := b.Nacks(now); len(ask) > 0 {
			out.asked += len(ask)
			if at, ok := w.send(now, 1); ok && !w.deaf {
				down = append(down, event{at: at, nack: ask})
			}
		}
		playTick(b, now, &out)
	}
	out.stats = b.Stats()
	return out
}

// playTick does what a player does, with pauses every few seconds of speech.
func playTick(b *Buffer, now time.Duration, out *run) {
	quiet := now%(3*time.Second) < 400*time.Millisecond
	if quiet && b.Surplus() <= -Tick {
		b.Stall(now)
		return
	}
	if !b.Tick(now) {
		return
	}
	if quiet && b.Surplus() >= Tick || b.Overfull() {
		b.Skip()
	}
	for {
		p := b.Next()
		switch p.Kind {
		case Done:
			return
		case Frame:
			out.heard = append(out.heard, int(p.Payload[0])|int(p.Payload[1])<<8|int(p.Payload[2])<<16)
		case Gap:
			out.concealed += p.Samples
		}
	}
}

func packet(seq int) Packet {
	return Packet{SSRC: 7, Sequence: uint16(seq + 65_000), Timestamp: uint32(seq*tick) + 4_294_900_000, Samples: tick,
		Payload: []byte{byte(seq), byte(seq >> 8), byte(seq >> 16)}}
}

func due(events *[]event, now time.Duration) []event {
	var out []event
	*events = slices.DeleteFunc(*events, func(e event) bool {
		if e.at <= now {
			out = append(out, e)
			return true
		}
		return false
	})
	slices.SortStableFunc(out, func(a, b event) int { return int(a.at - b.at) })
	return out
}

// The figure of the specification: 15 % loss in bursts of three both ways, 300 ms of
// round trip, 30 ms of jitter; at most 1 % of frames concealed.
func TestBurstsOfLossOnALongWayAreAskedForInTime(t *testing.T) {
	for seed := range int64(5) {
		w := &wire{rng: rand.New(rand.NewSource(seed)), loss: 0.15, burst: 3, delay: 150 * time.Millisecond, jitter: 30 * time.Millisecond}
		b := New(Options{})
		const n = 15_000 // five minutes
		r := publish(t, w, b, n, 1)
		inOrder(t, r.heard)
		share := float64(r.stats.ConcealedSamples) / (n * tick)
		t.Logf("seed %d: %.2f %% concealed, lost %d, recovered %d, late %d, delay %v, round trip %v, loss %.3f, jitter %v",
			seed, 100*share, r.stats.Lost, r.stats.Recovered, r.stats.LatePast, r.stats.Delay, r.stats.RoundTrip, r.stats.Loss, r.stats.Jitter)
		if share > 0.01 {
			t.Errorf("seed %d: %.2f %% concealed", seed, 100*share)
		}
		if r.stats.Delay > 900*time.Millisecond+Tick {
			t.Errorf("seed %d: a delay of %v", seed, r.stats.Delay)
		}
	}
}

// A near phone is played sooner than a far one, and what is lost still comes in time.
func TestANearPhoneIsPlayedSooner(t *testing.T) {
	for trip, want := range map[time.Duration]time.Duration{
		2 * time.Millisecond: 122 * time.Millisecond, 40 * time.Millisecond: 160 * time.Millisecond, 300 * time.Millisecond: 200 * time.Millisecond,
	} {
		b := New(Options{})
		b.Near(trip)
		if got := b.Stats().Target; got != want {
			t.Errorf("round trip %s: it begins with %s, want %s", trip, got, want)
		}
		if trip > 100*time.Millisecond {
			continue
		}
		w := &wire{rng: rand.New(rand.NewSource(1)), loss: 0.05, burst: 3, delay: trip / 2, jitter: 15 * time.Millisecond}
		const n = 3000 // a minute
		r := publish(t, w, b, n, 1)
		inOrder(t, r.heard)
		if share := float64(r.stats.ConcealedSamples) / (n * tick); share > 0.01 {
			t.Errorf("round trip %s: %.2f %% concealed: %+v", trip, 100*share, r.stats)
		}
		if b.Near(0); b.least != want {
			t.Errorf("round trip %s: changed while it is played", trip)
		}
	}
}

func inOrder(t testing.TB, heard []int) {
	t.Helper()
	for i := 1; i < len(heard); i++ {
		if heard[i] <= heard[i-1] {
			t.Fatalf("packet %d was heard after %d", heard[i], heard[i-1])
		}
	}
}

func ExampleBuffer() {
	b := New(Options{Least: 40 * time.Millisecond})
	b.Push(0, Packet{Sequence: 1, Timestamp: 960, Samples: 960, Payload: []byte("b")})
	b.Push(0, Packet{Sequence: 0, Timestamp: 0, Samples: 960, Payload: []byte("a")})
	for now := time.Duration(0); now < 100*time.Millisecond; now += Tick {
		b.Tick(now)
		for p := b.Next(); p.Kind != Done; p = b.Next() {
			fmt.Printf("%v %d %s\n", now, p.Kind, p.Payload)
		}
	}
	// Output:
	// 40ms 1 a
	// 60ms 1 b
	// 80ms 2
}
