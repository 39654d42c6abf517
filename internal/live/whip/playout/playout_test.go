package playout

import (
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip/jitter"
	"github.com/athir-radio/athir/internal/live/whip/whiptest"
)

// listen plays packets that come at their time, but for those left out, and returns what
// was heard, a tick each; nil where there was nothing.
func listen(packets [][]byte, left func(i int) bool) (ticks [][]int16, p *Player) {
	p = New(jitter.Options{})
	for i := 0; i < len(packets)+50; i++ {
		now := time.Duration(i) * live.Tick
		if i < len(packets) && !left(i) {
			p.Push(now, 1, uint16(i), uint32(i*tick), packets[i])
		}
		out := p.Tick(now)
		if out == nil {
			ticks = append(ticks, nil)
			continue
		}
		one := make([]int16, len(out)/2)
		for k := range one {
			one[k] = int16(uint16(out[2*k]) | uint16(out[2*k+1])<<8)
		}
		ticks = append(ticks, one)
	}
	return ticks, p
}

func join(ticks [][]int16) []int16 {
	var out []int16
	for _, t := range ticks {
		if t == nil {
			t = make([]int16, tick*channels)
		}
		out = append(out, t...)
	}
	return out
}

// A tone that comes whole is heard whole, 200 ms later, without an edge.
func TestWhatComesIsHeardWholeAfterTheDelay(t *testing.T) {
	packets := whiptest.Packets(t, "sine=440:d=2", "-application", "voip", "-b:a", "40k", "-ac", "1")
	ticks, p := listen(packets, func(int) bool { return false })
	first := -1
	for i, one := range ticks {
		if one != nil && first < 0 {
			first = i
		}
	}
	if first != 10 {
		t.Errorf("the first tick was heard at %d", first)
	}
	all := join(ticks[15 : len(packets)+5])
	if l := whiptest.Level(all, 440); l < 3500 {
		t.Errorf("a level of %.0f", l)
	}
	if e := whiptest.Edge(all); e > 60 {
		t.Errorf("an edge of %.0f", e)
	}
	if p.Faults() != 0 || p.Buffer.Stats().ConcealedSamples != 0 {
		t.Errorf("%d faults, %+v", p.Faults(), p.Buffer.Stats())
	}
}

// The packet is played whatever its copies are; what is no redundant audio is refused whole,
// and each fault is counted.
func TestRedundantAudioIsRefusedInParts(t *testing.T) {
	packets := whiptest.Packets(t, "sine=440:d=1")
	now, before := packets[20], packets[19]
	for _, c := range []struct {
		what    string
		payload []byte
		want    jitter.Verdict
		faults  uint64
	}{
		{"a packet and its copy", whiptest.Redundant(111, before, now), jitter.Held, 0},
		{"a copy that is no Opus", whiptest.Redundant(111, []byte{0xff}, now), jitter.Held, 1},
		{"a packet that is no Opus", whiptest.Redundant(111, before, []byte{0xff}), jitter.Refused, 1},
		{"another payload type", whiptest.Redundant(0, before, now), jitter.Refused, 1},
		{"plain Opus", now, jitter.Refused, 1},
	} {
		p := New(jitter.Options{})
		if got := p.PushRED(0, 1, 1, 960, c.payload, 111); got != c.want || p.Faults() != c.faults {
			t.Errorf("%s: %v and %d faults, want %v and %d", c.what, got, p.Faults(), c.want, c.faults)
		}
	}
}

// Up to 60 ms are concealed without a click and ever softer; then there is nothing.
func TestAHoleFadesAndEndsWithoutAClick(t *testing.T) {
	packets := whiptest.Packets(t, "sine=440:d=2", "-application", "audio", "-b:a", "96k", "-ac", "1")
	for _, hole := range []int{1, 2, 3, 8} {
		ticks, p := listen(packets, func(i int) bool { return i >= 50 && i < 50+hole })
		all := join(ticks[15 : len(packets)+5])
		// A tone at 440 Hz bends by 13 at most; mirrored halves meet at an angle, which is a
		// bend, but no step: a step of the tone's height would be 4000.
		if e := whiptest.Edge(all); e > 500 {
			t.Errorf("a hole of %d packets: an edge of %.0f", hole, e)
		}
		before := math.Inf(1)
		for i := range min(hole, fadeTicks) {
			l := whiptest.Level(ticks[60+i], 440)
			if l == 0 || l >= before {
				t.Errorf("a hole of %d packets: tick %d has a level of %.0f after %.0f", hole, i, l, before)
			}
			before = l
		}
		for i := fadeTicks; i < hole; i++ {
			if ticks[60+i] != nil {
				t.Errorf("a hole of %d packets: tick %d is not empty", hole, i)
			}
		}
		if c := p.Buffer.Stats().ConcealedSamples; c != uint64(hole*tick) {
			t.Errorf("a hole of %d packets: %d samples concealed", hole, c)
		}
	}
}

// In a pause a tick may be left out or doubled; where there is none, the joint is
// crossfaded.
func TestLeavingOutATickMakesNoClick(t *testing.T) {
	packets := whiptest.Packets(t, "sine=440:d=3", "-application", "audio", "-b:a", "96k", "-ac", "1")
	p := New(jitter.Options{Least: 100 * time.Millisecond, Most: 100 * time.Millisecond})
	var heard []int16
	for i := 0; i < len(packets); i++ {
		now := time.Duration(i) * live.Tick
		switch {
		case i < 40:
			p.Push(now, 1, uint16(i), uint32(i*tick), packets[i])
		case i == 90:
			// A second of the network's own delay, come at once: far beyond the longest delay.
			for k := 40; k <= 90; k++ {
				p.Push(now, 1, uint16(k), uint32(k*tick), packets[k])
			}
		case i > 90:
			p.Push(now, 1, uint16(i), uint32(i*tick), packets[i])
		}
		if out := p.Tick(now); out != nil && i > 12 {
			for k := 0; k < len(out); k += 2 {
				heard = append(heard, int16(uint16(out[k])|uint16(out[k+1])<<8))
			}
		}
	}
	if e := whiptest.Edge(heard); e > 500 {
		t.Errorf("an edge of %.0f", e)
	}
}

// Hostile packets among good ones neither stop it nor grow it.
func TestGarbageAmongThePacketsIsConcealed(t *testing.T) {
	packets := whiptest.Packets(t, "sine=440:d=2", "-application", "voip", "-b:a", "24k", "-ac", "1")
	rng := rand.New(rand.NewSource(1))
	for i := range packets {
		if i%7 == 3 {
			packets[i] = make([]byte, rng.Intn(200))
			rng.Read(packets[i])
		}
	}
	ticks, p := listen(packets, func(int) bool { return false })
	heard := 0
	for _, one := range ticks {
		if one != nil {
			heard++
		}
	}
	if heard < 70 || p.Buffer.Stats().Frames == 0 {
		t.Errorf("%d ticks heard, %d faults", heard, p.Faults())
	}
}

func FuzzPlay(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x78, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		p := New(jitter.Options{})
		for i := 0; len(data) > 4; i++ {
			n := min(int(data[0]), len(data)-1)
			now := time.Duration(i) * live.Tick
			p.Push(now, uint32(data[1]&1), uint16(i)+uint16(data[1]>>6), uint32(i*tick)+uint32(data[1]&7)*240, data[1:1+n])
			data = data[1+n:]
			if out := p.Tick(now); out != nil && len(out) != live.FrameBytes {
				t.Fatalf("%d bytes", len(out))
			}
			if len(p.queue) > 8*len(p.frame) {
				t.Fatalf("%d values wait", len(p.queue))
			}
		}
	})
}
