package jitter

import (
	"math/rand"
	"testing"
	"testing/quick"
	"time"
)

// Whatever comes, no packet is handed out twice, none before one of a smaller time
// stamp, and what waits is bounded.
func TestWhateverComesNothingIsPlayedTwiceOrOutOfOrder(t *testing.T) {
	f := func(seed int64) bool {
		rng := rand.New(rand.NewSource(seed))
		b := New(Options{})
		played := map[int]bool{}
		last := -1
		now := time.Duration(0)
		for step := range 4000 {
			// The sender's own order, shuffled by up to 60 places, some twice or thrice.
			seq := max(0, step+rng.Intn(60)-30)
			for range 1 + rng.Intn(2)*rng.Intn(3) {
				b.Push(now, carrying(seq, rng.Intn(4)))
			}
			if rng.Intn(200) == 0 {
				now += time.Duration(rng.Intn(700)) * time.Millisecond
			}
			now += Tick
			b.Nacks(now)
			switch {
			case rng.Intn(50) == 0:
				b.Stall(now)
				continue
			case rng.Intn(50) == 0:
				b.Skip()
			}
			b.Tick(now)
			samples := 0
			for p := b.Next(); p.Kind != Done; p = b.Next() {
				if samples += p.Samples; samples > 4*tick {
					t.Logf("seed %d: a tick of %d samples", seed, samples)
					return false
				}
				if p.Kind == Frame {
					n := int(p.Payload[0]) | int(p.Payload[1])<<8
					if played[n] || n <= last {
						t.Logf("seed %d: %d after %d", seed, n, last)
						return false
					}
					played[n], last = true, n
				}
			}
			if len(b.held) > mostHeld || len(b.loss.missing) > mostMissing {
				return false
			}
		}
		return len(played) > 2000
	}
	if err := quick.Check(f, &quick.Config{MaxCount: 60}); err != nil {
		t.Error(err)
	}
}

// Bytes drive everything a hostile sender can: numbers, time stamps, lengths, sources.
func FuzzPackets(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 0, 2, 255, 128, 9, 7, 3, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		b := New(Options{})
		now := time.Duration(0)
		for ; len(data) >= 6; data = data[6:] {
			b.Push(now, Packet{SSRC: uint32(data[0] & 1), Sequence: uint16(data[1])<<8 | uint16(data[2]),
				Timestamp: uint32(data[3])<<24 | uint32(data[4])<<12, Samples: int(data[5])*32 - 100, Payload: data[:1],
				Copies: []Copy{{Back: int(data[2]&7) - 1, Offset: uint32(data[4]) << 6, Samples: int(data[3])*32 - 100, Payload: data[:1]}}})
			now += time.Duration(data[5]&63) * time.Millisecond
			b.Nacks(now)
			b.Tick(now)
			for i := 0; ; i++ {
				p := b.Next()
				if p.Kind == Done {
					break
				}
				if p.Samples <= 0 || p.Samples > mostSamples || p.Skip < 0 || i > 2*tick {
					t.Fatalf("piece %d: %+v", i, p)
				}
			}
			if len(b.held) > mostHeld || b.delay > time.Minute {
				t.Fatalf("%d held, a delay of %v", len(b.held), b.delay)
			}
		}
	})
}

// Eight hours of a sender whose clock is off by 100 ppm either way.
func TestClocksThatDifferDoNotDriftApart(t *testing.T) {
	for _, clock := range []float64{1 - 1e-4, 1 + 1e-4} {
		w := &wire{rng: rand.New(rand.NewSource(1)), delay: 30 * time.Millisecond, jitter: 20 * time.Millisecond}
		b := New(Options{})
		const n = 8 * 3600 * 50
		r := publish(t, w, b, n/8, 1+8*(clock-1)) // the same drift in an eighth of the time
		inOrder(t, r.heard)
		t.Logf("clock %v: delay %v of %v, %d of %d heard, concealed %d samples, late %d", clock, r.stats.Delay, r.stats.Target, len(r.heard), n/8, r.stats.ConcealedSamples, r.stats.LatePast)
		if d := r.stats.Delay - r.stats.Target; d > 3*Tick || d < -3*Tick {
			t.Errorf("clock %v: the delay is %v, and should be %v", clock, r.stats.Delay, r.stats.Target)
		}
		if r.stats.LatePast > 10 {
			t.Errorf("clock %v: %d packets came too late", clock, r.stats.LatePast)
		}
	}
}

func TestAShortStallOfTheNetworkLosesNothing(t *testing.T) {
	b := New(Options{})
	var r run
	for i := range 500 {
		now := time.Duration(i) * Tick
		// Nothing for half a second, then all of it at once.
		switch {
		case i < 200 || i > 225:
			b.Push(now, packet(i))
		case i == 225:
			for s := 200; s <= 225; s++ {
				b.Push(now, packet(s))
			}
		}
		playTick(b, now, &r)
	}
	inOrder(t, r.heard)
	s := b.Stats()
	// It plays to within the delay, which has grown; what is missing at the end has not
	// been played yet.
	if missing := 500 - len(r.heard); missing > int(s.Delay/Tick)+2 {
		t.Errorf("%d packets were not heard, with a delay of %v: %+v", missing, s.Delay, s)
	}
	if s.LatePast > 0 {
		t.Errorf("%d packets came too late", s.LatePast)
	}
}

// Discontinuous transmission skips time and no number: nothing is lost or concealed,
// nothing asked for, and what follows is played at its own time.
func TestPausesOfTheSenderAreNoLoss(t *testing.T) {
	b := New(Options{})
	var r run
	gaps := 0
	for i := range 400 {
		now := time.Duration(i) * Tick
		seq := i
		if i >= 100 {
			seq = i - 50
		}
		if i < 100 || i >= 150 {
			p := packet(seq)
			p.Timestamp = uint32(i*tick) + 4_294_900_000
			b.Push(now, p)
		}
		if n := b.Nacks(now); len(n) > 0 {
			t.Fatalf("asks for %v", n)
		}
		before := r.concealed
		playTick(b, now, &r)
		gaps += (r.concealed - before) / tick
	}
	inOrder(t, r.heard)
	if s := b.Stats(); s.Lost > 0 || s.ConcealedSamples > 0 || s.Delay != 200*time.Millisecond {
		t.Errorf("%+v", s)
	}
	if gaps < 50 || len(r.heard) < 330 {
		t.Errorf("%d ticks of pause, %d packets", gaps, len(r.heard))
	}
}

func TestANewSourceAndAStoppedClockBeginANewRun(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(i int, p *Packet)
	}{
		{"another SSRC, as of another microphone", func(i int, p *Packet) {
			p.SSRC, p.Sequence, p.Timestamp = 8, uint16(i+9), uint32(i*tick)+77
		}},
		{"time stamps that leap on", func(_ int, p *Packet) { p.Timestamp += 500_000 }},
		{"time stamps that leap back", func(_ int, p *Packet) { p.Timestamp -= 500_000 }},
		{"time stamps that stood still for a second", func(_ int, p *Packet) { p.Timestamp -= 48_000 }},
	} {
		b := New(Options{})
		var r run
		for i := range 400 {
			p := packet(i)
			if i >= 200 {
				c.change(i, &p)
			}
			b.Push(time.Duration(i)*Tick, p)
			playTick(b, time.Duration(i)*Tick, &r)
		}
		inOrder(t, r.heard)
		if len(r.heard) < 330 || r.heard[len(r.heard)-1] < 380 {
			t.Errorf("%s: %d packets heard, the last was %d: %+v", c.what, len(r.heard), r.heard[len(r.heard)-1], b.Stats())
		}
	}
}

func TestAfterALongSilenceTheNextPacketBeginsAtTheUsualDelay(t *testing.T) {
	b := New(Options{})
	var r run
	for i := range 600 {
		if i < 100 || i >= 400 {
			b.Push(time.Duration(i)*Tick, packet(i))
		}
		playTick(b, time.Duration(i)*Tick, &r)
	}
	inOrder(t, r.heard)
	if s := b.Stats(); s.Delay != 200*time.Millisecond || len(r.heard) < 285 {
		t.Errorf("%d heard: %+v", len(r.heard), s)
	}
}

// A retransmission that comes seconds late must not be taken for a sender that began anew.
func TestALateRetransmissionIsDropped(t *testing.T) {
	b := New(Options{})
	var r run
	for i := range 300 {
		if i != 50 {
			b.Push(time.Duration(i)*Tick, packet(i))
		}
		if i == 200 {
			if v := b.Push(time.Duration(i)*Tick, packet(50)); v == Held {
				t.Errorf("held: %v", v)
			}
		}
		playTick(b, time.Duration(i)*Tick, &r)
	}
	inOrder(t, r.heard)
	if s := b.Stats(); s.Restarts != 0 || s.ConcealedSamples != tick {
		t.Errorf("%+v", s)
	}
}

// Packets of every length that Opus has follow each other without a gap.
func TestEveryPacketLengthFollowsWithoutAGap(t *testing.T) {
	for _, samples := range []int{120, 240, 480, 960, 1920, 2880, 3840, 5760} {
		b := New(Options{})
		heard, gaps, sent := 0, 0, 0
		for i := range 500 {
			now := time.Duration(i) * Tick
			for ; sent*samples <= i*tick; sent++ {
				b.Push(now, Packet{Sequence: uint16(sent), Timestamp: uint32(sent * samples), Samples: samples})
			}
			b.Tick(now)
			for p := b.Next(); p.Kind != Done; p = b.Next() {
				if p.Kind == Gap {
					gaps++
				} else {
					heard += p.Samples - p.Skip
				}
			}
		}
		if gaps != 0 || heard < 480*tick {
			t.Errorf("%d samples: %d gaps, %d heard", samples, gaps, heard)
		}
	}
}

func BenchmarkBurstsOfLoss(b *testing.B) {
	for _, most := range []time.Duration{400 * time.Millisecond, 900 * time.Millisecond} {
		b.Run(most.String(), func(b *testing.B) {
			var share float64
			for i := range b.N {
				w := &wire{rng: rand.New(rand.NewSource(int64(i))), loss: 0.15, burst: 3, delay: 150 * time.Millisecond, jitter: 30 * time.Millisecond}
				buffer := New(Options{Most: most})
				r := publish(b, w, buffer, 3000, 1)
				share += float64(r.stats.ConcealedSamples) / (3000 * tick)
			}
			b.ReportMetric(100*share/float64(b.N), "%concealed")
		})
	}
}
