package bus

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// The rows of next's table, in its order; whatever is not there changes nothing.
func TestStatesOfASource(t *testing.T) {
	rows := map[live.State]map[Event]live.State{
		live.Connecting: {Audio: live.Ready, Late: live.Gone, Ended: live.Gone},
		live.Ready:      {Called: live.Waiting, Taken: live.OnAir, Hole: live.Connecting, Ended: live.Gone},
		live.Waiting:    {Sound: live.OnAir, Taken: live.OnAir, Dismissed: live.Ready, Hole: live.Connecting, Ended: live.Gone},
		live.OnAir:      {Hole: live.Grace, Silent: live.Gone, Dismissed: live.Ready, Ended: live.Gone},
		live.Grace:      {Audio: live.OnAir, Lost: live.Gone, Silent: live.Gone, Dismissed: live.Connecting, Ended: live.Gone},
		live.Gone:       {Audio: live.Ready, Called: live.Connecting},
	}
	for state, row := range rows {
		for e := Nothing; e <= Ended; e++ {
			want, ok := row[e]
			if !ok {
				want = state
			}
			if got := next(state, e); got != want {
				t.Errorf("%s, %s: %s, want %s", state, e, got, want)
			}
		}
	}
}

func TestWhatIsSeenOfASource(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		v    View
		want Event
	}{
		{"connecting, audio", View{State: live.Connecting, Any: true}, Audio},
		{"connecting, called just now", View{State: live.Connecting, Called: true, Asked: 7999 * ms, Quiet: time.Hour}, Nothing},
		{"connecting, called long ago", View{State: live.Connecting, Called: true, Asked: LateAfter, Quiet: time.Hour}, Late},
		{"connecting, called long ago, and audio a moment ago", View{State: live.Connecting, Called: true, Asked: time.Hour, Quiet: time.Second}, Nothing},
		{"connecting, not called", View{State: live.Connecting, Quiet: time.Hour, Asked: time.Hour}, Nothing},
		{"connecting, over", View{State: live.Connecting, Ended: true, Any: true}, Ended},
		{"ready", View{State: live.Ready, Any: true}, Nothing},
		{"ready, called", View{State: live.Ready, Any: true, Called: true}, Called},
		{"ready, nothing comes", View{State: live.Ready}, Hole},
		{"ready, over", View{State: live.Ready, Ended: true}, Ended},
		{"waiting, no sound yet", View{State: live.Waiting, Any: true, Called: true}, Nothing},
		{"waiting, a sound", View{State: live.Waiting, Any: true, Called: true, Heard: true}, Sound},
		{"waiting, no longer wanted", View{State: live.Waiting, Any: true, Heard: true}, Dismissed},
		{"on air", View{State: live.OnAir, Any: true}, Nothing},
		{"on air, late within what is in hand", View{State: live.OnAir, Quiet: time.Second}, Nothing},
		{"on air, dry for a packet", View{State: live.OnAir, Dry: true, Quiet: 119 * ms}, Nothing},
		{"on air, a hole", View{State: live.OnAir, Dry: true, Quiet: HoleAfter}, Hole},
		{"on air, over, and something left", View{State: live.OnAir, Ended: true, Quiet: 50 * ms}, Nothing},
		{"on air, over, all heard", View{State: live.OnAir, Ended: true, Dry: true, Quiet: 50 * ms}, Ended},
		{"on air, silent", View{State: live.OnAir, Any: true, Silent: SilentAfter}, Silent},
		{"on air, silent on purpose", View{State: live.OnAir, Any: true, Silent: 59 * time.Second, Muted: true}, Nothing},
		{"on air, silent on purpose too long", View{State: live.OnAir, Any: true, Silent: MutedAfter, Muted: true}, Silent},
		{"grace", View{State: live.Grace, Dry: true, Quiet: 4999 * ms}, Nothing},
		{"grace, audio", View{State: live.Grace, Any: true}, Audio},
		{"grace, lost", View{State: live.Grace, Dry: true, Quiet: LostAfter}, Lost},
		{"grace, muted", View{State: live.Grace, Dry: true, Quiet: 59 * time.Second, Muted: true}, Nothing},
		{"grace, muted too long", View{State: live.Grace, Dry: true, Quiet: MutedAfter, Muted: true}, Lost},
		{"grace, over", View{State: live.Grace, Dry: true, Quiet: time.Second, Ended: true}, Ended},
		{"gone", View{State: live.Gone}, Nothing},
		{"gone, back", View{State: live.Gone, Any: true}, Audio},
		{"gone, called again", View{State: live.Gone, Called: true}, Called},
		{"gone for good", View{State: live.Gone, Any: true, Ended: true}, Nothing},
	} {
		if got := observe(c.v); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The rows of choose's table, in its order.
func TestWhatIsOnTheBus(t *testing.T) {
	stay := Decision{}
	for _, c := range []struct {
		name string
		s    Scene
		want Decision
	}{
		{"closed, ordered, heard", Scene{Air: "a", AirHeard: true}, Decision{Act: Open, ID: "a"}},
		{"closed, ordered, not heard", Scene{Air: "a", Fit: "b", FitHeard: true}, stay},
		{"closed, nothing ordered", Scene{Fit: "b", FitHeard: true, Show: true, Bed: true}, stay},
		{"another is ordered and heard", Scene{Open: true, On: "a", OnState: live.OnAir, Air: "b", AirHeard: true}, Decision{Act: Turn, ID: "b"}},
		{"another is ordered, and the last words of the one before are left", Scene{Open: true, On: "a", OnState: live.OnAir, OnOver: true, Air: "b", AirHeard: true}, stay},
		{"stopped, and its last words are left", Scene{Open: true, On: "a", OnState: live.OnAir, OnOver: true, Fit: "b"}, Decision{Act: Close}},
		{"another is ordered and not heard", Scene{Open: true, On: "a", OnState: live.OnAir, Air: "b"}, stay},
		{"on the air", Scene{Open: true, On: "a", OnState: live.OnAir, Air: "a", Fit: "b", FitHeard: true}, stay},
		{"stopped", Scene{Open: true, On: "a", OnState: live.OnAir, Fit: "b"}, Decision{Act: Close}},
		{"stopped in a show", Scene{Open: true, On: "a", OnState: live.OnAir, Show: true, Bed: true}, Decision{Act: Hold}},
		{"stopped in a show without a bed", Scene{Open: true, On: "a", OnState: live.OnAir, Show: true}, Decision{Act: Hold}},
		{"a hole, and somebody is fit", Scene{Open: true, On: "a", OnState: live.Grace, Air: "a", Fit: "b"}, Decision{Act: Turn, ID: "b", Failed: true}},
		{"a hole on purpose", Scene{Open: true, On: "a", OnState: live.Grace, OnMuted: true, Air: "a", Fit: "b"}, stay},
		{"a hole, and nobody is fit", Scene{Open: true, On: "a", OnState: live.Grace, Air: "a"}, stay},
		{"gone, and somebody is fit", Scene{Open: true, On: "a", OnState: live.Gone, OnMuted: true, Air: "a", Fit: "b"}, Decision{Act: Turn, ID: "b", Failed: true}},
		{"gone, and one that failed before sends again", Scene{Open: true, On: "a", OnState: live.Gone, Air: "a", Back: "b", Show: true, Bed: true}, Decision{Act: Turn, ID: "b", Failed: true}},
		{"a hole, and one that failed before sends again", Scene{Open: true, On: "a", OnState: live.Grace, Air: "a", Back: "b", OnHole: backFor - 1}, stay},
		{"a long hole, and one that failed before sends again", Scene{Open: true, On: "a", OnState: live.Grace, Air: "a", Back: "b", OnHole: backFor}, Decision{Act: Turn, ID: "b", Failed: true}},
		{"a long hole on purpose", Scene{Open: true, On: "a", OnState: live.Grace, OnMuted: true, Air: "a", Back: "b", OnHole: backFor}, stay},
		{"gone in a show", Scene{Open: true, On: "a", OnState: live.Gone, Air: "a", Show: true, Bed: true}, Decision{Act: Hold, Failed: true}},
		{"gone in a show without a bed", Scene{Open: true, On: "a", OnState: live.Gone, Air: "a", Show: true}, Decision{Act: Close, Failed: true}},
		{"gone", Scene{Open: true, On: "a", OnState: live.Gone, Air: "a"}, Decision{Act: Close, Failed: true}},
		{"nobody, a candidate speaks", Scene{Open: true, Air: "a", Fit: "b", FitHeard: true, Show: true, Bed: true}, Decision{Act: Turn, ID: "b"}},
		{"nobody, a candidate is silent", Scene{Open: true, Air: "a", Fit: "b", Show: true, Bed: true}, stay},
		{"nobody, and none wanted", Scene{Open: true, Fit: "b", FitHeard: true, Show: true, Bed: true}, stay},
		{"nobody, without a bed", Scene{Open: true, Air: "a", Show: true, Idle: LostAfter - 1}, stay},
		{"nobody for too long", Scene{Open: true, Air: "a", Show: true, Idle: LostAfter}, Decision{Act: Close}},
		{"the show is over", Scene{Open: true, Air: "a", Bed: true}, Decision{Act: Close}},
	} {
		if got := choose(c.s); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A machine that has no processor for us for a second takes nobody from the air; a source
// that is really away is noticed afterwards.
func TestAMachineThatIsShortTakesNobodyFromTheAir(t *testing.T) {
	r := newRig(t)
	a, b := r.feed("a", music), r.feed("b", music)
	r.want(a, b)
	r.run(3 * second)
	for range 5 {
		r.Stalled(time.Second)
		for range 50 { // the clock catches up before anybody has written
			r.now = r.now.Add(live.Tick)
			r.Tick(r.now)
		}
		a.due, b.due = live.Rate, live.Rate
		r.run(3 * second)
	}
	if rep := r.Report(r.now); rep.Air != "a" || rep.Counters.Failovers != 0 {
		t.Fatalf("%+v", rep)
	}
	r.Stalled(time.Second)
	a.off = true
	r.run(3 * second)
	if rep := r.Report(r.now); rep.Air != "b" || rep.Counters.Failovers != 1 {
		t.Errorf("%+v", rep)
	}
}

// What little came while the machine was short is read with the first of many ticks: that
// the others find nothing is no fault of the source either.
func TestAClockThatCatchesUpFindsNoHole(t *testing.T) {
	r := newRig(t)
	a, b := r.feed("a", music), r.feed("b", music)
	r.want(a, b)
	r.run(3 * second)
	a.tick()
	r.Stalled(time.Second)
	for range 50 {
		r.now = r.now.Add(live.Tick)
		r.Tick(r.now)
	}
	a.due, b.due = live.Rate*49/50, live.Rate
	r.run(second)
	if rep := r.Report(r.now); rep.Air != "a" || rep.Counters.Failovers != 0 {
		t.Errorf("%s is on the air, %d failovers", rep.Air, rep.Counters.Failovers)
	}
}
