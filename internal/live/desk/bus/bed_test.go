package bus

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

// A bed that brings no audio, as its file cannot be read, does not keep the station silent
// for the length of the show.
func TestABedWithoutAudioDoesNotHoldTheAir(t *testing.T) {
	r := newRig(t)
	a := r.feed("a", tone(440, 0.3))
	r.Bed(tape.New())
	r.order(live.Order{Show: &live.Show{Title: "Evening", Until: r.now.Add(time.Hour).UnixMilli()}}, a)
	r.run(10 * second)
	a.off = true
	r.run(15 * second)
	if r.last.Open {
		t.Error("the bus is open, and nothing is heard")
	}
}

// Who talked over the rotation fades out over it: an order says nothing of those before it.
func TestTheEndOfATalkOverIsOverTheRotationToo(t *testing.T) {
	r := newRig(t)
	a, b := r.feed("a", tone(440, 0.3)), r.feed("b", tone(880, 0.3))
	r.order(live.Order{Mode: live.Over}, a)
	r.run(2 * second)
	r.want(nil)
	for r.last.Open {
		if r.last.Mode != live.Over {
			t.Fatalf("the tail is sent as %q", r.last.Mode)
		}
		r.run(live.Tick)
	}
	// And the next one, in place of the rotation, is that from its own first sound on.
	r.order(live.Order{Mode: live.Over}, a)
	r.run(2 * second)
	b.sound = hush
	r.run(second)
	r.order(live.Order{Mode: live.Replace}, b, a)
	r.run(second)
	if r.last.Air.ID != "a" || r.last.Mode != live.Over {
		t.Errorf("while b is silent %s is sent as %q", r.last.Air.ID, r.last.Mode)
	}
	b.sound = tone(880, 0.3)
	r.run(second)
	if r.last.Air.ID != "b" || r.last.Mode != live.Replace {
		t.Errorf("%s is sent as %q", r.last.Air.ID, r.last.Mode)
	}
}
