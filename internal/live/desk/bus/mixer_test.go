package bus

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

const second = time.Second

func TestAClickAtOnceIsHeardWhole(t *testing.T) {
	click := []int16{9000, -20000, 15000, -7000, 3000}
	// The presenter clicks at any time from the very first sample on, and the order comes
	// at any time around it.
	for at := range 20 {
		for _, late := range []time.Duration{0, 40 * time.Millisecond, 500 * time.Millisecond, 1900 * time.Millisecond} {
			t.Run(fmt.Sprintf("%d after %s", at, late), func(t *testing.T) {
				r := newRig(t)
				first := int64(at * 1371)
				f := r.feed("a", func(n int64) int16 {
					if n >= first && n < first+int64(len(click)) {
						return click[n-first]
					}
					return 0
				})
				r.run(late)
				r.want(f)
				r.run(4 * second)
				i := slices.Index(r.heard, click[1])
				if i < 2 {
					t.Fatalf("the click is not heard: %+v", r.state("a"))
				}
				for k, v := range click { // as it came, both channels
					if r.heard[i-2+2*k] != v || r.heard[i-2+2*k+1] != v {
						t.Fatalf("heard %v", r.heard[i-2:i-2+2*len(click)])
					}
				}
				if before := time.Duration(i/2-1) * second / live.Rate; before < PreRoll {
					t.Errorf("it begins %s before the click", before)
				}
			})
		}
	}
}

func TestTheRotationGoesOnUntilThereIsSound(t *testing.T) {
	r := newRig(t)
	speaks := int64(math.MaxInt64)
	f := r.feed("a", func(n int64) int16 {
		if n >= speaks {
			return tone(440, 0.3)(n)
		}
		return int16(n%2) * 30 // noise of a room
	})
	r.want(f)
	r.run(30 * second)
	if r.opens != 0 || r.state("a").State != live.Waiting {
		t.Fatalf("opened %d times; %+v", r.opens, r.state("a"))
	}
	speaks = f.sent + 100
	r.run(second)
	if r.opens != 1 || r.state("a").State != live.OnAir || r.Report(r.now).Air != "a" {
		t.Fatalf("opened %d times; %+v", r.opens, r.state("a"))
	}
	if quiet := longestSilence(r.heard); quiet < 100 || quiet > 175 {
		t.Errorf("%.0f ms before the sound", quiet)
	}
}

func TestFailoverLeavesNoHole(t *testing.T) {
	for _, fault := range []string{"closed", "frozen"} {
		for n := range 20 {
			t.Run(fmt.Sprint(fault, n), func(t *testing.T) {
				r := newRig(t)
				a, b := r.feed("a", tone(440, 0.3)), r.feed("b", tone(880, 0.3))
				r.want(a, b)
				r.run(3*second + time.Duration(n)*live.Tick)
				r.heard = r.heard[len(r.heard)-live.Rate:]
				if a.off = true; fault == "closed" {
					r.Detach("a", a.tape, "the encoder left", r.now)
				}
				r.run(3 * second)
				if r.opens != 1 || !r.last.Open {
					t.Fatalf("opened %d times", r.opens)
				}
				if quiet := longestSilence(r.heard); quiet > 100 {
					t.Errorf("%.0f ms of silence", quiet)
				}
				if hz := pitch(r.heard[len(r.heard)-live.Rate:]); math.Abs(hz-880) > 2 {
					t.Errorf("%.0f Hz at the end", hz)
				}
				// A tone of 880 Hz rises by 1130 a sample; more is a click.
				if s := steepest(r.heard); s > 1500 {
					t.Errorf("a step of %d", s)
				}
				rep := r.Report(r.now)
				if rep.Air != "b" || rep.Ended == nil || rep.Ended.ID != "a" || !rep.Ended.Failed || rep.Ended.Next != "b" || rep.Counters.Failovers != 1 {
					t.Errorf("%+v", rep)
				}
				// A comes back, and the order still names it: B stays.
				a.off = false
				r.Attach(a.src, a.tape, 100*time.Millisecond, r.now)
				r.want(a, b)
				r.run(11 * second)
				if rep := r.Report(r.now); rep.Air != "b" || rep.Counters.Failovers != 1 {
					t.Errorf("taken back by itself: %+v", rep)
				}
				// B fails, and A has been well.
				b.off = true
				r.order(live.Order{}, b, a)
				r.run(second)
				if rep := r.Report(r.now); rep.Air != "a" || r.opens != 1 {
					t.Errorf("%+v", rep)
				}
			})
		}
	}
}

// A source that the order names no longer is in the report until its input ends, and no longer:
// it had been listed as connecting, or gone, until the next order.
func TestWhoIsNeitherOrderedNorSendingIsNotListed(t *testing.T) {
	for _, why := range []string{"", "the encoder left"} {
		r := newRig(t)
		a := r.feed("a", tone(440, 0.3))
		r.want(a)
		r.run(2 * second)
		r.order(live.Order{Why: "stopped by the studio"}, nil)
		r.run(second)
		if s := r.state("a"); s.State != live.Ready {
			t.Errorf("%+v", s)
		}
		a.off = true
		r.Detach("a", a.tape, why, r.now)
		r.run(second)
		if rep := r.Report(r.now); len(rep.Sources) != 0 {
			t.Errorf("%q: %+v", why, rep.Sources)
		}
	}
}

// The control plane hears of an encoder's end, too, and orders the next one within
// milliseconds. That cuts no last word off, and brings no pre-roll: the other has been
// speaking for long.
func TestAnOrderAtAnEndIsAFailover(t *testing.T) {
	for n := range 20 {
		for _, late := range []time.Duration{0, 20 * time.Millisecond, 60 * time.Millisecond, 200 * time.Millisecond} {
			r := newRig(t)
			a := r.feed("a", tone(440, 0.3))
			r.want(a)
			r.run(2 * second)
			b := r.feed("b", tone(880, 0.3))
			r.want(a, b)
			r.run(3*second/2 + time.Duration(n)*live.Tick)
			from := len(r.heard)
			left := r.on.inHand()
			a.off = true
			r.Detach("a", a.tape, "the encoder left", r.now)
			r.run(late)
			r.order(live.Order{Why: "the encoder left"}, b)
			r.run(2 * second)
			if quiet := longestSilence(r.heard[from:]); quiet > 45 {
				t.Errorf("ordered after %s: %.0f ms of silence", late, quiet)
			}
			if hz := pitch(r.heard[from : from+2*(left-live.Rate/100)]); math.Abs(hz-440) > 15 {
				t.Errorf("ordered after %s: %.0f Hz while the last %d frames of the first are left", late, hz, left)
			}
			rep := r.Report(r.now)
			if rep.Air != "b" || r.opens != 1 || rep.Counters.Failovers != 1 || rep.Ended == nil || !rep.Ended.Failed {
				t.Errorf("ordered after %s: %+v", late, rep)
			}
			if hand := r.state("b").BufferedMS; hand > 400 {
				t.Errorf("ordered after %s: the air is %d ms behind", late, hand)
			}
		}
	}
}

// Rather than after a long hole, or the rotation, one follows that failed a moment ago and
// sends again; the bus
// remembers it where no order named it meanwhile.
func TestOneThatFailedLatelyIsBetterThanTheRotation(t *testing.T) {
	for _, forgotten := range []bool{false, true} {
		r := newRig(t)
		a, b := r.feed("a", tone(440, 0.3)), r.feed("b", tone(880, 0.3))
		r.want(a, b)
		r.run(3 * second)
		a.off = true
		r.Break("a", a.tape, "its connection broke", r.now)
		r.run(second)
		if forgotten {
			r.want(b)
			r.run(second)
			if r.state("a").ID != "" {
				t.Fatalf("it is known: %+v", r.state("a"))
			}
		}
		a.off = false
		a.tape = tape.New()
		r.Attach(a.src, a.tape, 100*time.Millisecond, r.now)
		r.want(b, a)
		r.run(2 * second)
		b.off = true // it is late, and may come again: it is waited for
		r.run(second)
		if rep := r.Report(r.now); rep.Air != "b" || rep.Counters.Failovers != 1 {
			t.Fatalf("forgotten %t: %+v", forgotten, rep)
		}
		r.run(second)
		if rep := r.Report(r.now); rep.Air != "a" || rep.Counters.Failovers != 2 || r.opens != 1 {
			t.Errorf("forgotten %t: %+v", forgotten, rep)
		}
	}
}

func TestAStopFadesOutAndLeavesNothingBehind(t *testing.T) {
	r := newRig(t)
	a := r.feed("a", tone(440, 0.5))
	r.want(a)
	r.run(2 * second)
	n := len(r.heard)
	r.want(nil)
	r.run(second)
	tail := r.heard[n:]
	if d := time.Duration(len(tail)/2) * second / live.Rate; d < fadeOut || d > fadeOut+40*time.Millisecond {
		t.Errorf("%s after the stop", d)
	}
	if r.last.Open || len(r.last.PCM) != 0 || r.Report(r.now).Air != "" || r.state("a").State != live.Ready {
		t.Errorf("%+v", r.Report(r.now))
	}
	if e := r.Report(r.now).Ended; e.Failed || e.Why != "stopped by the studio" {
		t.Errorf("%+v", e)
	}
	for i := range 6 { // falls all the way
		if i > 0 && swing(tail[i*4800:(i+1)*4800-960]) >= swing(tail[(i-1)*4800:i*4800-960]) {
			t.Errorf("no fade at %d", i)
		}
	}
	n = len(r.heard)
	r.want(a) // again, by the studio: it sounds all the time, and is on at once
	r.run(second)
	if r.opens != 2 || pitch(r.heard[n:]) < 430 {
		t.Errorf("opened %d times", r.opens)
	}
	// Of the time between nothing is heard: the tone goes on without an old tail.
	r.order(live.Order{Epoch: "two"}, nil)
	r.run(second)
	if e := r.Report(r.now).Ended; r.last.Open || e.Why != "the control plane was restarted" || e.Failed {
		t.Errorf("%+v", e)
	}
	// An old order of the same epoch is ignored.
	r.Order(live.Order{Epoch: "two", Number: 1, Air: &a.src}, r.now)
	r.run(second)
	if r.last.Open {
		t.Error("an order that came late took the air")
	}
}

// What comes in one go while a source fades out does not bring it back.
func TestAFadeOutEndsWhateverComes(t *testing.T) {
	r := newRig(t)
	a := r.feed("a", tone(440, 0.5))
	r.want(a)
	r.run(2 * second)
	r.want(nil)
	r.run(100 * time.Millisecond)
	a.due = 5 * live.Rate / 2
	r.run(second)
	if r.last.Open || len(r.last.PCM) != 0 {
		t.Error("the bus is still open")
	}
}

// A phone that was there before, and comes again: what its new connection says first is
// heard, though the order comes two seconds later.
func TestTheFirstWordOfANewConnectionIsHeard(t *testing.T) {
	r := newRig(t)
	first := int64(-1)
	a := r.feed("a", func(n int64) int16 {
		if n == first {
			return 20000
		}
		return 0
	})
	r.run(10 * second)
	a.off = true
	r.run(second)
	a.tape.Cut()
	a.off, first = false, a.sent
	r.run(2 * second)
	r.want(a)
	r.run(3 * second)
	if !slices.Contains(r.heard, 20000) {
		t.Error("it is not heard")
	}
}

// Off and on again within the memory of the tape: nothing is heard twice.
func TestNothingIsHeardTwice(t *testing.T) {
	r := newRig(t)
	a := r.feed("a", func(n int64) int16 { // each second a click of its own height
		if n%live.Rate == 4800 {
			return int16(5000 + n/live.Rate*1000)
		}
		return 0
	})
	for range 8 {
		r.want(a)
		r.run(1500 * time.Millisecond)
		r.want(nil)
		r.run(500 * time.Millisecond)
	}
	last := int16(0)
	for i := 0; i < len(r.heard); i += 2 {
		if v := r.heard[i]; v >= 4900 {
			if v < last+900 {
				t.Errorf("%d after %d", v, last)
			}
			last = v
		}
	}
	if r.opens < 7 || last < 12000 {
		t.Errorf("opened %d times, the last click is %d", r.opens, last)
	}
}

func TestHolesAndSilences(t *testing.T) {
	for _, c := range []struct {
		name       string
		muted      bool
		silent     bool // it sends, and nothing is heard
		hole       time.Duration
		on, failed bool
	}{
		{"a short hole", false, false, 4 * second, true, false},
		{"a long hole", false, false, 6 * second, false, true},
		{"muted on purpose", true, false, 50 * second, true, false},
		{"muted for too long", true, false, 62 * second, false, true},
		{"quiet", false, true, 18 * second, true, false},
		{"quiet for too long", false, true, 22 * second, false, true},
		{"quiet on purpose", true, true, 50 * second, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			still := false
			a := r.feed("a", func(n int64) int16 {
				if still {
					return 2000 // an offset is no sound
				}
				return tone(440, 0.3)(n)
			})
			r.want(a)
			r.run(2 * second)
			r.Mute(a.src.URL, c.muted, r.now)
			a.off, still = !c.silent, c.silent
			r.run(second)
			if !c.silent && r.state("a").State != live.Grace {
				t.Errorf("%+v", r.state("a"))
			}
			r.run(c.hole - second)
			if r.last.Open != c.on {
				t.Fatalf("open %t; %+v", r.last.Open, r.Report(r.now))
			}
			a.off, still = false, false
			r.Mute(a.src.URL, false, r.now)
			r.run(2 * second)
			rep := r.Report(r.now)
			if r.last.Open != c.on || (rep.Ended != nil && rep.Ended.Failed) != c.failed {
				t.Errorf("open %t; %+v", r.last.Open, rep)
			}
			if c.on && (r.opens != 1 || math.Abs(pitch(r.heard[len(r.heard)-live.Rate:])-440) > 2) {
				t.Errorf("opened %d times", r.opens)
			}
		})
	}
}

func TestNoFirstAudioFails(t *testing.T) {
	r := newRig(t)
	b := r.feed("b", tone(880, 0.3))
	r.want(b)
	r.run(2 * second)
	r.Order(live.Order{Epoch: "one", Number: 9, Air: &live.Source{ID: "a", URL: "source:/a"}, Next: []live.Source{b.src}}, r.now)
	r.run(LateAfter - second)
	if s := r.state("a"); s.State != live.Connecting {
		t.Errorf("%+v", s)
	}
	r.run(2 * second)
	if s := r.state("a"); s.State != live.Gone || s.Why != "no audio came within 8s" {
		t.Errorf("%+v", s)
	}
	if r.Report(r.now).Air != "b" || r.opens != 1 { // who is on the air stays
		t.Errorf("%+v", r.Report(r.now))
	}
}

func TestHandOverWaitsForTheFirstWord(t *testing.T) {
	r := newRig(t)
	a := r.feed("a", tone(440, 0.3))
	speak := false
	b := r.feed("b", func(n int64) int16 {
		if speak {
			return tone(880, 0.3)(n)
		}
		return 0
	})
	r.want(a)
	r.run(5 * second)
	r.want(b, a)
	r.run(3 * second)
	if r.Report(r.now).Air != "a" {
		t.Fatal("handed over to silence")
	}
	speak = true
	r.run(second)
	rep := r.Report(r.now)
	if rep.Air != "b" || r.opens != 1 || rep.Ended.Why != "handed over" || rep.Ended.Failed || r.state("a").State != live.Ready {
		t.Errorf("%+v", rep)
	}
	if quiet := longestSilence(r.heard[live.Rate*2*2:]); quiet > 175 {
		t.Errorf("%.0f ms between", quiet)
	}
}

func TestAShowHoldsTheAir(t *testing.T) {
	for _, bed := range []bool{true, false} {
		t.Run(fmt.Sprint("bed ", bed), func(t *testing.T) {
			r := newRig(t)
			a, b := r.feed("a", tone(440, 0.3)), r.feed("b", tone(880, 0.3))
			b.off = true
			sent := r.now.Add(-time.Hour) // the control plane has another clock
			show := &live.Show{Title: "Evening", Until: sent.Add(time.Minute).UnixMilli()}
			if bed {
				music := &feed{tape: tape.New(), rate: live.Rate, burst: live.FrameSamples, sound: tone(220, 0.4)}
				r.feeds = append(r.feeds, music)
				r.Bed(music.tape)
			}
			r.order(live.Order{Show: show, Sent: sent.UnixMilli()}, a, b)
			r.run(5 * second)
			if hz := pitch(r.heard[len(r.heard)-live.Rate:]); math.Abs(hz-440) > 2 {
				t.Errorf("%.0f Hz: the bed plays under the voice", hz)
			}
			a.off = true
			r.run(20 * second)
			if r.last.Open != bed {
				t.Fatalf("open %t", r.last.Open)
			}
			if !bed {
				return
			}
			end := r.heard[len(r.heard)-live.Rate:]
			if hz := pitch(end); math.Abs(hz-220) > 2 || r.Report(r.now).Air != "" {
				t.Errorf("%.0f Hz", hz)
			}
			if db := decibels(swing(end)); math.Abs(db-(20*math.Log10(0.4)-12)) > 0.2 {
				t.Errorf("the bed is at %.1f dBFS", db)
			}
			b.off = false
			r.run(3 * second)
			if r.Report(r.now).Air != "b" || r.opens != 1 {
				t.Errorf("%+v", r.Report(r.now))
			}
			if hz := pitch(r.heard[len(r.heard)-live.Rate:]); math.Abs(hz-880) > 2 {
				t.Errorf("%.0f Hz", hz)
			}
			b.off = true
			r.run(40 * second) // past the end of the show
			if r.last.Open {
				t.Error("the show does not end")
			}
		})
	}
}
