package jitter

import (
	"math/rand"
	"testing"
	"time"
)

// Whatever numbers and time stamps a sender makes up: what waits, what is asked for and the
// delay stay bounded, and each tick ends.
func TestAHostileSenderIsBounded(t *testing.T) {
	for seed := range int64(60) {
		rng := rand.New(rand.NewSource(seed))
		b := New(Options{})
		now := time.Duration(0)
		seq, ts := uint16(rng.Uint32()), rng.Uint32()
		for i := range 10_000 {
			now += time.Duration(rng.Intn(3)) * 10 * time.Millisecond
			switch rng.Intn(8) {
			case 0:
				seq = uint16(rng.Uint32())
			case 1:
				ts = rng.Uint32()
			case 2:
				seq, ts = seq+uint16(rng.Intn(200)), ts+uint32(rng.Intn(2*rate))
			case 3:
				ts++
			case 4:
				seq, ts = seq+1, ts-uint32(rng.Intn(2*rate))
			default:
				seq, ts = seq+1, ts+tick
			}
			copies := []Copy{{Back: rng.Intn(6) - 1, Offset: uint32(rng.Intn(4 * tick)), Samples: 1 + rng.Intn(2*tick), Payload: []byte{1}}}
			b.Push(now, Packet{SSRC: uint32(rng.Intn(100) / 99), Sequence: seq, Timestamp: ts, Samples: 1 + rng.Intn(mostSamples), Payload: []byte{1}, Copies: copies})
			if i%2 > 0 {
				continue
			}
			b.Tick(now)
			for n := 0; ; n++ {
				p := b.Next()
				if p.Kind == Done {
					break
				}
				if n > 2*mostHeld || p.Samples < 0 || p.Samples > mostSamples || p.Skip < 0 || p.Skip > p.Samples {
					t.Fatalf("seed %d, packet %d: piece %d is %+v", seed, i, n, p)
				}
			}
			if len(b.held) > mostHeld || len(b.Nacks(now)) > mostMissing || b.delay.Abs() > 30*time.Second {
				t.Fatalf("seed %d, packet %d: %d wait, a delay of %s", seed, i, len(b.held), b.delay)
			}
		}
	}
}
