package takeover_test

import (
	"errors"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/station"
)

func TestOnlyAPublisherWhoMayTakesTheAirByItself(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("guest", false)
		guest := r.connect("guest", "g1")
		r.after(time.Minute)
		r.expect("", takeover.NormalMix)
		if w := r.Status().Waiting; len(w) != 1 || w[0].ID != guest || w[0].Name != "name of guest" || w[0].Auto {
			t.Errorf("waiting %+v", w)
		}
		if r.Presence("", guest).State != "waiting" {
			t.Errorf("%+v", r.Presence("", guest))
		}
		r.person("sara", true)
		sara := r.connect("sara", "s1")
		r.expect(sara, takeover.OnLive)
		if a := r.Status().Active; a.By != "name of sara" || a.Publisher != "sara" {
			t.Errorf("%+v", a)
		}
		// Another who may waits while one is live, and has the air when that ends.
		r.person("omar", true)
		omar := r.connect("omar", "o1")
		r.after(time.Minute)
		r.expect(sara, takeover.OnLive)
		r.disconnect(sara, "s1", byPresenter)
		r.desk.stop(sara, "closed")
		r.settled()
		r.after(2 * time.Second)
		if got := r.desk.onAir(); got != omar && got != guest {
			t.Errorf("on the air: %q", got)
		}
	})
}

// The first sound of a presenter who is back is not another's end.
func TestAPublishersOwnReconnectTakesTheAir(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", true)
		id := r.connect("sara", "s1")
		r.expect(id, takeover.OnLive)
		r.desk.stop(id, "no audio for 5 s")
		r.expect("", takeover.NormalMix)
		r.after(10 * time.Second)
		r.desk.feed(id) // still the same connection: it had its turn
		r.after(time.Minute)
		r.expect("", takeover.NormalMix)
		r.disconnect(id, "s1", "")
		r.connect("sara", "s2")
		r.expect(id, takeover.OnLive)
		// The same person by another way, while the first is still there.
		other, err := r.Arrived(t.Context(), arrival("sara", "source:/second", "s3"))
		if err != nil {
			t.Fatal(err)
		}
		r.desk.feed(other)
		r.expect(other, takeover.OnLive)
	})
}

// The table of cast.go.
func TestAPublisherWhoComesAndGoesIsHeldDown(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", true)
		var id string
		leave := func() {
			r.after(time.Second)
			r.desk.stop(id, "closed")
			r.disconnect(id, "s", "the network is gone")
			r.expect("", takeover.NormalMix)
		}
		for n, held := range []time.Duration{0, 0, 0, 15, 30, 60, 120} {
			id = r.connect("sara", "s")
			if held > 0 {
				if p := r.Presence("", id); p.State != "held" || p.FreeAt != time.Now().Add(held*time.Second).UnixMilli() {
					t.Fatalf("connection %d: %+v", n, p)
				}
				r.after(held*time.Second - time.Millisecond)
				r.expect("", takeover.NormalMix)
				r.after(time.Second)
			}
			r.expect(id, takeover.OnLive)
			if n < 6 {
				leave()
			}
		}
		r.after(61 * time.Second) // it lasts: that is forgotten
		leave()
		for range 3 {
			id = r.connect("sara", "s")
			r.expect(id, takeover.OnLive)
			leave()
		}
		// Who did not come back in the meantime does not take the air when the hold ends.
		r.after(time.Hour)
		r.expect("", takeover.NormalMix)
	})
}

func arrival(publisher, url, session string) live.Arrival {
	return live.Arrival{Protocol: live.Icecast, URL: url, Title: "t", Publisher: publisher, Session: session}
}

func TestWhoTheStudioStoppedDoesNotComeBackByItself(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", true)
		r.person("omar", true)
		id := r.connect("sara", "s1")
		omar := r.connect("omar", "o1") // waits
		r.expect(id, takeover.OnLive)
		if _, err := r.Stop(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		r.after(time.Minute)
		r.expect("", takeover.NormalMix) // neither
		r.disconnect(id, "s1", "")
		r.connect("sara", "s2")
		r.after(time.Minute)
		r.expect("", takeover.NormalMix)
		if p := r.Presence("", id); p.State != "taken back" {
			t.Errorf("%+v", p)
		}
		if _, err := r.Start(t.Context(), id, "", "the studio"); err != nil {
			t.Fatal(err)
		}
		r.expect(id, takeover.OnLive)
		if _, err := r.Hand(t.Context(), omar); err != nil {
			t.Fatal(err)
		}
		r.expect(omar, takeover.OnLive)
	})
}

func TestAPublisherWhoMayNoLongerLeavesTheAir(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", true)
		id := r.connect("sara", "s1")
		r.expect(id, takeover.OnLive)
		r.mu.Lock()
		r.people["sara"] = live.Admission{Code: "revoked"}
		r.mu.Unlock()
		r.after(1100 * time.Millisecond)
		r.expect("", takeover.NormalMix)
		r.after(time.Minute)
		r.expect("", takeover.NormalMix)
		// An early bird waits, and takes the air when its slot begins.
		id = r.connect("early", "e1")
		r.after(time.Minute)
		r.expect("", takeover.NormalMix)
		r.person("early", true)
		r.after(2 * time.Second)
		r.expect(id, takeover.OnLive)
	})
}

func TestArrivalsAreNamedAndBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		if _, err := r.Arrived(t.Context(), live.Arrival{URL: "source:/a"}); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("no session: %v", err)
		}
		if _, err := r.Arrived(t.Context(), arrival("", "file:///etc/passwd", "x")); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("an address that may not be: %v", err)
		}
		for i := range 250 {
			if _, err := r.Arrived(t.Context(), arrival("p", "source:/a", string(rune(0x4e00+i)))); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(r.Status().Waiting); n > 200 {
			t.Errorf("%d sessions are remembered", n)
		}
		r.disconnect("", "nobody", "")
	})
}

// All phones have one pipe: who waits for it changes neither the entry nor who is on the
// air, and gets nothing from the one before without the studio.
func TestPhonesThatWaitForThePipe(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("phone1", false)
		r.person("phone2", false)
		r.person("phone3", true)
		id := r.connect("phone1", "s1")
		r.live(id)
		for _, name := range []string{"phone2", "phone3"} {
			if other := r.connect(name, name+" s"); other != id {
				t.Errorf("another stream: %s", other)
			}
		}
		s := r.Status()
		if s.Active.Publisher != "phone1" || s.Active.Title != "phone1" || len(s.Waiting) != 2 || s.Waiting[0].Publisher != "phone2" {
			t.Errorf("%+v, waiting %+v", s.Active, s.Waiting)
		}
		if a, b := r.Presence("phone1", id), r.Presence("phone2", id); a.State == "off" || a.TakenBy != "" || b.State != "waiting" || b.TakenBy != "phone1" {
			t.Errorf("%+v, %+v", a, b)
		}
		// The studio passes the pipe on: the next is on the air, and the one before may leave.
		r.after(time.Minute)
		r.connect("phone2", "phone2 s")
		r.after(10 * time.Second)
		since := s.Active.Since
		if s := r.Status(); s.Active.Publisher != "phone2" || s.Active.Title != "phone2" || s.Active.Since <= since {
			t.Errorf("passed on: %+v, on the air since then and not since %d", s.Active, since)
		}
		r.disconnect(id, "s1", byPresenter)
		r.after(time.Minute)
		r.expect(id, takeover.OnLive)
		// It ends its broadcast: the server passes the pipe to who waited, who may.
		r.connect("phone3", "phone3 s")
		r.disconnect(id, "phone2 s", byPresenter)
		r.expect(id, takeover.OnLive)
		if s := r.Status(); s.Active.Publisher != "phone3" {
			t.Errorf("%+v", s.Active)
		}
		// And the other way round, to one who may not.
		r.connect("phone1", "s4")
		r.connect("phone1", "s4")
		if err := r.Left(t.Context(), live.Leaving{ID: id, Publisher: "phone3", Session: "phone3 s", Why: byPresenter}); err != nil {
			t.Fatal(err)
		}
		r.expect("", takeover.NormalMix)
		if w := r.Status().Waiting; len(w) != 1 || w[0].Publisher != "phone1" {
			t.Errorf("waiting %+v", w)
		}
		// A connection that breaks keeps the pipe for its publisher while another waits.
		r.live(id)
		r.connect("phone2", "s5")
		r.disconnect(id, "s4", "the connection failed")
		r.after(3 * time.Second)
		r.connect("phone1", "s6")
		r.after(time.Minute)
		r.expect(id, takeover.OnLive)
		if s := r.Status(); s.Active.Publisher != "phone1" {
			t.Errorf("%+v", s.Active)
		}
		r.disconnect(id, "s6", "the connection failed")
		r.after(6 * time.Second)
		r.expect("", takeover.NormalMix)
	})
}
