package takeover_test

import (
	"errors"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/station"
)

func TestOrdersThatAreLostAreSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.add("a")
		r.desk.change(func() { r.desk.losePut = 3 })
		r.live(a) // 0.2, 0.4 and 0.8 s later
		r.desk.change(func() { r.desk.loseAck = 2 })
		if _, err := r.Stop(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		r.expect("", takeover.NormalMix)
		// One that is taken twice is one order.
		if n := r.desk.taken(); n != 3 {
			t.Errorf("%d orders were taken, not 3: %+v", n, r.desk.orders)
		}
	})
}

// The desk takes orders late, while the studio changes its mind: the newest holds.
func TestAnswersThatComeLateChangeNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b := r.add("a"), r.add("b")
		r.desk.feed(a)
		r.desk.feed(b)
		r.desk.change(func() { r.desk.slow = 2900 * time.Millisecond })
		failed := make(chan error, 1)
		go func() { _, err := r.Start(t.Context(), a, "", ""); failed <- err }()
		r.after(time.Second)
		if _, err := r.Stop(t.Context(), "changed our mind"); err != nil {
			t.Errorf("stop: %v", err)
		}
		if err := <-failed; !errors.Is(err, station.ErrConflict) {
			t.Errorf("the start that was stopped: %v", err)
		}
		r.after(10 * time.Second)
		r.expect("", takeover.NormalMix)
		if _, err := r.Start(t.Context(), b, "", ""); err != nil {
			t.Fatal(err)
		}
		r.expect(b, takeover.OnLive)
	})
}

func TestADeskThatIsRestartedInTimeGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.add("a")
		r.live(a)
		for _, away := range []time.Duration{0, 100 * time.Millisecond, 2900 * time.Millisecond} {
			if away > 0 {
				r.desk.cut(takeover.ErrAway)
				r.after(away)
				if s := r.Status(); s.State != takeover.Unknown || s.Order != takeover.OnLive || s.Active.OnAir {
					t.Errorf("away: %s, %s", s.State, s.Order)
				}
			}
			r.desk.restart()
			r.desk.cut(nil)
			r.after(2 * time.Second)
			r.expect(a, takeover.OnLive)
		}
		if r.story() != "started a" {
			t.Error(r.story())
		}
	})
}

func TestADeskThatIsAwayForTooLongIsTheNormalMix(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.add("a")
		r.live(a)
		r.desk.cut(takeover.ErrAway)
		r.after(2900 * time.Millisecond)
		if r.Status().Order != takeover.OnLive {
			t.Error("given up too early")
		}
		r.after(200 * time.Millisecond)
		if s := r.Status(); s.Order != takeover.NormalMix || s.State != takeover.Unknown || s.Active != nil {
			t.Errorf("%s %s %+v", s.State, s.Order, s.Active)
		}
		r.desk.restart()
		r.desk.cut(nil)
		r.after(time.Minute)
		r.expect("", takeover.NormalMix)
		if r.story() != "started a, ended a" {
			t.Error(r.story())
		}
	})
}

// While the bus is cut nothing is known, so nothing is changed: the desk goes on by itself.
func TestWhileTheBusIsCutNothingChanges(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b := r.add("a"), r.add("b")
		r.live(a)
		r.desk.feed(b)
		r.after(2 * time.Second)
		r.desk.cut(errCut)
		r.after(time.Minute)
		if s := r.Status(); s.State != takeover.Unknown || s.Order != takeover.OnLive || s.Active == nil || s.Active.OnAir {
			t.Errorf("cut: %s %s %+v", s.State, s.Order, s.Active)
		}
		if _, err := r.Start(t.Context(), b, "", ""); !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("a start while nothing is known: %v", err)
		}
		r.desk.cut(nil)
		r.after(3 * time.Second)
		r.expect(a, takeover.OnLive)
		if r.story() != "started a" {
			t.Error(r.story())
		}
		// It failed over meanwhile, as it was told to.
		r.desk.cut(errCut)
		r.after(time.Second)
		r.desk.stop(a, "dead")
		r.after(time.Minute)
		r.desk.cut(nil)
		r.after(3 * time.Second)
		r.expect(b, takeover.OnLive)
		// It was restarted meanwhile, long ago: what was on the air is not put back.
		r.desk.cut(errCut)
		r.after(time.Second)
		r.desk.restart()
		r.add("new") // the ranking changes, and with it the order
		r.after(time.Minute)
		r.desk.cut(nil)
		r.after(3 * time.Second)
		r.expect("", takeover.NormalMix)
		r.mu.Lock()
		defer r.mu.Unlock()
		if n := len(r.told); r.told[n-1].Kind != takeover.Ended || r.told[n-1].Stream.ID != b {
			t.Errorf("told %+v", r.told)
		}
	})
}

func TestAStopWhileTheBusIsCutIsGivenAsSoonAsItIsMended(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.add("a")
		r.live(a)
		r.desk.cut(errCut)
		r.after(time.Second)
		if s, err := r.Stop(t.Context(), ""); !errors.Is(err, station.ErrUnavailable) || s.Order != takeover.NormalMix {
			t.Errorf("%v, %s", err, s.Order)
		}
		r.after(time.Minute)
		r.desk.cut(nil)
		r.after(3 * time.Second)
		r.expect("", takeover.NormalMix)
	})
}

// A desk that answers at once although nothing has changed does not keep a processor busy.
func TestADeskThatDoesNotWaitIsAskedFiveTimesASecond(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.desk.change(func() { r.desk.hasty = true })
		r.after(time.Minute) // ends at all only if time passes
		r.expect("", takeover.NormalMix)
	})
}
