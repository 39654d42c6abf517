package takeover_test

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
)

// sees is what the WHIP server has from now on.
func (r *rig) sees(phones ...live.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phones = append([]live.Session{}, phones...)
}

func flowing(publisher, session string, holds bool) live.Session {
	return live.Session{ID: session, Publisher: publisher, Name: publisher, State: "flowing", Holds: holds, Since: time.Now().UnixMilli()}
}

// A killed WHIP server has told nobody that its phones are gone. Whoever comes to the next
// one has the pipe, and must not wait for them.
func TestPhonesOfAKilledServerAreNotWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("phone-a", true)
		r.person("phone-b", true)
		r.sees(flowing("phone-a", "1", true))
		id := r.connect("phone-a", "1")
		r.expect(id, takeover.OnLive)
		r.after(30 * time.Second)
		r.expect(id, takeover.OnLive) // one that is there is left alone

		r.sees()
		r.desk.stop(id, "no audio came for 5s")
		r.after(time.Second)
		r.expect("", takeover.NormalMix)
		r.sees(flowing("phone-b", "2", true))
		r.connect("phone-b", "2")
		r.after(5 * time.Second)
		r.expect(id, takeover.OnLive)
		if s := r.Status(); s.Active.Publisher != "phone-b" || len(s.Waiting) != 0 {
			t.Errorf("on the air is %+v, waiting %+v", s.Active, s.Waiting)
		}
		// The one that is gone holds nobody's end up either.
		r.sees()
		r.disconnect(id, "2", byPresenter)
		r.expect("", takeover.NormalMix)
	})
}

// What is told while a look is under way is newer than what it shows.
func TestAPhoneThatHasJustComeIsNotTakenForGone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("phone-a", true)
		r.sees()
		id := r.connect("phone-a", "1") // the looks lack it for a moment
		r.after(time.Second)
		r.sees(flowing("phone-a", "1", true))
		r.after(20 * time.Second)
		r.expect(id, takeover.OnLive)
	})
}

// A control plane that was restarted takes a phone for what it is: the one that has the
// pipe. Another one that comes waits behind it, and does not go on the air in its name.
func TestAPhoneFromBeforeTheRestartIsKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("phone-a", true)
		r.person("phone-b", true)
		a := flowing("phone-a", "1", true)
		a.Since += time.Hour.Milliseconds() // the node has a clock of its own
		r.sees(a)
		id := r.connect("phone-a", "1")
		r.expect(id, takeover.OnLive)
		r.kill()
		r.after(time.Second)
		r.start()
		r.after(10 * time.Second)
		r.expect("", takeover.NormalMix)

		r.sees(a, flowing("phone-b", "2", false))
		r.connect("phone-b", "2")
		r.after(10 * time.Second)
		r.expect("", takeover.NormalMix)
		if _, err := r.Start(t.Context(), id, "", "the studio"); err != nil {
			t.Fatal(err)
		}
		if s := r.Status(); s.Active.Publisher != "phone-a" || len(s.Waiting) != 1 || s.Waiting[0].Publisher != "phone-b" {
			t.Errorf("on the air is %+v, waiting %+v", s.Active, s.Waiting)
		}
	})
}

// A phone whose stream is left out of the ranking is known after a restart too, and waits.
func TestAPhoneOfAStreamThatIsLeftOutIsKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("phone-a", true)
		r.sees(flowing("phone-a", "1", true))
		id := r.connect("phone-a", "1")
		if err := r.reg.Block(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		r.kill()
		r.start()
		r.after(time.Minute)
		r.expect("", takeover.NormalMix)
		r.waiting("1")
		if next := r.Status().Next; next != "" {
			t.Errorf("%s would follow", next)
		}
		if _, err := r.Start(t.Context(), id, "", "the studio"); err != nil {
			t.Fatal(err)
		}
		r.expect(id, takeover.OnLive)
	})
}

// The encoders of a desk that was killed are not connected to the next one.
func TestEncodersGoWithTheirDesk(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", false)
		id := r.connect("sara", "1")
		if n := len(r.Status().Waiting); n != 1 {
			t.Fatalf("%d wait, want sara", n)
		}
		r.after(time.Second)
		r.desk.change(func() { delete(r.desk.feeds, id) })
		r.desk.cut(takeover.ErrAway)
		r.after(time.Second)
		r.desk.restart()
		r.desk.cut(nil)
		r.after(3 * time.Second)
		if s := r.Status(); len(s.Waiting) != 0 || s.Next != "" {
			t.Errorf("waiting %+v, next %q; the desk is a new one", s.Waiting, s.Next)
		}
		r.connect("sara", "2")
		if s := r.Status(); len(s.Waiting) != 1 || s.Waiting[0].Session != "2" {
			t.Errorf("waiting %+v", s.Waiting)
		}
	})
}
