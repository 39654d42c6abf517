package takeover_test

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
)

// phone connects a phone whose presenter wants listeners to be told, or not.
func (r *rig) phone(publisher, session string, push bool) string {
	r.t.Helper()
	id, err := r.Arrived(r.t.Context(), live.Arrival{
		Protocol: live.WHIP, URL: "pipe:/p/whip.pcm", Title: publisher, Publisher: publisher, Session: session, Push: push,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.desk.feed(id)
	r.settled()
	return id
}

func (r *rig) announced(want bool) {
	r.t.Helper()
	if got := r.Announced(); got != want {
		r.t.Errorf("announced: %v, want %v", got, want)
	}
}

// Encoders and the studio are announced. A phone is where its presenter asked for it, once
// for a connection, and whatever becomes of its network meanwhile.
func TestListenersAreToldOfAPhoneWhosePresenterAskedForIt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for _, p := range []string{"phone1", "phone2", "encoder"} {
			r.person(p, true)
		}
		r.announced(true) // something that the desk knows nothing of
		id := r.connect("encoder", "e1")
		r.expect(id, takeover.OnLive)
		r.announced(true)
		r.desk.stop(id, "closed")
		r.disconnect(id, "e1", byPresenter)

		id = r.phone("phone1", "s1", false)
		r.expect(id, takeover.OnLive)
		r.announced(false)
		r.desk.stop(id, "closed")
		r.disconnect(id, "s1", byPresenter)
		r.expect("", takeover.NormalMix)
		r.announced(false) // the engine may be late
		r.after(11 * time.Second)
		r.announced(true)

		r.phone("phone1", "s2", true)
		r.expect(id, takeover.OnLive)
		r.announced(true)
		// The page is loaded again: another connection, which asks for nothing more.
		r.disconnect(id, "s2", "the network is gone")
		r.phone("phone1", "s3", false)
		r.expect(id, takeover.OnLive)
		r.announced(true)
		// The same session is told of again, as a retry is.
		r.phone("phone1", "s3", false)
		r.announced(true)
		if _, err := r.Stop(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		r.after(11 * time.Second)
		if _, err := r.Start(t.Context(), id, "", ""); err != nil {
			t.Fatal(err)
		}
		r.announced(false) // the wish was for the broadcast before
		// Another phone waits with its wish, and has it when the pipe is passed on.
		r.phone("phone2", "s4", true)
		r.announced(false)
		r.phone("phone2", "s4", true)
		r.announced(true)
	})
}

// An attempt that nobody heard does not use up the wish.
func TestAStartThatFailsKeepsTheWish(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("phone1", false)
		id := r.phone("phone1", "s1", true)
		r.desk.stop(id, "")
		r.desk.change(func() { delete(r.desk.dead, id) })
		if _, err := r.Start(t.Context(), id, "", ""); err == nil {
			t.Fatal("it starts without audio")
		}
		r.desk.feed(id)
		if _, err := r.Start(t.Context(), id, "", ""); err != nil {
			t.Fatal(err)
		}
		r.announced(true)
	})
}

// The end of a broadcast names its recording, not the one that followed it.
func TestAnEndNamesItsRecording(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b := r.add("a"), r.add("b")
		r.live(a)
		r.desk.change(func() { r.desk.taping = "a.mp3" })
		r.desk.feed(b)
		r.settled()
		r.desk.change(func() { delete(r.desk.feeds, a); r.desk.dead[a] = "closed"; r.desk.taping = "b.mp3" })
		r.expect(b, takeover.OnLive)
		r.desk.change(func() { delete(r.desk.feeds, b); r.desk.dead[b] = "closed"; r.desk.taping = "" })
		r.expect("", takeover.NormalMix)
		r.live(a)
		if _, err := r.Stop(t.Context(), ""); err != nil { // nothing was recorded
			t.Fatal(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		var got []string
		for _, e := range r.told {
			if e.Kind != takeover.Started {
				got = append(got, e.Recording)
			}
		}
		if len(got) != 3 || got[0] != "a.mp3" || got[1] != "b.mp3" || got[2] != "" {
			t.Errorf("%q of %+v", got, r.told)
		}
	})
}
