package takeover_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/registry"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/station"
)

// The mission's table Live takeover, in its order.

func TestStartWithAnIDNeedsAStreamAndAFeed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		if _, err := r.Start(t.Context(), "LIVE0000ffff", "", ""); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("unknown id: %v", err)
		}
		phone, err := r.reg.RegisterPipe(t.Context(), registry.Fields{URL: "pipe:/p/whip.pcm", Title: "phone", Ingest: "webrtc"})
		if err != nil {
			t.Fatal(err)
		}
		for words, probe := range map[string]func() (bool, error){
			"does not answer": func() (bool, error) { return false, errors.New("connection refused") },
			"has no feed":     func() (bool, error) { return false, nil },
		} {
			r.probe = probe
			taken := r.desk.taken()
			if _, err := r.Start(t.Context(), phone.ID, "", ""); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %v", words, err)
			}
			if r.desk.taken() != taken {
				t.Error("the desk was ordered something")
			}
		}
		r.expect("", takeover.NormalMix)
		r.probe = func() (bool, error) { return true, nil }
		r.live(phone.ID)
		if o := r.desk.last(); o.Air.URL != "pipe:/p/whip.pcm" || o.Air.Title != "phone" || o.Mode != live.Replace {
			t.Errorf("ordered %+v", o)
		}
		if _, err := r.Start(t.Context(), phone.ID, "duet", ""); !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), "mode: ") {
			t.Errorf("unknown mode: %v", err)
		}
		if r.story() != "started phone" {
			t.Error(r.story())
		}
	})
}

func TestStartWithoutAnIDTakesTheBestOfTheRanking(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		if s, err := r.Start(t.Context(), "", "", ""); err != nil || s.State != takeover.NormalMix || s.Active != nil {
			t.Errorf("no candidate: %+v, %v", s, err)
		}
		worse, best, blocked := r.add("worse"), r.add("best"), r.add("blocked")
		for id, votes := range map[string]int{best: 10, blocked: 100} {
			if _, err := r.reg.Vote(t.Context(), id, votes); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.reg.Block(t.Context(), blocked); err != nil {
			t.Fatal(err)
		}
		// Neither pipe nor encoder is connected: no audio may be had of them.
		for _, f := range []registry.Fields{{URL: "pipe:/p/whip.pcm", Title: "phone"}, {URL: "source:/sara", Title: "encoder"}} {
			s, err := r.reg.Register(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.reg.Vote(t.Context(), s.ID, 100); err != nil {
				t.Fatal(err)
			}
		}
		r.probe = func() (bool, error) { return false, nil }
		r.desk.change(func() { r.desk.feeds[best] = true })
		if _, err := r.Start(t.Context(), "", "", ""); err != nil {
			t.Fatal(err)
		}
		r.expect(best, takeover.OnLive)
		if o := r.desk.last(); len(o.Next) != 1 || o.Next[0].ID != worse {
			t.Errorf("next: %+v", o.Next)
		}
		if s, err := r.Start(t.Context(), "", "", ""); err != nil || s.Active.ID != best {
			t.Errorf("once more: %+v, %v", s.Active, err)
		}
	})
}

func TestStartFailsWhenNoAudioComes(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		id := r.add("silent")
		began := time.Now()
		s, err := r.Start(t.Context(), id, "", "")
		if !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "no audio came within 8s") || time.Since(began) != 8*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		r.expect("", takeover.NormalMix)
		if s.Active != nil || r.desk.last().Air != nil || r.story() != "failed silent" {
			t.Errorf("%+v, %s", s, r.story())
		}
		// It says at once that it cannot be had.
		began = time.Now()
		go func() { time.Sleep(time.Second); r.desk.stop(id, "the server answered 404") }()
		if _, err := r.Start(t.Context(), id, "", ""); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "404") || time.Since(began) != time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		r.settled()
		if r.reg.Marks()[id].Failures != 2 {
			t.Errorf("two failures in a row: %+v", r.reg.Marks())
		}
		// Audio within the time.
		go func() { time.Sleep(7 * time.Second); r.desk.feed(id) }()
		if _, err := r.Start(t.Context(), id, "", ""); err != nil {
			t.Error(err)
		}
		r.expect(id, takeover.OnLive)
		r.after(61 * time.Second)
		if len(r.reg.Marks()) != 0 {
			t.Errorf("a minute on the air does not clear: %+v", r.reg.Marks())
		}
		if got, _ := r.reg.Find(id); got.LastLiveAt == 0 {
			t.Error("lastLiveAt is not kept")
		}
	})
}

func TestStopReturnsToTheNormalMix(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b := r.add("a"), r.add("b")
		r.live(a)
		r.desk.feed(b)
		if _, err := r.Stop(t.Context(), "by the studio"); err != nil {
			t.Fatal(err)
		}
		r.expect("", takeover.NormalMix)
		if o := r.desk.last(); o.Air != nil || len(o.Next) != 0 || o.Why != "by the studio" {
			t.Errorf("ordered %+v", o)
		}
		if r.story() != "started a, ended a" || len(r.reg.Marks()) != 0 {
			t.Errorf("%s, %+v", r.story(), r.reg.Marks())
		}
		r.after(time.Minute)
		r.expect("", takeover.NormalMix) // nothing takes the air by itself
		if _, err := r.Stop(t.Context(), ""); err != nil {
			t.Errorf("once more: %v", err)
		}
	})
}

func TestADeadStreamIsFollowedByTheNextOfTheRankingOrTheMix(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b, c := r.add("a"), r.add("b"), r.add("c")
		r.live(a)
		r.desk.feed(b)
		r.desk.feed(c)
		if _, err := r.reg.Vote(t.Context(), c, 5); err != nil {
			t.Fatal(err)
		}
		r.after(2 * time.Second)
		if o := r.desk.last(); len(o.Next) != 2 || o.Next[0].ID != c || r.Status().WouldFollow != "c" || r.Status().Next != c {
			t.Errorf("next %+v, would follow %q", o.Next, r.Status().WouldFollow)
		}
		r.desk.stop(a, "the server closed")
		r.expect(c, takeover.OnLive)
		r.desk.stop(c, "frozen")
		r.expect(b, takeover.OnLive)
		r.after(6 * time.Second)
		for _, s := range r.desk.last().Next {
			if s.ID == b {
				t.Error("the one on the air follows itself")
			}
		}
		r.desk.feed(a) // it is there again and does not take the air back
		r.after(time.Minute)
		r.expect(b, takeover.OnLive)
		r.desk.stop(a, "gone again")
		r.desk.stop(b, "frozen")
		r.expect("", takeover.NormalMix)
		if got := r.story(); got != "started a, failover c, failover b, ended b" {
			t.Error(got)
		}
		r.desk.feed(b)
		r.after(time.Minute)
		r.expect("", takeover.NormalMix)
	})
}

func TestARestartOfTheControlPlaneIsTheNormalMix(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.add("a")
		r.live(a)
		before := r.desk.last()
		r.kill()
		r.expectDesk(a) // the desk goes on by itself while it is away
		r.start()
		r.expect("", takeover.NormalMix)
		o := r.desk.last()
		if o.Air != nil || o.Epoch == before.Epoch || o.Why != "the control plane was restarted" {
			t.Errorf("ordered %+v", o)
		}
		if len(r.reg.List()) != 1 {
			t.Error("the registry is gone")
		}
		r.live(a)
	})
}

func (r *rig) expectDesk(id string) {
	r.t.Helper()
	if r.desk.onAir() != id {
		r.t.Fatalf("on the air %q, want %q", r.desk.onAir(), id)
	}
}

func TestAPhoneThatEndsIsTornDownAndOneThatLoadsAgainIsNot(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("phone1", false)
		id := r.connect("phone1", "s1")
		r.live(id)
		// The page is loaded again: the new session comes just after the old one went.
		r.disconnect(id, "s1", "the page was closed")
		r.expect(id, takeover.OnLive)
		r.after(4900 * time.Millisecond)
		if again := r.connect("phone1", "s2"); again != id {
			t.Errorf("another entry: %s", again)
		}
		r.after(time.Minute)
		r.expect(id, takeover.OnLive)
		if len(r.reg.List()) != 1 {
			t.Errorf("entries %+v", r.reg.List())
		}
		r.disconnect(id, "s1", "") // late news of the old one
		r.after(time.Minute)
		r.expect(id, takeover.OnLive)
		// It goes for good.
		r.disconnect(id, "s2", "the page was closed")
		r.after(4999 * time.Millisecond)
		r.expect(id, takeover.OnLive)
		r.after(2 * time.Millisecond)
		r.expect("", takeover.NormalMix)
		// The presenter ends it: at once.
		id = r.connect("phone1", "s3")
		r.live(id)
		r.disconnect(id, "s3", byPresenter)
		r.expect("", takeover.NormalMix)
		// The same where the end of its connection was told first, and while another waits.
		id = r.connect("phone1", "s4")
		r.live(id)
		r.person("phone2", false)
		r.connect("phone2", "s5")
		r.disconnect(id, "s4", "the page was closed")
		r.expect(id, takeover.OnLive)
		if err := r.Left(t.Context(), live.Leaving{ID: id, Publisher: "phone1", Session: "s4", Why: byPresenter}); err != nil {
			t.Fatal(err)
		}
		r.settled()
		r.expect("", takeover.NormalMix)
	})
}

// What the mission's table does not say.

func TestHandingOverWaitsForTheOtherAndKeepsTheFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b := r.add("a"), r.add("b")
		if _, err := r.Hand(t.Context(), b); !errors.Is(err, station.ErrConflict) {
			t.Errorf("nothing is live: %v", err)
		}
		r.live(a)
		go func() { time.Sleep(3 * time.Second); r.expectDesk(a); r.desk.feed(b) }()
		if _, err := r.Hand(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		r.expect(b, takeover.OnLive)
		for _, o := range r.desk.orders[1:] {
			if o.Air == nil {
				t.Errorf("the rotation broke in: %+v", o)
			}
		}
		if r.story() != "started a, handed b" || r.told[1].Before != a {
			t.Error(r.story())
		}
		r.desk.feed(a)
		r.desk.stop(a, "")
		// Nothing comes of the other: the first goes on as if nothing had been.
		r.desk.change(func() { delete(r.desk.feeds, a) })
		if _, err := r.Hand(t.Context(), a); !errors.Is(err, station.ErrConflict) {
			t.Errorf("no audio: %v", err)
		}
		r.expect(b, takeover.OnLive)
		// The first dies while the other is being waited for: that one is still waited for.
		go func() { time.Sleep(time.Second); r.desk.stop(b, "dead"); time.Sleep(time.Second); r.desk.feed(a) }()
		if _, err := r.Hand(t.Context(), a); err != nil {
			t.Error(err)
		}
		r.expect(a, takeover.OnLive)
	})
}

func TestAShowHoldsTheAirForItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.add("a")
		for until, title := range map[time.Time]string{time.Now(): "late", time.Now().Add(25 * time.Hour): "long", time.Now().Add(time.Hour): " "} {
			if _, err := r.Begin(t.Context(), title, until, ""); !errors.Is(err, station.ErrInvalid) {
				t.Errorf("%s: %v", title, err)
			}
		}
		if _, err := r.Begin(t.Context(), "Evening", time.Now().Add(time.Hour), "/beds/a.mp3"); err != nil {
			t.Fatal(err)
		}
		r.live(a)
		if o := r.desk.last(); o.Show == nil || o.Show.Title != "Evening" || o.Show.Bed != "/beds/a.mp3" {
			t.Errorf("ordered %+v", o.Show)
		}
		r.desk.stop(a, "dead")
		r.expect("", takeover.NormalMix)
		if o := r.desk.last(); o.Air != nil || o.Show == nil {
			t.Errorf("the show ended with its presenter: %+v", o)
		}
		r.after(time.Hour)
		if r.desk.last().Show != nil || r.Status().Show != nil {
			t.Error("the show does not end")
		}
		if _, err := r.Begin(t.Context(), "Night", time.Now().Add(time.Hour), ""); err != nil {
			t.Fatal(err)
		}
		if _, err := r.End(t.Context()); err != nil || r.desk.last().Show == nil && r.Status().Show != nil {
			t.Error(err)
		}
		r.settled()
		if r.desk.last().Show != nil {
			t.Error("the studio cannot end it")
		}
	})
}

func TestTheWrapUpSignGoesWithTheStream(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.add("a")
		if _, err := r.WrapUp(t.Context(), 60); !errors.Is(err, station.ErrConflict) {
			t.Errorf("nothing is live: %v", err)
		}
		r.live(a)
		if s, err := r.WrapUp(t.Context(), 60); err != nil || s.WrapUpAt != time.Now().Add(time.Minute).UnixMilli() {
			t.Errorf("%+v %v", s.WrapUpAt, err)
		}
		if s, err := r.WrapUp(t.Context(), 0); err != nil || s.WrapUpAt != 0 {
			t.Errorf("taken back: %+v %v", s.WrapUpAt, err)
		}
		if _, err := r.WrapUp(t.Context(), 4000); !errors.Is(err, station.ErrInvalid) {
			t.Error(err)
		}
		if _, err := r.WrapUp(t.Context(), 30); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Stop(t.Context(), ""); err != nil || r.Status().WrapUpAt != 0 {
			t.Errorf("%v, %d", err, r.Status().WrapUpAt)
		}
	})
}

func TestOnTheAirIsWhatTheEngineSays(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.add("a")
		if p := r.Presence("", a); p.State != "off" {
			t.Errorf("%+v", p)
		}
		r.live(a)
		if s := r.Status(); s.Active.OnAir || r.Presence("", a).State != "connecting" {
			t.Errorf("on the air before the engine says so: %+v", s.Active)
		}
		r.mu.Lock()
		r.kind = "live"
		r.mu.Unlock()
		if s := r.Status(); !s.Active.OnAir || r.Presence("", a).State != "on air" {
			t.Errorf("%+v, %+v", s.Active, r.Presence("", a))
		}
		if p := r.Presence("", "LIVE0000ffff"); p.State != "off" || p.TakenBy != "by a" {
			t.Errorf("another: %+v", p)
		}
		r.desk.feed("LIVE0000eeee") // an encoder with credentials in its address
		r.settled()
		if all := r.Status().Sources; len(all) != 2 {
			t.Errorf("sources %+v", all)
		}
		for _, s := range r.Status().Sources {
			if strings.Contains(s.URL, "secret") {
				t.Errorf("credentials in %s", s.URL)
			}
		}
		// Over the rotation the engine has no marker.
		r.mu.Lock()
		r.kind = "rotation"
		r.mu.Unlock()
		if _, err := r.Start(t.Context(), a, live.Over, ""); err != nil {
			t.Fatal(err)
		}
		r.settled()
		if s := r.Status(); s.Active.Mode != live.Over || !s.Active.OnAir || r.desk.last().Mode != live.Over {
			t.Errorf("over: %+v", s.Active)
		}
	})
}

func TestAStreamThatIsRemovedLeavesTheAir(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b := r.add("a"), r.add("b")
		r.live(a)
		r.desk.feed(b)
		r.settled()
		if err := r.reg.Remove(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		r.expect(b, takeover.OnLive)
		if err := r.reg.Remove(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		r.expect("", takeover.NormalMix)
	})
}
