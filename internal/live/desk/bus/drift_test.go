package bus

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

// speech is a tone of syllables with pauses of half a second each three seconds.
func speech(n int64) int16 {
	if n%(3*live.Rate) > 5*live.Rate/2 {
		return 0
	}
	return int16((int64(uint64(n)*2654435761>>7)%20000 - 10000))
}

// music never pauses.
func music(n int64) int16 { return int16((int64(uint64(n)*2654435761>>7)%20000 - 10000)) }

// A clock that is wrong is followed: in ten minutes of 300 ppm there is nearly twice as much
// too little as is kept in hand. The soak test does eight hours of 100 ppm.
func TestAWrongClockIsFollowed(t *testing.T) {
	for _, ppm := range []float64{300, -300} {
		t.Run(fmt.Sprint(ppm), func(t *testing.T) { follow(t, ppm, 10*time.Minute) })
	}
}

func follow(t *testing.T, ppm float64, d time.Duration) {
	r := newRig(t)
	f := r.feed("a", music)
	f.rate = live.Rate * (1 + ppm/1e6)
	r.want(f)
	r.run(10 * second)
	least, most := math.Inf(1), math.Inf(-1)
	for range d / (10 * second) {
		r.run(10 * second)
		r.heard = r.heard[:0]
		ms := float64(r.on.inHand()) * 1000 / live.Rate
		least, most = min(least, ms), max(most, ms)
	}
	c := r.Report(r.now).Counters
	t.Logf("%+.0f ppm, %s: %.0f to %.0f ms in hand; %+v", ppm, d, least, most, c)
	if c.FilledMS != 0 || c.DroppedMS != 0 || most > 200 || least < 5 || r.opens != 1 {
		t.Errorf("%.0f to %.0f ms in hand; %+v", least, most, c)
	}
}

// What is too much in hand is taken back: in pauses at once, and of music slowly.
func TestABacklogIsTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		sound  func(int64) int16
		within time.Duration
	}{"speech": {speech, 30 * second}, "music": {music, 7 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			f := r.feed("a", c.sound)
			r.run(1900 * time.Millisecond) // all of which is to be heard
			r.want(f)
			r.run(3 * second)
			if ms := r.state("a").BufferedMS; ms < 1500 {
				t.Fatalf("%d ms in hand at first", ms)
			}
			r.run(c.within)
			if ms := r.state("a").BufferedMS; ms > 200 {
				t.Errorf("%d ms in hand", ms)
			}
			if n := r.Report(r.now).Counters; n.DroppedMS != 0 || n.FilledMS != 0 {
				t.Errorf("%+v", n)
			}
		})
	}
}

// late holds a source up, which then sends at once what it has.
func (r *rig) late(f *feed, d time.Duration) {
	f.off = true
	r.run(d)
	f.off = false
	f.due += d.Seconds() * f.rate
}

// What a machine that was short for a while needed in hand is not kept for the rest of the
// show, and that of a source without pauses, neither.
func TestABadMinuteIsForgotten(t *testing.T) {
	r := newRig(t)
	f := r.feed("a", music)
	r.want(f)
	r.run(5 * second)
	for range 6 {
		r.late(f, 900*time.Millisecond)
		r.run(5 * second)
	}
	if ms := r.state("a").BufferedMS; ms < 600 {
		t.Fatalf("%d ms in hand after a bad minute", ms)
	}
	before := r.Report(r.now).Counters
	r.run(8 * time.Minute)
	if ms := r.state("a").BufferedMS; ms > 200 {
		t.Errorf("%d ms in hand, of which %s are wanted", ms, r.on.s.cushion)
	}
	if after := r.Report(r.now).Counters; after.DroppedMS != before.DroppedMS || after.FilledMS != before.FilledMS {
		t.Errorf("%+v, then %+v", before, after)
	}
}

// A line that is late twice a minute keeps what it needs against that.
func TestALineThatIsLateAgainAndAgainIsHeardWhole(t *testing.T) {
	r := newRig(t)
	f := r.feed("a", music)
	r.want(f)
	r.run(5 * second)
	late := func(times int) (filled uint64) {
		before := r.Report(r.now).Counters.FilledMS
		for range times {
			r.late(f, 400*time.Millisecond)
			r.run(30 * second)
		}
		return r.Report(r.now).Counters.FilledMS - before
	}
	if at, after := late(6), late(60); at > 500 || after > 0 {
		t.Errorf("filled %d ms at first, and %d ms in half an hour", at, after)
	}
}

// Encoders send Ogg pages of a second. After the first hole at most it is even.
func TestAnUnevenSourceIsHeardWithoutHoles(t *testing.T) {
	r := newRig(t)
	f := r.feed("a", music)
	f.burst = live.Rate
	r.want(f)
	r.run(10 * second)
	before := r.Report(r.now).Counters
	r.run(time.Minute)
	if after := r.Report(r.now).Counters; after != before || before.FilledMS > 200 || r.opens != 1 {
		t.Errorf("%+v, then %+v", before, after)
	}
	if r.state("a").State != live.OnAir {
		t.Errorf("%+v", r.state("a"))
	}
}

// A sender that was cut off sends all at once afterwards: it is not heard seconds late
// for the rest of the show.
func TestWhatPiledUpIsDropped(t *testing.T) {
	r := newRig(t)
	f := r.feed("a", music)
	r.want(f)
	r.run(5 * second)
	r.late(f, 4*second)
	r.run(2 * second)
	c := r.Report(r.now).Counters
	if ms := r.state("a").BufferedMS; ms > 1200 || c.DroppedMS < 1500 || r.opens != 1 {
		t.Errorf("%d ms in hand, %+v", ms, c)
	}
}

// Reading at another pace changes neither level nor adds noise that is heard.
func TestResamplingIsClean(t *testing.T) {
	tape := tape.New()
	f := &feed{tape: tape, rate: live.Rate, burst: live.Rate, sound: tone(1000, 0.5)}
	f.tick50(2)
	s := newSinc()
	const step = 1.0037
	out := make([]float32, live.Rate*2)
	s.read(tape, 100.25, step, out)
	// What remains after a sine of the expected pitch is taken out is noise.
	w := 2 * math.Pi * 1000 * step / live.Rate
	var c, d, p float64
	for i := 0; i < live.Rate; i++ {
		v := float64(out[2*i])
		c += v * math.Cos(w*float64(i))
		d += v * math.Sin(w*float64(i))
		p += v * v
	}
	c, d = c*2/live.Rate, d*2/live.Rate
	level := math.Hypot(c, d)
	noise := 10 * math.Log10(max(p/live.Rate-level*level/2, 1e-12))
	if math.Abs(level-0.5) > 0.001 || noise > -85 {
		t.Errorf("level %.4f, noise %.1f dB", level, noise)
	}
}

func (f *feed) tick50(seconds int) {
	for range seconds * 50 {
		f.tick()
	}
}
