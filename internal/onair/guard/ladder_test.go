package guard

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// clockwork drives a ladder by seconds.
type clockwork struct {
	l     ladder
	zero  time.Time
	acted []action
}

func wound() *clockwork {
	zero := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return &clockwork{l: ladder{since: zero}, zero: zero}
}

func (c *clockwork) at(s float64) time.Time { return c.zero.Add(seconds(s)) }

func (c *clockwork) on(s float64, e event) action {
	e.at = c.at(s)
	if e.began.IsZero() {
		e.began = e.at.Add(-4 * time.Second)
	}
	l, a := next(c.l, e, times())
	c.l = l
	c.acted = append(c.acted, a)
	return a
}

func (c *clockwork) state(t *testing.T, want State) {
	t.Helper()
	if c.l.state != want {
		t.Fatalf("%s, want %s (%+v)", c.l.state, want, c.l)
	}
}

func TestLadder(t *testing.T) {
	silent := event{what: fault, kind: Silence}
	rotating := event{what: sighted, sight: Sight{OnAir: Rotation}}
	c := wound()
	c.on(0, silent)
	c.state(t, Starting)
	if a := c.on(59, silent); a != (action{}) {
		t.Errorf("a station that starts: %+v", a)
	}
	c.on(59.5, event{what: heard})
	c.state(t, Watching)
	if a := c.on(60, silent); !a.raise || !a.look {
		t.Errorf("silence: %+v", a)
	}
	c.state(t, Alarmed)
	now := 60.1
	for _, want := range []Step{Skip, Repush, AirEmergency} {
		if a := c.on(now, rotating); a.take != want {
			t.Fatalf("took %q, want %q", a.take, want)
		}
		c.state(t, Recovering)
		patience := times().patience[want].Seconds()
		if a := c.on(now+patience-0.1, silent); a != (action{}) {
			t.Errorf("within the patience of %s: %+v", want, a)
		}
		if a := c.on(now+patience, event{what: unsure}); a != (action{}) {
			t.Errorf("unsure: %+v", a)
		}
		if a := c.on(now+patience, silent); !a.look || a.raise {
			t.Errorf("%s did not help: %+v", want, a)
		}
		now += patience + 0.1
	}
	c.on(now, rotating)
	c.state(t, Pausing)
	if a := c.on(now+299, silent); a != (action{}) {
		t.Errorf("in the pause: %+v", a)
	}
	// Another fault in the pause is looked at, and nothing is tried twice.
	if a := c.on(now+299.1, event{what: fault, kind: Frozen}); !a.look {
		t.Errorf("another fault in the pause: %+v", a)
	}
	if a := c.on(now+299.2, rotating); a.take != "" {
		t.Errorf("took %q again", a.take)
	}
	c.state(t, Pausing)
	now += 295.1
	if a := c.on(now+5, silent); !a.look || c.l.round != 1 || len(c.l.tried) > 0 {
		t.Errorf("after the pause: %+v, %+v", a, c.l)
	}
	// The emergency audio is on air by order, and silent itself.
	if a := c.on(now+5.1, event{what: sighted, sight: Sight{OnAir: EmergencySource}}); a.take != Repush || c.l.held {
		t.Errorf("the second round begins with %q", a.take)
	}
	c.on(now+6, event{what: heard})
	c.state(t, Proving)
	c.on(now+8, silent)
	c.state(t, Alarmed)
	if a := c.on(now+8.1, rotating); a.take != Skip {
		t.Errorf("a relapse goes on with %q", a.take)
	}
	c.on(now+9, event{what: heard})
	if a := c.on(now+12, event{what: heard}); !a.clear {
		t.Errorf("proved: %+v", a)
	}
	c.state(t, Watching)
	if c.l.round != 0 || c.l.kind != None {
		t.Errorf("after the alarm: %+v", c.l)
	}
}

// Emergency audio that we ordered is no programme: it is taken off again, and
// where the programme has not come back by then it holds longer.
func TestEmergencyAudioIsHeldAndReleased(t *testing.T) {
	c := wound()
	silent, look := event{what: fault, kind: Silence}, event{what: sighted, sight: Sight{OnAir: Rotation}}
	c.on(0, event{what: heard})
	now := 1.0
	hold := times().hold.Seconds()
	for range 3 {
		for c.l.state != Holding {
			c.on(now, silent)
			if a := c.on(now, look); a.take == AirEmergency {
				c.on(now+1, event{what: heard})
			}
			now += 11
		}
		began := c.l.since
		if a := c.on(now+hold/2, event{what: heard}); a.release {
			t.Error("released too soon")
		}
		if a := c.on(began.Sub(c.zero).Seconds()+hold, event{what: heard}); !a.release {
			t.Errorf("not released after %.0f s: %+v", hold, c.l)
		}
		c.state(t, Proving)
		now += hold + 1
		hold *= 2
	}
	if a := c.on(now, event{what: heard}); !a.clear {
		t.Error("not cleared")
	}
}

// What is to blame decides what is tried first, and no course kills a program.
func TestCourseFitsTheFault(t *testing.T) {
	for _, c := range []struct {
		name string
		kind Kind
		see  Sight
		want Step
	}{
		{"silent track", Silence, Sight{OnAir: Rotation}, Skip},
		{"loop", Frozen, Sight{OnAir: Rotation}, Skip},
		{"silence, and the engine does not answer", Silence, Sight{}, Skip},
		{"no audio", Gone, Sight{OnAir: Rotation}, Wait},
		{"no audio, and no answer", Gone, Sight{}, Wait},
		{"no processor", Starved, Sight{}, Shed},
		{"no answer from the node", Unreachable, Sight{}, ""},
		{"silent live source", Silence, Sight{OnAir: Live}, DropLive},
		{"silent emergency audio", Silence, Sight{OnAir: EmergencySource}, Repush},
		{"playlist emptied", Playlist, Sight{OnAir: Rotation}, Rewrite},
		{"playlist emptied, disk full", Playlist, Sight{OnAir: Rotation, DiskFull: true}, ""},
		{"nothing playable", Emergency, Sight{OnAir: EmergencySource}, Rewrite},
	} {
		if got, _ := choose(c.kind, c.see, nil); got != c.want {
			t.Errorf("%s: %q first, want %q", c.name, got, c.want)
		}
	}
	for _, k := range Kinds() {
		for _, on := range []Source{Nothing, Rotation, Live, EmergencySource} {
			if c := course(k, Sight{OnAir: on}); slices.Contains(c, RestartEngine) || slices.Contains(c, RestartServer) {
				t.Errorf("%s while %q is on air: %v", k, on, c)
			}
		}
	}
}

// Whatever happens: a step is taken only in an alarm, never twice in a round,
// every alarm that was raised is cleared before the next, and all of it ends in
// Watching once the programme is heard for long enough.
func TestLadderHoldsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := wound()
		raised, now, round := false, 0.0, 0
		var steps []Step
		for range rapid.IntRange(1, 300).Draw(t, "events") {
			now += rapid.Float64Range(0, 12).Draw(t, "later")
			e := event{
				what: rapid.SampledFrom([]happening{heard, fault, fault, fault, unsure, sighted, failed}).Draw(t, "what"),
				kind: rapid.SampledFrom(Kinds()).Draw(t, "kind"),
				step: rapid.SampledFrom(Steps()).Draw(t, "step"),
				sight: Sight{
					DiskFull: rapid.Bool().Draw(t, "full"), OnAir: rapid.SampledFrom([]Source{Nothing, Rotation, Live, EmergencySource}).Draw(t, "air"),
				},
			}
			if c.l.round != round {
				steps, round = nil, c.l.round
			}
			a := c.on(now, e)
			if a.raise {
				steps, round = nil, 0
			}
			switch {
			case a.raise && raised, a.clear && !raised:
				t.Fatalf("raised %v, cleared %v, while raised is %v", a.raise, a.clear, raised)
			case a.take != "" && (!raised && !a.raise || slices.Contains(steps, a.take) && c.l.round == round):
				t.Fatalf("%s taken, raised %v, before it %v", a.take, raised, steps)
			case raised && c.l.state == Watching && !a.clear:
				t.Fatal("the alarm was forgotten")
			}
			if a.take != "" {
				steps = append(steps, a.take)
			}
			raised = raised && !a.clear || a.raise
		}
		for range 2000 {
			now++
			c.on(now, event{what: heard})
		}
		if c.l.state != Watching {
			t.Fatalf("%s after half an hour of music", c.l.state)
		}
	})
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
