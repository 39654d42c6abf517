package whip

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip/jitter"
	"github.com/athir-radio/athir/internal/live/whip/playout"
	"github.com/athir-radio/athir/internal/live/whip/whiptest"
)

// What was said while the machine stood still is heard, whether the packets of that time are
// read before they are due or after. Read before, it is there for the desk at once, which
// catches up as much.
func TestNothingIsLostWhileTheMachineStandsStill(t *testing.T) {
	packets := whiptest.Packets(t, "sine=440:d=12", "-application", "voip", "-b:a", "40k", "-ac", "1")
	const before = 100
	for _, c := range []struct {
		name   string
		stalls int // ticks
		first  bool
		back   int // ticks that are played as soon as it goes on, at least
	}{
		{"half a second", 25, true, 25},
		{"a second", 50, true, 50},
		{"nearly two seconds", 95, true, 95},
		{"half a second, packets late", 25, false, 0},
		{"a second, packets late", 50, false, 0},
	} {
		p := playout.New(jitter.Options{})
		pushed, done, heard := 0, 0, 0
		push := func(now int) {
			for ; pushed < min(now, len(packets)); pushed++ {
				p.Push(time.Duration(now)*live.Tick, 1, uint16(pushed), uint32(pushed*live.FrameSamples), packets[pushed])
			}
		}
		play := func(due int) (n int) {
			for ; done < due; done++ {
				done = catchUp(done, due, p.Buffer.Ready())
				if p.Tick(time.Duration(done+1)*live.Tick) != nil {
					n++
				}
			}
			heard += n
			return n
		}
		for now := range before {
			push(now)
			play(now)
		}
		now := before + c.stalls
		if c.first {
			push(now)
		}
		if n := play(now); n < c.back {
			t.Errorf("%s: of %d ticks %d are played at once", c.name, c.stalls, n)
		}
		for ; now < len(packets)+200; now++ {
			push(now)
			play(now)
		}
		s := p.Buffer.Stats()
		t.Logf("%s: %d of %d ticks heard, %+v", c.name, heard, len(packets), s)
		if s.LatePast > 0 || int(s.Frames) != len(packets) || heard < len(packets) {
			t.Errorf("%s: of %d packets %d were played in %d ticks, %d came too late", c.name, len(packets), s.Frames, heard, s.LatePast)
		}
	}
}
