package bus

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
	"github.com/athir-radio/athir/internal/station"
)

// clipOf is a tone of so many ms.
func clipOf(hz, level float64, ms int) *Clip {
	sound := tone(hz, level)
	pcm := make([]int16, 0, ms*live.Rate/1000*live.Channels)
	for n := range int64(ms * live.Rate / 1000) {
		pcm = append(pcm, sound(n), sound(n))
	}
	return NewClip(pcm, true)
}

func (r *rig) fire(id string, c *Clip, gain float64, loop bool) live.CartPlaying {
	r.t.Helper()
	p, err := r.Fire(Press{ID: id, Clip: c, Cart: live.Cart{Slot: 3, GainDB: gain, Loop: loop}}, r.now)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// part is the level of one pitch in the left channel, as that of a full-scale sine is 0 dB.
func part(pcm []int16, hz float64) float64 {
	var re, im float64
	n := len(pcm) / live.Channels
	for i := range n {
		at := 2 * math.Pi * hz * float64(i) / live.Rate
		re += float64(pcm[i*live.Channels]) * math.Cos(at)
		im += float64(pcm[i*live.Channels]) * math.Sin(at)
	}
	return 20 * math.Log10(2*math.Hypot(re, im)/float64(n)/32768+1e-9)
}

// onTheAir is a source that is live with a tone at -26 dBFS.
func onTheAir(t *testing.T) (*rig, *feed) {
	t.Helper()
	r := newRig(t)
	a := r.feed("a", tone(400, 0.05))
	r.want(a)
	r.run(2 * second)
	if !r.Opened() {
		t.Fatal("the bus is closed")
	}
	return r, a
}

// heardIn runs one tick at a time for d, and returns what was heard of it.
func (r *rig) heardIn(d time.Duration) []int16 {
	from := len(r.heard)
	r.run(d)
	return r.heard[from:]
}

// A cart is in the very next tick after its order, at the level of its file and its gain, over
// the voice, which stays as it was; and it ends by itself.
func TestACartIsInTheTickAfterItsOrder(t *testing.T) {
	r, _ := onTheAir(t)
	if before := part(r.heardIn(second), 1000); before > -90 {
		t.Fatalf("1 kHz at %.1f dB before it was fired", before)
	}
	p := r.fire("one", clipOf(1000, 0.1, 1000), -6, false)
	if p.DurationMS != 1000 || p.Slot != 3 || p.StartedAt != r.now.UnixMilli() {
		t.Errorf("%+v", p)
	}
	// The limiter looks ahead by a few ms: the tick has the rest of the cart's first.
	if first := part(r.heardIn(live.Tick), 1000); first < -60 {
		t.Errorf("1 kHz at %.1f dB in the tick after the order", first)
	}
	body := r.heardIn(800 * time.Millisecond)
	if got := part(body, 1000); math.Abs(got+26) > 0.3 { // -20 of the file, -6 of the gain
		t.Errorf("the cart at %.2f dB, want -26", got)
	}
	if got := part(body, 400); math.Abs(got+26) > 0.5 { // its clock is another than the bus's
		t.Errorf("the voice at %.2f dB, want -26", got)
	}
	if got := r.Report(r.now).Carts.Playing; len(got) != 1 || got[0].PositionMS != 820 {
		t.Errorf("%+v", got)
	}
	r.run(400 * time.Millisecond)
	if after := part(r.heardIn(second), 1000); after > -90 || len(r.Report(r.now).Carts.Playing) != 0 {
		t.Errorf("1 kHz at %.1f dB after its end", after)
	}
	if n := r.Report(r.now).Counters.Carts; n != 1 {
		t.Errorf("%d counted", n)
	}
}

// One that is stopped fades within 40 ms and without a click; the other goes on, and a loop
// plays past its length.
func TestStopFadesOneCartAndLeavesTheOther(t *testing.T) {
	r, _ := onTheAir(t)
	r.fire("one", clipOf(1000, 0.2, 5000), 0, false)
	r.fire("two", clipOf(3000, 0.1, 500), 0, true)
	r.run(2 * second)
	both := r.heardIn(second)
	if a, b := part(both, 1000), part(both, 3000); math.Abs(a+14) > 0.5 || math.Abs(b+20) > 0.5 {
		t.Errorf("%.1f and %.1f dB, want -14 and -20", a, b)
	}
	steep := steepest(both)
	if n := r.StopCart("nobody"); n != 0 {
		t.Errorf("%d stopped by an unknown id", n)
	}
	if n := r.StopCart("one"); n != 1 {
		t.Errorf("%d stopped", n)
	}
	if got := r.Report(r.now).Carts.Playing; len(got) != 1 || got[0].ID != "two" {
		t.Errorf("%+v", got)
	}
	fading := r.heardIn(60 * time.Millisecond)
	if got := steepest(fading); got > steep+steep/10 {
		t.Errorf("a step of %d, %d before", got, steep)
	}
	after := r.heardIn(second)
	if a, b := part(after, 1000), part(after, 3000); a > -80 || math.Abs(b+20) > 0.5 {
		t.Errorf("%.1f and %.1f dB after the stop", a, b)
	}
	if n := r.StopCart(""); n != 1 {
		t.Errorf("%d stopped by stop all", n)
	}
	r.run(100 * time.Millisecond)
	if got := part(r.heardIn(second), 3000); got > -80 {
		t.Errorf("the loop at %.1f dB after stop all", got)
	}
}

// Eight loud carts over a loud voice are held under the ceiling; the ninth is heard, and the
// oldest makes way.
func TestManyLoudCartsDoNotClip(t *testing.T) {
	r := newRig(t)
	a := r.feed("a", tone(400, 0.5))
	r.want(a)
	r.run(2 * second)
	for i := range MostCarts {
		r.fire(fmt.Sprint(i), clipOf(700+float64(i)*317, 0.9, 10_000), 12, false)
	}
	loud := r.heardIn(2 * second)
	ceiling := int16(math.Pow(10, Ceiling/20)*32768) + 1
	for i, v := range loud {
		if v > ceiling || v < -ceiling {
			t.Fatalf("sample %d is %d, over %d", i, v, ceiling)
		}
	}
	r.fire("ninth", clipOf(5000, 0.9, 10_000), 12, false)
	got := r.Report(r.now).Carts.Playing
	if len(got) != MostCarts || got[0].ID != "1" || got[MostCarts-1].ID != "ninth" {
		t.Errorf("%+v", got)
	}
}

// The wall is the live hour's: refused before, stopped with its end, and refused after it.
func TestCartsStopWithTheBroadcast(t *testing.T) {
	r := newRig(t)
	a := r.feed("a", tone(400, 0.05))
	r.run(second)
	press := Press{ID: "x", Clip: clipOf(1000, 0.1, 20_000)}
	if _, err := r.Fire(press, r.now); !errors.Is(err, station.ErrConflict) {
		t.Errorf("while nothing is live: %v", err)
	}
	r.want(a)
	r.run(2 * second)
	r.fire("one", press.Clip, 0, false)
	r.run(second)
	r.want(nil)
	r.run(live.Tick)
	if _, err := r.Fire(press, r.now); !errors.Is(err, station.ErrConflict) {
		t.Errorf("while the last fades out: %v", err)
	}
	r.run(second)
	if r.last.Open || len(r.carts) != 0 {
		t.Errorf("open %v, %d carts", r.last.Open, len(r.carts))
	}
	if _, err := r.Fire(press, r.now); !errors.Is(err, station.ErrConflict) {
		t.Errorf("after the end: %v", err)
	}
}

// While a show holds the air with its bed and nobody speaks, carts are heard over the bed.
func TestCartsAreHeardOverTheBedOfAShow(t *testing.T) {
	r := newRig(t)
	a := r.feed("a", tone(400, 0.3))
	bed := &feed{tape: tape.New(), rate: live.Rate, burst: live.FrameSamples, sound: tone(250, 0.5)}
	r.feeds = append(r.feeds, bed)
	r.Bed(bed.tape)
	r.order(live.Order{Show: &live.Show{Title: "Evening", Until: r.now.Add(time.Hour).UnixMilli()}}, a)
	r.run(2 * second)
	a.off = true
	r.order(live.Order{Show: &live.Show{Title: "Evening", Until: r.now.Add(time.Hour).UnixMilli()}}, nil)
	r.run(3 * second)
	r.fire("one", clipOf(1000, 0.1, 3000), 0, false)
	r.run(second)
	heard := r.heardIn(second)
	if c, b := part(heard, 1000), part(heard, 250); math.Abs(c+20) > 0.5 || b < -25 {
		t.Errorf("the cart at %.1f dB, the bed at %.1f", c, b)
	}
}

// The rest of a long cart comes while its beginning is heard; where it is late there is silence,
// and no sample is lost.
func TestTheRestOfACartFollowsItsBeginning(t *testing.T) {
	r, _ := onTheAir(t)
	all := clipOf(1000, 0.1, 2000).pcm
	clip := NewClip(all[:500*live.Rate/1000*live.Channels], false)
	r.fire("one", clip, 0, false)
	r.run(700 * time.Millisecond)
	if got := part(r.heardIn(200*time.Millisecond), 1000); got > -60 {
		t.Errorf("%.1f dB where the rest is late", got)
	}
	clip.Complete(all)
	if got := r.Report(r.now).Carts.Playing; len(got) != 1 || got[0].PositionMS != 500 || got[0].DurationMS != 2000 {
		t.Errorf("%+v", got)
	}
	r.run(100 * time.Millisecond)
	if got := part(r.heardIn(second), 1000); math.Abs(got+20) > 0.3 {
		t.Errorf("the rest at %.1f dB", got)
	}
}

// A cart that leaves keeps the bus open for its fade alone: not where it was stopped before its
// first tick, and not where the rest of it is late.
func TestACartThatLeavesDoesNotHoldTheBusOpen(t *testing.T) {
	beginning := clipOf(1000, 0.1, 200).pcm
	for name, before := range map[string]func(r *rig){
		"stopped before its first tick": func(r *rig) {
			r.fire("one", clipOf(1000, 0.1, 500), 0, true)
			if n := r.StopCart("one"); n != 1 {
				t.Errorf("%d stopped", n)
			}
			if n := r.StopCart(""); n != 0 {
				t.Errorf("%d stopped that were stopped", n)
			}
		},
		"fired right before the end": func(r *rig) { r.fire("one", clipOf(1000, 0.1, 500), 0, true) },
		"nine in one tick": func(r *rig) {
			for i := range MostCarts + 1 {
				r.fire(fmt.Sprint(i), clipOf(1000, 0.1, 500), 0, true)
			}
			if n := len(r.playing()); n != MostCarts {
				t.Errorf("%d are heard", n)
			}
		},
		"its rest is late": func(r *rig) {
			r.fire("one", NewClip(beginning, false), 0, false)
			r.run(500 * time.Millisecond)
		},
	} {
		r, _ := onTheAir(t)
		before(r)
		r.want(nil)
		r.run(second)
		if r.last.Open || len(r.carts) != 0 {
			t.Errorf("%s: open %v, %d carts a second after the end", name, r.last.Open, len(r.carts))
		}
	}
	r, _ := onTheAir(t)
	r.fire("one", NewClip(beginning, false), 0, false)
	r.run(500 * time.Millisecond)
	r.StopCart("one")
	if r.run(100 * time.Millisecond); len(r.carts) != 0 {
		t.Error("one that was stopped waits for its rest")
	}
}
