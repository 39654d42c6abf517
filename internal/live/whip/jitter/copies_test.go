package jitter

import (
	"math/rand"
	"reflect"
	"slices"
	"testing"
	"time"
)

// carrying is a packet with copies of those before it, the nearest first.
func carrying(seq, copies int) Packet {
	p := packet(seq)
	for back := 1; back <= min(copies, seq); back++ {
		p.Copies = append(p.Copies, Copy{Back: back, Offset: uint32(back * tick), Samples: tick, Payload: packet(seq - back).Payload})
	}
	return p
}

// With a copy in the next packet only two losses in a row are heard, though nothing is sent
// again; and as nothing has to be waited for, the delay stays as it was.
func TestSingleLossesAreFilledByCopies(t *testing.T) {
	for seed := range int64(5) {
		w := &wire{rng: rand.New(rand.NewSource(seed)), loss: 0.05, burst: 1, delay: 150 * time.Millisecond, jitter: 10 * time.Millisecond, copies: 1, deaf: true}
		const n = 15_000 // five minutes
		r := publish(t, w, New(Options{}), n, 1)
		inOrder(t, r.heard)
		share := float64(r.stats.ConcealedSamples) / (n * tick)
		t.Logf("seed %d: %.2f %% concealed, lost %d, restored %d, asked %d times, loss %.3f, delay %v",
			seed, 100*share, r.stats.Lost, r.stats.Restored, r.asked, r.stats.Loss, r.stats.Delay)
		if share >= 0.005 {
			t.Errorf("seed %d: %.2f %% concealed", seed, 100*share)
		}
		if most := int(r.stats.Lost-r.stats.Restored) * copies * mostRounds; r.asked > most {
			t.Errorf("seed %d: asked %d times for %d packets", seed, r.asked, r.stats.Lost-r.stats.Restored)
		}
		if r.stats.Loss < 0.02 || r.stats.Delay > 200*time.Millisecond+2*Tick {
			t.Errorf("seed %d: loss of the way %.3f, delay %v", seed, r.stats.Loss, r.stats.Delay)
		}
	}
}

// Bursts of three on a long way leave less behind with copies than without, see
// TestBurstsOfLossOnALongWayAreAskedForInTime.
func TestBurstsOfLossWithCopies(t *testing.T) {
	for seed := range int64(5) {
		concealed := [2]float64{}
		for copies := range 2 {
			w := &wire{rng: rand.New(rand.NewSource(seed)), loss: 0.15, burst: 3, delay: 150 * time.Millisecond, jitter: 30 * time.Millisecond, copies: copies}
			const n = 15_000
			r := publish(t, w, New(Options{}), n, 1)
			inOrder(t, r.heard)
			concealed[copies] = float64(r.stats.ConcealedSamples) / (n * tick)
			t.Logf("seed %d, %d copies: %.2f %% concealed, restored %d of %d, delay %v", seed, copies, 100*concealed[copies], r.stats.Restored, r.stats.Lost, r.stats.Delay)
		}
		if concealed[1] > 0.01 || concealed[1] > concealed[0] {
			t.Errorf("seed %d: %.4f concealed with copies, %.4f without", seed, concealed[1], concealed[0])
		}
	}
}

// A packet that was only overtaken by the carrier of its copy is played once, and is no loss.
func TestAPacketThatComesAfterItsCopyIsNoLoss(t *testing.T) {
	b := New(Options{})
	var r run
	for i := range 400 {
		now := time.Duration(i) * Tick
		if i%2 == 0 {
			b.Push(now, carrying(i+1, 1))
			if v := b.Push(now+5*time.Millisecond, carrying(i, 1)); v != Duplicate && i > 0 {
				t.Fatalf("packet %d: %v", i, v)
			}
		}
		if n := b.Nacks(now); len(n) > 0 {
			t.Fatalf("asks for %v", n)
		}
		playTick(b, now, &r)
	}
	inOrder(t, r.heard)
	if s := b.Stats(); s.Loss > 0.03 || s.Restored < 190 || s.ConcealedSamples > 0 || len(r.heard) < 380 {
		t.Errorf("%d heard: %+v", len(r.heard), s)
	}
}

// The number before may be a pause away: it is played at its own time.
func TestACopyFromBeforeAPauseIsPlayedAtItsTime(t *testing.T) {
	const pause = 14 // ticks that are left out after each packet of the pause
	b := New(Options{})
	var r run
	seq := 0
	for i := range 400 {
		now := time.Duration(i) * Tick
		if i < 100 || i%(pause+1) == 0 {
			p := packet(seq)
			p.Timestamp = uint32(i*tick) + 4_294_900_000
			if i >= 105 {
				p.Copies = []Copy{{Back: 1, Offset: (pause + 1) * tick, Samples: tick, Payload: packet(seq - 1).Payload}}
			}
			if i < 100 || seq%2 == 0 {
				b.Push(now, p)
			}
			seq++
		}
		playTick(b, now, &r)
	}
	inOrder(t, r.heard)
	s := b.Stats()
	// A copy from so far before comes when its time is over: the delay grows to hold it.
	if missing := seq - len(r.heard); missing > 3 || s.Restored < 8 || s.Restarts > 0 {
		t.Errorf("%d of %d were not heard: %+v", missing, seq, s)
	}
}

// A copy that fits no hole leaves everything as if it had not been there: what is heard,
// what is asked for, what is counted. Of ten packets the first and the third are lost, and
// come again 100 ms after the first; the fourth has the copy.
func TestCopiesThatFitNoHoleChangeNothing(t *testing.T) {
	for what, c := range map[string]Copy{
		"of what was received":                  {Back: 2, Offset: 2 * tick, Samples: tick},
		"at the carrier's own time":             {Back: 1, Offset: 0, Samples: tick},
		"at its neighbour's time":               {Back: 1, Offset: 2 * tick, Samples: tick},
		"with the number of an earlier hole":    {Back: 3, Offset: tick, Samples: tick},
		"with the number of a later hole":       {Back: 1, Offset: 3 * tick, Samples: tick},
		"over the end of its neighbour":         {Back: 1, Offset: tick + tick/2, Samples: tick / 2},
		"longer than the hole":                  {Back: 1, Offset: tick, Samples: 2 * tick},
		"over what was played":                  {Back: 3, Offset: 20 * tick, Samples: tick},
		"with its carrier's number":             {Back: 0, Offset: tick, Samples: tick},
		"of a number to come":                   {Back: -3, Offset: tick, Samples: tick},
		"of a number from long ago":             {Back: 90_000, Offset: tick, Samples: tick},
		"of no length":                          {Back: 1, Offset: tick},
		"longer than any packet":                {Back: 1, Offset: tick, Samples: 9 * mostSamples},
		"later than its carrier":                {Back: 1, Offset: 1 << 31, Samples: tick},
		"of before the run, at a hole's number": {Back: 3, Offset: 700 * tick, Samples: tick},
	} {
		alike(t, what, func(c []Copy) run {
			b := New(Options{})
			var r run
			for i := range 300 {
				now := time.Duration(i) * Tick
				if i%10 != 0 && i%10 != 2 {
					p := packet(i)
					if i%10 == 3 {
						p.Copies = c
					}
					b.Push(now, p)
				}
				if i%10 == 5 {
					b.Push(now, packet(i-5))
					b.Push(now, packet(i-3))
				}
				r.asked += len(b.Nacks(now))
				playTick(b, now, &r)
			}
			r.stats = b.Stats()
			return r
		}, c)
	}
	// Where so little is held that the hole is next.
	alike(t, "over what was just played", func(c []Copy) run {
		b := New(Options{Least: Tick})
		var r run
		for i := range 300 {
			now := time.Duration(i) * Tick
			p := packet(i)
			if i%10 == 1 {
				p.Copies = c
			}
			if i%10 != 0 {
				b.Push(now, p)
			}
			playTick(b, now, &r)
		}
		r.stats = b.Stats()
		return r
	}, Copy{Back: 1, Offset: 2 * tick, Samples: tick})
	// What follows the lost packet has been played, then the sender paused: time is free.
	alike(t, "in a pause, with a number from before it", func(c []Copy) run {
		b := New(Options{Least: Tick})
		var r run
		for i := range 300 {
			now := time.Duration(i) * Tick
			p := packet(i)
			if i >= 120 {
				p = packet(i - 20)
				p.Timestamp += 20 * tick
			}
			if i == 120 {
				p.Copies = c
			}
			if i != 98 && (i < 100 || i >= 120) {
				b.Push(now, p)
			}
			r.asked += len(b.Nacks(now))
			playTick(b, now, &r)
		}
		r.stats = b.Stats()
		return r
	}, Copy{Back: 2, Offset: 2 * tick, Samples: tick})
}

// alike compares what comes of packets with and without a copy.
func alike(t *testing.T, what string, play func([]Copy) run, c Copy) {
	t.Helper()
	c.Payload = []byte{1, 2, 3}
	without, with := play(nil), play([]Copy{c})
	inOrder(t, without.heard)
	if !reflect.DeepEqual(with, without) || without.stats.Lost == 0 {
		t.Errorf("a copy %s:\n%+v\n%+v", what, with.stats, without.stats)
	}
}

// What the sender's copy says is played where it fills a hole, and never a second time.
func TestAHoleIsFilledOnce(t *testing.T) {
	b := New(Options{})
	var r run
	for i := range 100 {
		now := time.Duration(i) * Tick
		if i != 50 {
			b.Push(now, carrying(i, 3))
		}
		if i == 53 {
			b.Push(now, packet(50))
			b.Push(now, carrying(51, 3))
		}
		playTick(b, now, &r)
	}
	inOrder(t, r.heard)
	if s := b.Stats(); !slices.Contains(r.heard, 50) || s.Restored != 1 || s.Lost != 1 || s.ConcealedSamples > 0 || s.Duplicates != 2 {
		t.Errorf("%+v", s)
	}
}
