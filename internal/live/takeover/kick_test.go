package takeover_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/station"
)

func (r *rig) kick(session string) {
	r.t.Helper()
	if err := r.Kick(r.t.Context(), session, "enough"); err != nil {
		r.t.Fatal(err)
	}
	r.settled()
}

// ended is what the node tells of a connection that it ended.
func (r *rig) ended(a live.Arrival, id string) {
	r.t.Helper()
	r.desk.change(func() { delete(r.desk.feeds, id) })
	l := live.Leaving{Publisher: a.Publisher, Session: a.Session, Broke: true} // as the relay tells it
	if a.Protocol == live.Icecast {
		l.ID, l.Broke = id, false
	}
	if err := r.Left(r.t.Context(), l); err != nil {
		r.t.Fatal(err)
	}
	r.settled()
}

// An encoder that the studio disconnects is off the air at once, also where the node cannot
// be told, and comes back by itself neither as a connection that mends, nor by its own right,
// nor for another that fails, until the studio puts it on the air or its time is over.
func TestAKickedEncoderWaitsForTheStudio(t *testing.T) {
	for _, protocol := range []live.Protocol{live.Icecast, live.RTMP} {
		inBubble(t, func(t *testing.T, r *rig) {
			r.person("sara", true)
			r.person("omar", false)
			first, again := sender(protocol, "sara", "1"), sender(protocol, "sara", "2")
			id := r.arrives(first)
			r.expect(id, takeover.OnLive)
			r.mu.Lock()
			r.deaf = true
			r.mu.Unlock()
			if err := r.Kick(t.Context(), "1", ""); !errors.Is(err, station.ErrUnavailable) {
				t.Error(err)
			}
			r.expect("", takeover.NormalMix)
			r.roll(protocol, first) // it is still there, and may be kicked again
			r.waiting("1")
			r.mu.Lock()
			r.deaf = false
			r.mu.Unlock()
			r.kick("1")
			if want := []string{string(protocol) + " 1 enough"}; !slices.Equal(r.kicked, want) || len(r.Status().Encoders) != 0 {
				t.Errorf("%q, still there %+v", r.kicked, r.Status().Encoders)
			}
			r.ended(first, id)

			r.after(2 * time.Second) // its program connects again
			if other := r.arrives(again); other != id {
				t.Fatalf("it is %s, and was %s", other, id)
			}
			r.after(time.Minute)
			r.expect("", takeover.NormalMix)
			if all := r.Status().Encoders; len(all) != 1 || all[0].Session != "2" || all[0].Stream != id || all[0].Name != "name of sara" || all[0].HeldUntil == 0 {
				t.Errorf("%+v", all)
			}
			if s := r.Status(); s.Next != id {
				t.Errorf("a start would begin with %q", s.Next)
			}
			other := r.arrives(sender(protocol, "omar", "3"))
			if s := r.Status(); s.Next != other { // it has never been live, and was not disconnected
				t.Errorf("a start would begin with %q, of two", s.Next)
			}
			r.live(other)
			if s := r.Status(); s.Next != "" {
				t.Errorf("%q would follow", s.Next)
			}
			r.desk.stop(other, "no audio came")
			r.after(time.Second)
			r.expect("", takeover.NormalMix)
			r.ended(sender(protocol, "omar", "3"), other)
			if err := r.reg.Remove(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Start(t.Context(), "", "", "the studio"); err != nil { // that forgives it
				t.Fatal(err)
			}
			r.expect(id, takeover.OnLive)
			r.kick("2")
			r.expect("", takeover.NormalMix)
			r.ended(again, id)
			r.after(11 * time.Minute)
			r.arrives(sender(protocol, "sara", "4"))
			r.expect(id, takeover.OnLive)
		})
	}
}

// One that came with the station's password has no account: its address is what is held.
func TestAKickedEncoderOfNoAccountFollowsNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", false)
		guest := sender(live.RTMP, "guest", "1")
		id := r.arrives(guest)
		r.live(r.arrives(sender(live.RTMP, "sara", "2")))
		if s := r.Status(); s.Next != id {
			t.Errorf("%q would follow", s.Next)
		}
		r.kick("1")
		r.ended(guest, id)
		r.arrives(sender(live.RTMP, "guest", "3"))
		if s := r.Status(); s.Next != "" {
			t.Errorf("%q would follow", s.Next)
		}
	})
}

// A phone is told of by its server. It comes back as little by itself, not even from behind
// another phone that leaves; who is not known yet is a phone.
func TestAKickedPhoneWaitsForTheStudio(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("phone-a", true)
		r.person("phone-b", false)
		id := r.connect("phone-a", "1")
		r.expect(id, takeover.OnLive)
		r.kick("1")
		r.kick("connecting")
		if want := []string{"whip 1 enough", "whip connecting enough"}; !slices.Equal(r.kicked, want) {
			t.Errorf("%q", r.kicked)
		}
		r.disconnect(id, "1", byPresenter)
		r.expect("", takeover.NormalMix)
		r.connect("phone-b", "2")
		r.live(id)
		r.connect("phone-a", "3")
		if p := r.Presence("phone-a", id); p.State != "taken back" {
			t.Errorf("it reads %q", p.State)
		}
		// The other one's connection breaks, and the server passes the pipe on.
		r.disconnect(id, "2", "no packets")
		r.connect("phone-a", "3")
		r.after(time.Minute)
		r.expect("", takeover.NormalMix)
	})
}

// The studio's own microphone is ended where it was opened.
func TestTheStudioDoesNotKickItself(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		id := r.arrives(live.Arrival{Protocol: live.Internal, URL: "source:/studio", Session: "mic"})
		r.expect(id, takeover.OnLive)
		if err := r.Kick(t.Context(), "mic", ""); !errors.Is(err, station.ErrConflict) || len(r.kicked) > 0 {
			t.Errorf("%v, %q", err, r.kicked)
		}
		r.expect(id, takeover.OnLive)
		if all := r.Status().Encoders; len(all) != 0 {
			t.Errorf("%+v", all)
		}
	})
}
