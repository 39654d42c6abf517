package takeover_test

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
)

// ranked are the titles in the order of the studio's list; in parentheses those that cannot be
// put on the air.
func (r *rig) ranked() (out string) {
	for _, s := range r.Ranked() {
		title := or(s.Title, s.URL)
		if !s.Available {
			title = "(" + title + ")"
		}
		out += " " + title
	}
	return out
}

// line checks the studio's list, and which of it is the first in line.
func (r *rig) line(want string, first string) {
	r.t.Helper()
	r.settled()
	if got := r.ranked(); got != want {
		r.t.Errorf("ranked %s, want %s", got, want)
	}
	if s := r.Status(); s.Next != first {
		r.t.Errorf("%q is the first in line, want %q", s.Next, first)
	}
}

// A phone that waits for the studio is read by the desk while nothing is live, and so the studio
// sees that it is ready; it had been listed as not connected. An address is left alone.
func TestTheDeskReadsAPhoneThatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("phone-a", false)
		r.add("far")
		id := r.connect("phone-a", "1")
		if o := r.desk.last(); o.Air != nil || len(o.Next) != 1 || o.Next[0].ID != id || o.Next[0].URL != "pipe:/p/whip.pcm" {
			t.Errorf("%+v", o)
		}
		if s := r.Status(); len(s.Sources) != 1 || s.Sources[0].State != live.Ready {
			t.Errorf("%+v", s.Sources)
		}
		r.line(" phone-a far", id)
		r.expect("", takeover.NormalMix)
		if _, err := r.Start(t.Context(), "", "", "the studio"); err != nil {
			t.Fatal(err)
		}
		r.expect(id, takeover.OnLive)
		if _, err := r.Stop(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		r.settled()
		if e := r.Status().Ended; e == nil || e.Why != "enough" {
			t.Errorf("%+v", e)
		}
		r.line(" phone-a far", id)
		r.desk.stop(id, "") // the last of it is read before the news of its end comes, or after
		r.disconnect(id, "1", byPresenter)
		r.expect("", takeover.NormalMix)
		if o := r.desk.last(); len(o.Next) != 0 {
			t.Errorf("%+v", o)
		}
		r.line(" far (phone-a)", r.Ranked()[0].ID)
	})
}

// A phone that comes while the desk has yet to hear of a stop does not take that one's reason.
func TestAPhoneThatComesAtAStopKeepsItsReason(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("phone-a", false)
		r.person("omar", false)
		r.live(r.connect("omar", "1"))
		r.desk.change(func() { r.desk.losePut = 1 })
		stopped := make(chan error, 1)
		go func() { _, err := r.Stop(t.Context(), "enough"); stopped <- err }()
		r.settled()
		id := r.connect("phone-a", "2")
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		r.settled()
		if o := r.desk.last(); len(o.Next) != 1 || o.Next[0].ID != id {
			t.Errorf("%+v", o)
		}
		if e := r.Status().Ended; e == nil || e.Why != "enough" {
			t.Errorf("%+v", e)
		}
	})
}

// A phone that waits behind another brings no sound when that one is disconnected: the pipe is
// nobody's until the studio passes it on. It had stood above an encoder that was ready.
func TestAPhoneThatWaitsBehindAnotherIsNotFirstInLine(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("phone-a", false)
		r.person("phone-b", false)
		r.person("omar", false)
		id := r.connect("phone-a", "1")
		r.live(id)
		r.connect("phone-b", "2")
		r.after(2 * time.Minute)
		r.kick("1")
		r.desk.stop(id, "")
		r.disconnect(id, "1", byPresenter)
		r.expect("", takeover.NormalMix)
		r.line(" (phone-a)", "")
		other := r.connect("omar", "3")
		r.line(" omar (phone-a)", other)
		// It speaks now, and ranks as what it is: live lately.
		r.connect("phone-b", "2")
		r.line(" phone-b omar", id)
		// One that the studio disconnected is the last of those that could be taken.
		r.kick("2")
		r.desk.stop(id, "")
		r.disconnect(id, "2", byPresenter)
		r.connect("phone-b", "4")
		r.line(" omar phone-b", other)
	})
}

// The address of an encoder that came over RTMP is no candidate without it: it had been the
// first in line, and the desk had tried to fetch it for as long as anything was live.
func TestAnRTMPEncoderIsFirstInLineWhileItSends(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", false)
		r.person("omar", false)
		obs := sender(live.RTMP, "sara", "1")
		id := r.arrives(obs)
		r.line(" name of sara", id)
		r.kick("1")
		r.ended(obs, id)
		r.line(" (name of sara)", "")
		if s, err := r.Start(t.Context(), "", "", "the studio"); err != nil || s.Active != nil {
			t.Errorf("%+v, %v", s.Active, err)
		}
		other := r.connect("omar", "2")
		r.live(other)
		r.after(time.Minute)
		if o := r.desk.last(); len(o.Next) != 0 {
			t.Errorf("the desk is to try %+v", o.Next)
		}
		r.line(" omar (name of sara)", "")
	})
}
