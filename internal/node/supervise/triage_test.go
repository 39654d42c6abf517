package supervise

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/station"
)

var (
	zero    = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	errMute = errors.New("no answer within 3s")
)

// each second of a program's life, as the kernel and its probe tell it.
type second struct {
	state       byte
	ran, waited float64 // of the second
	answer      error
	flow        Flow
	short       string
	mute        bool // the answer is not its own
}

// course looks at a program once a second, and returns the condition after each.
func course(dryAfter time.Duration, life ...second) (out []Condition, last string) {
	var p patient
	var v proc.Vitals
	for i, s := range life {
		v.State, v.Begun, v.Known = s.state, 7, true
		v.CPU += time.Duration(s.ran * float64(time.Second))
		v.Waited += time.Duration(s.waited * float64(time.Second))
		var c Condition
		p, c, last = p.next(look{
			at: zero.Add(time.Duration(i) * time.Second), pid: 42, answer: s.answer, vitals: v, flow: s.flow, short: s.short, mute: s.mute,
		}, dryAfter)
		out = append(out, c)
	}
	return out, last
}

func times(n int, s second) (out []second) {
	for range n {
		out = append(out, s)
	}
	return out
}

// What was seen on landed stations, and what each is.
func TestProgramsAreToldApart(t *testing.T) {
	well := second{state: 'S', ran: 0.1, flow: Flowing}
	for name, c := range map[string]struct {
		then  []second // after ten seconds in which all is well
		dry   time.Duration
		want  Condition
		after int // seconds at which it is told first
		word  string
	}{
		"well":                                   {times(30, well), 0, Well, 0, ""},
		"stopped, and it answers nobody itself":  {times(5, second{state: 'T', mute: true}), 0, Wedged, 2, "signal"},
		"stopped, and its workers answer":        {times(60, second{state: 'T'}), 0, Well, 0, ""},
		"stopped by a signal":                    {times(5, second{state: 'T', answer: errMute, flow: Dry}), 0, Wedged, 2, "signal"},
		"held by a debugger":                     {times(60, second{state: 't', answer: errMute, flow: Dry}), 0, Starved, 0, "debugger"},
		"hung in a lock":                         {times(12, second{state: 'S', answer: errMute, flow: Dry}), 0, Wedged, 8, "not answered"},
		"hung, and one thread still ticks":       {times(12, second{state: 'S', ran: 0.02, answer: errMute}), 0, Wedged, 8, "not answered"},
		"in an endless loop":                     {times(70, second{state: 'R', ran: 1, answer: errMute}), 0, Wedged, 60, "not answered"},
		"without a processor":                    {times(120, second{state: 'R', ran: 0.03, waited: 0.9, answer: errMute, flow: Dry}), 10 * time.Second, Starved, 0, "waited for a processor"},
		"late, and it answers":                   {times(60, second{state: 'R', ran: 0.1, waited: 0.7, flow: Dry}), 10 * time.Second, Starved, 0, "waited for a processor"},
		"on a machine without memory":            {times(120, second{state: 'S', answer: errMute, short: "no memory"}), 10 * time.Second, Starved, 0, "no memory"},
		"waiting for a disk":                     {times(120, second{state: 'D', answer: errMute, flow: Dry}), 10 * time.Second, Starved, 0, "disk"},
		"out of places":                          {times(300, second{state: 'S', ran: 0.2, answer: station.ErrFull, flow: Dry}), 0, Full, 0, "places"},
		"mute, and its audio flows":              {times(120, second{state: 'S', ran: 0.1, answer: errMute, flow: Flowing}), 10 * time.Second, Well, 0, "goes on"},
		"answers, and nothing comes out":         {times(15, second{state: 'S', ran: 0.1, flow: Dry}), 10 * time.Second, Wedged, 10, "nothing has come out"},
		"the same where that is not known":       {times(90, second{state: 'S', ran: 0.1}), 10 * time.Second, Well, 0, ""},
		"the same of one without a limit":        {times(90, second{state: 'S', ran: 0.1, flow: Dry}), 0, Well, 0, ""},
		"a little crowded, and in time":          {times(60, second{state: 'S', ran: 0.1, waited: 0.25, flow: Flowing}), 0, Well, 0, ""},
		"mute for less than a program may start": {times(7, second{state: 'S', answer: errMute}), 0, Unknown, 0, "does not answer"},
	} {
		got, last := course(c.dry, append(times(10, well), c.then...)...)
		got = got[10:]
		for i, condition := range got {
			if is := condition == c.want; is != (i >= c.after) {
				t.Errorf("%s: %q after %d s, want %q from %d s on", name, condition, i, c.want, c.after)
				break
			}
		}
		if !strings.Contains(last, c.word) {
			t.Errorf("%s: why %q", name, last)
		}
	}
}

// What was starved is given time to catch up before it is judged, and what hangs after
// that is found.
func TestTheStarvedMayCatchUp(t *testing.T) {
	starved := second{state: 'R', ran: 0.03, waited: 0.9, answer: errMute}
	hung := second{state: 'S', answer: errMute}
	got, _ := course(0, append(times(30, starved), times(20, hung)...)...)
	for i, c := range got[30:] {
		if want := i >= 9; (c == Wedged) != want {
			t.Fatalf("%d s after it last waited for a processor: %q", i+1, c)
		}
	}
}

// A new process is judged by its own life alone.
func TestANewProcessIsNotBlamed(t *testing.T) {
	var p patient
	var c Condition
	for i := range 30 {
		l := look{at: zero.Add(time.Duration(i) * time.Second), pid: 100 + i, answer: errMute, vitals: proc.Vitals{State: 'S', Begun: uint64(i)}} //nolint:gosec // small
		if p, c, _ = p.next(l, 0); c == Wedged {
			t.Fatalf("wedged after %d s, in each of which it was another process", i)
		}
	}
}

// Whatever happens: a program that waits for a processor, answers that it is full, or
// whose audio flows is never wedged; and of kills there is at most one in five minutes,
// and none after one that did not help.
func TestNothingHealthyIsKilledAndNothingTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p patient
		var r record
		var v proc.Vitals
		at := zero
		var kills []time.Time
		goodSince, pid := time.Time{}, 1
		for range rapid.IntRange(1, 400).Draw(t, "looks") {
			wall := time.Duration(rapid.IntRange(500, 4000).Draw(t, "ms")) * time.Millisecond
			at = at.Add(wall)
			l := look{at: at, pid: pid, flow: Flow(rapid.IntRange(0, 2).Draw(t, "flow")), answer: rapid.SampledFrom([]error{nil, station.ErrFull, errMute, errMute, errMute}).Draw(t, "answer")}
			if rapid.IntRange(0, 9).Draw(t, "short") == 0 {
				l.short = "no memory"
			}
			waited := rapid.Float64Range(0, 1).Draw(t, "waited")
			v.Known, v.Begun, v.State = true, uint64(pid), rapid.SampledFrom([]byte("SSSRRDTt")).Draw(t, "state")
			v.CPU += time.Duration(rapid.Float64Range(0, 1).Draw(t, "ran") * float64(wall))
			v.Waited += time.Duration(waited * float64(wall))
			l.vitals = v
			first := p.last.pid != pid
			var c Condition
			p, c, _ = p.next(l, 10*time.Second)
			if c == Wedged && v.State != 'T' {
				switch {
				case errors.Is(l.answer, station.ErrFull), !first && waited >= lacks, l.short != "", v.State == 'D', v.State == 't', l.answer != nil && l.flow == Flowing:
					t.Fatalf("wedged: %+v, waited %.2f", l, waited)
				}
			}
			if r = r.note(at, c, l.flow); c == Well || c == Full {
				if goodSince.IsZero() {
					goodSince = at
				}
			} else {
				goodSince = time.Time{}
			}
			if c != Wedged || r.may(at) != "" {
				continue
			}
			if n := len(kills); n > 0 && at.Sub(kills[n-1]) < killsApart {
				t.Fatalf("killed twice within %s", at.Sub(kills[n-1]))
			}
			kills = append(kills, at)
			r, pid, v = r.killed(at), pid+1, proc.Vitals{}
		}
	})
}

func TestAKillThatDidNotHelpIsNotRepeated(t *testing.T) {
	r := record{}
	at := func(s int) time.Time { return zero.Add(time.Duration(s) * time.Second) }
	if r.may(at(0)) != "" {
		t.Error("the first kill is refused")
	}
	r = r.killed(at(0))
	for s := range 3600 {
		r = r.note(at(s), Wedged, FlowUnknown)
		if r.may(at(s)) == "" {
			t.Fatalf("after a kill that did not help, another at %d s", s)
		}
	}
	for s := range 40 {
		r = r.note(at(3600+s), Full, FlowUnknown)
	}
	if r.may(at(3640)) != "" {
		t.Errorf("it was well since: %q", r.may(at(3640)))
	}
	r = r.killed(at(3640))
	for s := range 60 {
		r = r.note(at(3641+s), Well, Flowing)
	}
	if r.may(at(3640+299)) == "" || r.may(at(3640+300)) != "" {
		t.Error("one kill in five minutes")
	}
}

// Time that a program is given to let audio out again is no proof that a kill helped: one
// that stays dry is killed once, and again only after its audio flowed.
func TestAKillThatBroughtNoAudioIsNotRepeated(t *testing.T) {
	const dryAfter = 30 * time.Second
	var r record
	var p patient
	var kills []int
	pid, second, begun := 1, 0, 0
	live := func(seconds int, flow Flow) {
		for range seconds {
			l := look{at: zero.Add(time.Duration(second) * time.Second), pid: pid, vitals: proc.Vitals{State: 'S', Begun: uint64(pid)}, flow: flow} //nolint:gosec // small
			if fed := begun + 3; second < fed {
				l.flow = FlowUnknown
			}
			var c Condition
			p, c, _ = p.next(l, dryAfter)
			if r = r.note(l.at, c, l.flow); c == Wedged && r.may(l.at) == "" {
				r, pid, begun, kills = r.killed(l.at), pid+1, second+1, append(kills, second)
			}
			second++
		}
	}
	live(3600, Dry)
	if want := []int{33}; !slices.Equal(kills, want) {
		t.Fatalf("in an hour without audio killed at %v, want %v", kills, want)
	}
	live(60, Flowing)
	live(60, Dry)
	if want := []int{33, 3690}; !slices.Equal(kills, want) {
		t.Errorf("killed at %v, want %v", kills, want)
	}
}
