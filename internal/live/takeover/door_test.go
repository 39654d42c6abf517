package takeover_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/station"
)

// book has the rig's people.
type book struct{ r *rig }

func (b book) Admit(c live.Credentials) live.Admission { return b.Allowed(c.User) }
func (b book) Allowed(id string) live.Admission {
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	if a, ok := b.r.people[id]; ok {
		return a
	}
	return live.Admission{Code: "unknown", Detail: "This key is not valid."}
}

func TestADoorTellsPresentersTheTruth(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		door := takeover.Door{Takeover: r.Takeover, Accounts: book{r}, Air: func() takeover.Air {
			return takeover.Air{OnAir: live.FactsAir{Title: "a song", Kind: "rotation"}, Listeners: 7}
		}}
		facts := func(publisher, stream string) live.Facts {
			t.Helper()
			r.settled()
			f, err := door.Facts(t.Context(), publisher, stream)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		if a, err := door.Admit(t.Context(), live.Credentials{User: "phone1"}); err != nil || a.Allowed || a.Now != time.Now().UnixMilli() {
			t.Errorf("%+v, %v", a, err)
		}
		if _, err := door.Arrived(t.Context(), live.Arrival{Protocol: live.WHIP, URL: "pipe:/p/whip.pcm", Publisher: "phone1", Session: "s"}); !errors.Is(err, station.ErrForbidden) {
			t.Errorf("a stranger: %v", err)
		}
		if _, err := door.Arrived(t.Context(), live.Arrival{Protocol: live.WHIP, URL: "pipe:/p/whip.pcm", Session: "s"}); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("nobody: %v", err)
		}
		r.person("phone1", false)
		id, err := door.Arrived(t.Context(), live.Arrival{Protocol: live.WHIP, URL: "pipe:/p/whip.pcm", Title: "Evening", Creator: "Sara", Publisher: "phone1", Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now().UnixMilli()
		want := live.Facts{Allowed: true, State: "waiting", Since: now, OnAir: live.FactsAir{Title: "a song", Kind: "rotation"}, Next: []live.FactsTrack{}, Listeners: 7, Now: now}
		if d := cmp.Diff(want, facts("phone1", id)); d != "" {
			t.Error(d)
		}
		r.live(id)
		if f := facts("phone1", id); f.State != "connecting" { // the engine has not said so
			t.Errorf("%+v", f)
		}
		r.mu.Lock()
		r.kind = "live"
		r.mu.Unlock()
		if _, err := r.WrapUp(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		if f := facts("phone1", id); f.State != "on air" || f.WrapUpAt != now+60_000 || f.TakenBy != "" {
			t.Errorf("%+v", f)
		}
		r.person("phone2", false)
		r.connect("phone2", "t")
		if f := facts("phone2", id); f.State != "waiting" || f.WrapUpAt != 0 || f.TakenBy != "Sara" {
			t.Errorf("who waits: %+v", f)
		}
		r.desk.cut(errCut)
		if f := facts("phone1", id); f.State == "on air" {
			t.Errorf("while nothing is known: %+v", f)
		}
		r.desk.cut(nil)
		r.after(3 * time.Second)
		r.mu.Lock()
		r.people["phone1"] = live.Admission{Code: "revoked", Detail: "This key was revoked."}
		r.mu.Unlock()
		r.after(2 * time.Second)
		if f := facts("phone1", id); f.Allowed || f.Code != "revoked" || f.Detail == "" || f.State == "on air" {
			t.Errorf("revoked: %+v", f)
		}
		if err := door.Left(t.Context(), live.Leaving{ID: id, Session: "s", Why: "revoked"}); err != nil {
			t.Fatal(err)
		}
		if f := facts("", ""); !f.Allowed || f.State != "off" {
			t.Errorf("a page without a session: %+v", f)
		}
	})
}

// The studio's own microphone takes the air at once, from whoever has it, and needs no
// account; an encoder with the station's own password waits for the studio under the name
// that it came by.
func TestTheStudiosMicrophoneTakesTheAir(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		door := takeover.Door{Takeover: r.Takeover, Accounts: book{r}, Air: func() takeover.Air { return takeover.Air{} }}
		arrive := func(a live.Arrival) string {
			t.Helper()
			id, err := door.Arrived(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			r.desk.feed(id)
			r.settled()
			return id
		}
		obs := arrive(live.Arrival{Protocol: live.RTMP, URL: "rtmp://8.8.8.8/live/obs", Publisher: "obs", Session: "rtmp/obs/1"})
		r.expect("", takeover.NormalMix)
		if s, err := r.reg.Find(obs); err != nil || s.Creator != "obs" || s.Title != "obs" {
			t.Errorf("%+v, %v", s, err)
		}
		if _, err := r.Start(t.Context(), obs, live.Replace, "the studio"); err != nil {
			t.Fatal(err)
		}
		r.expect(obs, takeover.OnLive)
		// nginx's statistics cannot be read for a while; the desk hears the encoder all the same.
		if err := door.Left(t.Context(), live.Leaving{Publisher: "obs", Session: "rtmp/obs/1", Why: "the encoder disconnected", Broke: true}); err != nil {
			t.Fatal(err)
		}
		r.after(20 * time.Second)
		r.expect(obs, takeover.OnLive)
		r.desk.stop(obs, "no audio came for 5s")
		r.after(time.Second)
		r.expect("", takeover.NormalMix)
		arrive(live.Arrival{Protocol: live.RTMP, URL: "rtmp://8.8.8.8/live/obs", Publisher: "obs", Session: "rtmp/obs/1"})
		if _, err := r.Start(t.Context(), obs, live.Replace, "the studio"); err != nil {
			t.Fatal(err)
		}
		mic := arrive(live.Arrival{Protocol: live.Internal, URL: "source:/studio", Session: "mic 1"})
		r.after(time.Second)
		r.expect(mic, takeover.OnLive)
		if err := door.Left(t.Context(), live.Leaving{ID: mic, Session: "mic 1", Why: "ended by the studio"}); err != nil {
			t.Fatal(err)
		}
		r.settled()
		r.expect("", takeover.NormalMix)
		// Again, right after: the studio is not held down.
		for n := range 5 {
			session := "mic " + string(rune('2'+n))
			again := arrive(live.Arrival{Protocol: live.Internal, URL: "source:/studio", Session: session})
			r.expect(again, takeover.OnLive)
			if err := door.Left(t.Context(), live.Leaving{ID: again, Session: session, Why: "ended by the studio"}); err != nil {
				t.Fatal(err)
			}
			r.settled()
			r.expect("", takeover.NormalMix)
		}
	})
}

// By this the phones' server knows who may follow when another hangs up.
func TestADoorTellsWhoMayTakeTheAir(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		door := takeover.Door{Takeover: r.Takeover, Accounts: book{r}, Air: func() takeover.Air { return takeover.Air{} }}
		auto := func(publisher, stream string) bool {
			r.settled()
			f, err := door.Facts(t.Context(), publisher, stream)
			if err != nil {
				t.Fatal(err)
			}
			return f.Auto
		}
		r.person("phone1", true)
		r.person("phone2", false)
		id := r.connect("phone1", "s1")
		r.connect("phone2", "s2")
		if !auto("phone1", id) || auto("phone2", id) || auto("", id) {
			t.Error("who may, may not, or the other way round")
		}
		r.live(id)
		if _, err := r.Stop(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if auto("phone1", id) {
			t.Error("who was stopped by the studio may take the air")
		}
	})
}

// Nobody who is off the air is told that a show goes on: who was stopped by the studio waits
// for it, whoever connects again, until the time is over or the studio starts it.
func TestAPhoneLearnsThatTheStudioTookTheAirBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		door := takeover.Door{Takeover: r.Takeover, Accounts: book{r}, Air: func() takeover.Air { return takeover.Air{} }}
		facts := func(publisher, stream string) live.Facts {
			t.Helper()
			r.settled()
			f, err := door.Facts(t.Context(), publisher, stream)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		r.person("phone1", true)
		r.person("phone2", true)
		id := r.connect("phone1", "1")
		r.connect("phone2", "2")
		r.expect(id, takeover.OnLive)
		if _, err := r.Stop(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		r.expect("", takeover.NormalMix)
		until := time.Now().Add(10 * time.Minute).UnixMilli()
		if f := facts("phone1", id); f.State != "taken back" || f.FreeAt != 0 || f.Auto {
			t.Errorf("who was stopped: %+v", f)
		}
		if f := facts("phone2", id); f.State != "waiting" || f.FreeAt != 0 {
			t.Errorf("who waited: %+v", f)
		}
		r.disconnect(id, "1", byPresenter)
		r.connect("phone1", "3")
		if f := facts("phone1", id); f.State != "taken back" || f.FreeAt != until || f.Auto {
			t.Errorf("who connects again: %+v", f)
		}
		r.after(11 * time.Minute)
		if f := facts("phone1", id); f.State == "taken back" || f.FreeAt != 0 {
			t.Errorf("ten minutes later: %+v", f)
		}
		// One that was sent away while it only waited has lost nothing.
		r.kick("2")
		r.disconnect(id, "2", "disconnected by the studio")
		r.connect("phone2", "4")
		if f := facts("phone2", id); f.State != "held" || f.Auto {
			t.Errorf("who was sent away: %+v", f)
		}
	})
}

// The desk waits for the first sound of who has the air: that is no waiting for the studio.
func TestAPhoneThatIsCalledLearnsIt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		door := takeover.Door{Takeover: r.Takeover, Accounts: book{r}, Air: func() takeover.Air { return takeover.Air{} }}
		called := func(publisher, stream string) (state string, byAnother bool) {
			t.Helper()
			r.settled()
			f, err := door.Facts(t.Context(), publisher, stream)
			if err != nil {
				t.Fatal(err)
			}
			return f.State, f.Called
		}
		r.person("guest", false)
		r.person("host", true)
		r.desk.change(func() { r.desk.mute = true })
		id := r.connect("guest", "1")
		if state, _ := called("guest", id); state != "waiting" {
			t.Errorf("before the call: %s", state)
		}
		if _, err := r.Start(t.Context(), id, "", "the studio"); err != nil {
			t.Fatal(err)
		}
		if state, by := called("guest", id); state != "called" || !by {
			t.Errorf("called by the studio: %s, %v", state, by)
		}
		if state, _ := called("other", id); state == "called" {
			t.Error("another phone is called with it")
		}
		r.disconnect(id, "1", byPresenter)
		id = r.connect("host", "2")
		if state, by := called("host", id); state != "called" || by {
			t.Errorf("on by itself: %s, %v", state, by)
		}
	})
}
