package takeover_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/station"
)

// sender is an encoder as a roll has it.
func sender(protocol live.Protocol, publisher, session string) live.Arrival {
	url := "source:/" + publisher
	if protocol == live.RTMP {
		url = "rtmp://8.8.8.8/live/" + publisher
	}
	return live.Arrival{Protocol: protocol, URL: url, Publisher: publisher, Session: session}
}

// door is what the node asks.
func (r *rig) door() takeover.Door {
	return takeover.Door{Takeover: r.Takeover, Accounts: book{r}, Air: func() takeover.Air { return takeover.Air{} }}
}

// roll calls a roll twice, as two make a truth, and returns the second answer.
func (r *rig) roll(protocol live.Protocol, all ...live.Arrival) (answer live.RollAnswer) {
	r.t.Helper()
	for range 2 {
		var err error
		if answer, err = r.door().Roll(r.t.Context(), live.Roll{Protocol: protocol, Senders: all}); err != nil {
			r.t.Fatal(err)
		}
		r.after(time.Second)
	}
	return answer
}

func (r *rig) arrives(a live.Arrival) string {
	r.t.Helper()
	id, err := r.door().Arrived(r.t.Context(), a)
	if err != nil {
		r.t.Fatal(err)
	}
	r.desk.feed(id)
	r.settled()
	return id
}

func (r *rig) waiting(want ...string) {
	r.t.Helper()
	r.settled()
	all := r.Status().Waiting
	if len(all) != len(want) {
		r.t.Fatalf("waiting %+v, want %v", all, want)
	}
	for i, w := range all {
		if w.Session != want[i] || w.Auto {
			r.t.Errorf("waiting %+v, want %v, none of which takes the air by itself", all, want)
		}
	}
}

// Encoders that go on while the control plane is started anew are known again: they wait
// for the studio, also those that may take the air by themselves, and can be put on it,
// also where the registry has lost their stream. The desk is told its id.
func TestEncodersFromBeforeTheRestartAreKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("obs", true)
		r.person("butt", true)
		obs, butt := sender(live.RTMP, "obs", "rtmp/obs/1"), sender(live.Icecast, "butt", "b")
		id, other := r.arrives(obs), r.arrives(butt)
		r.expect(id, takeover.OnLive)
		r.kill()
		r.after(time.Second)
		r.start()
		r.after(10 * time.Second)
		r.expect("", takeover.NormalMix)
		r.waiting() // the fault that rolls mend

		if err := r.reg.Remove(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		if a := r.roll(live.RTMP, obs); a.Streams[obs.Session] != id || len(a.Refused) > 0 {
			t.Errorf("%+v", a)
		}
		a := r.roll(live.Icecast, butt)
		if now := a.Streams[butt.Session]; now == "" || now == other {
			t.Errorf("its stream is %q: %+v", now, a)
		}
		r.after(time.Minute)
		r.expect("", takeover.NormalMix)
		r.waiting(obs.Session, butt.Session)
		if _, err := r.Start(t.Context(), id, "", "the studio"); err != nil {
			t.Fatal(err)
		}
		r.expect(id, takeover.OnLive)
		if s := r.Status(); s.Active.Publisher != "obs" {
			t.Errorf("%+v", s.Active)
		}
		// A connection of its own again has its right again.
		r.desk.stop(id, "closed")
		r.disconnect(id, obs.Session, byPresenter)
		r.expect("", takeover.NormalMix)
		r.arrives(sender(live.RTMP, "obs", "rtmp/obs/2"))
		r.expect(id, takeover.OnLive)
	})
}

// An encoder that ended while nobody could tell of it does not wait for ever, nor does its
// broadcast, unless the desk hears it.
func TestEncodersThatEndedUnseenAreForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", true)
		r.person("omar", false)
		sara, omar := sender(live.RTMP, "sara", "rtmp/sara/1"), sender(live.RTMP, "omar", "rtmp/omar/2")
		id := r.arrives(sara)
		gone := r.arrives(omar)
		r.expect(id, takeover.OnLive)
		r.waiting(omar.Session)
		r.after(time.Hour) // a node that is not heard of forgets nobody
		r.waiting(omar.Session)

		r.desk.change(func() { delete(r.desk.feeds, gone) })
		r.roll(live.RTMP, sara)
		r.waiting()
		r.roll(live.RTMP)
		r.after(10 * time.Second)
		r.expect(id, takeover.OnLive) // the desk hears it
		r.desk.stop(id, "no audio came for 5s")
		r.after(time.Second)
		r.expect("", takeover.NormalMix)
		r.waiting()
	})
}

// The studio's microphone came again, and its first connection is missed only now: that
// one's end is no stop of the second.
func TestALostMicrophoneDoesNotStopItsSuccessor(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		mic := func(session string) live.Arrival {
			return live.Arrival{Protocol: live.Internal, URL: "source:/studio", Session: session}
		}
		id := r.arrives(mic("1"))
		r.expect(id, takeover.OnLive)
		r.arrives(mic("2"))
		r.roll(live.Icecast, mic("2"))
		r.after(10 * time.Second)
		r.expect(id, takeover.OnLive)
		r.roll(live.Icecast)
		r.expect("", takeover.NormalMix)
	})
}

// A stream that is removed while its encoder sends leaves the air, and the encoder, which is
// still there, gets another: under the id of before, which the desk was told for ever, it
// could not be put on the air. It does not take it by itself.
func TestAnEncoderWhoseStreamWasRemovedGetsAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", true)
		r.person("omar", true)
		sara, omar := sender(live.RTMP, "sara", "rtmp/sara/1"), sender(live.Icecast, "omar", "o")
		id := r.arrives(sara)
		other := r.arrives(omar)
		r.expect(id, takeover.OnLive)
		for _, one := range []string{other, id} {
			if err := r.reg.Remove(t.Context(), one); err != nil {
				t.Fatal(err)
			}
		}
		r.expect("", takeover.NormalMix)
		r.disk.fill(station.ErrUnavailable)
		for range 2 {
			if a := r.roll(live.RTMP, sara); len(a.Streams)+len(a.Refused) > 0 {
				t.Errorf("told of a stream that is gone: %+v", a)
			}
		}
		if n := r.lines.Count("cannot register"); n != 1 {
			t.Errorf("%d lines", n)
		}
		r.disk.fill(nil)
		now := r.roll(live.RTMP, sara).Streams[sara.Session]
		if _, err := r.reg.Find(now); err != nil || now == id {
			t.Fatalf("it is %q: %v", now, err)
		}
		if a := r.roll(live.RTMP, sara); a.Streams[sara.Session] != now {
			t.Errorf("it has another each time: %+v", a)
		}
		if a := r.roll(live.Icecast, omar); a.Streams[omar.Session] == "" || a.Streams[omar.Session] == other {
			t.Errorf("%+v", a)
		}
		r.desk.feed(now)
		r.after(time.Minute)
		r.expect("", takeover.NormalMix)
		r.waiting(omar.Session, sara.Session)
		if _, err := r.Start(t.Context(), now, "", "the studio"); err != nil {
			t.Fatal(err)
		}
		r.expect(now, takeover.OnLive)
		if s := r.Status(); s.Active.Publisher != "sara" {
			t.Errorf("%+v", s.Active)
		}
		r.desk.stop(now, "closed")
		r.disconnect(now, sara.Session, byPresenter)
		r.expect("", takeover.NormalMix)
	})
}

// An account that sends to more mounts than it may have streams does not push out one with
// the other each five seconds.
func TestAnAccountsStreamsDoNotPushEachOtherOutForEver(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", false)
		var all []live.Arrival
		for i := range live.MostOwned + 3 {
			a := sender(live.Icecast, "sara", fmt.Sprint(i))
			a.URL = fmt.Sprint("source:/sara", i)
			all = append(all, a)
			r.arrives(a)
			r.after(time.Second)
		}
		r.roll(live.Icecast, all...)
		before := r.roll(live.Icecast, all...)
		if len(before.Streams) != live.MostOwned || len(before.Refused) > 0 {
			t.Errorf("%+v", before)
		}
		if d := cmp.Diff(before, r.roll(live.Icecast, all...)); d != "" {
			t.Error(d)
		}
	})
}

// The node is told who may not send, and sends them away; they are not listed meanwhile.
func TestTheRollSaysWhoMayNotSend(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", false)
		r.person("omar", false)
		sara, omar, obs := sender(live.RTMP, "sara", "rtmp/sara/1"), sender(live.RTMP, "omar", "rtmp/omar/2"), sender(live.RTMP, "obs", "rtmp/obs/3")
		r.arrives(sara)
		r.arrives(omar)
		r.arrives(obs) // by the station's own password: the name is no account's
		if a := r.roll(live.RTMP, sara, omar, obs); len(a.Refused) > 0 || len(a.Streams) != 3 {
			t.Fatalf("%+v", a)
		}
		r.mu.Lock()
		r.people["sara"] = live.Admission{Code: "revoked", Detail: "This key was revoked.", Publisher: live.Presenter{ID: "sara"}}
		delete(r.people, "omar") // deleted: its name is no account's any more
		r.mu.Unlock()
		a := r.roll(live.RTMP, sara, omar, obs)
		if _, ok := a.Refused[obs.Session]; ok || len(a.Refused) != 2 || a.Streams[obs.Session] == "" || len(a.Streams) != 1 {
			t.Errorf("%+v", a)
		}
		r.roll(live.RTMP, obs)
		r.waiting(obs.Session)
		// Of a control plane that was started anew too.
		r.kill()
		r.start()
		if a := r.roll(live.RTMP, sara, obs); a.Refused[sara.Session] == "" || len(a.Refused) != 1 {
			t.Errorf("%+v", a)
		}
		r.waiting(obs.Session)
	})
}

// A disk that is full, or a registry that is, keeps one stranger from its stream, and not the
// node from the answer: who was revoked would stay connected. The log has it once.
func TestAStrangerWithoutRoomKeepsNoAnswerBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.person("sara", false)
		r.person("omar", false)
		sara, omar, obs := sender(live.RTMP, "sara", "rtmp/sara/1"), sender(live.RTMP, "omar", "rtmp/omar/2"), sender(live.RTMP, "obs", "rtmp/obs/3")
		r.arrives(sara)
		id := r.arrives(omar)
		r.mu.Lock()
		r.people["sara"] = live.Admission{Code: "revoked", Detail: "This key was revoked.", Publisher: live.Presenter{ID: "sara"}}
		r.mu.Unlock()
		r.disk.fill(station.ErrUnavailable)
		for range 3 {
			if a := r.roll(live.RTMP, sara, omar, obs); a.Refused[sara.Session] == "" || a.Streams[omar.Session] != id || len(a.Refused)+len(a.Streams) != 2 {
				t.Errorf("%+v", a)
			}
		}
		if n := r.lines.Count("cannot take in an encoder"); n != 1 {
			t.Errorf("%d lines", n)
		}
		r.disk.fill(nil)
		if a := r.roll(live.RTMP, omar, obs); a.Streams[obs.Session] == "" {
			t.Errorf("there is room, and %+v", a)
		}
	})
}

func TestRollsAreChecked(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		many := make([]live.Arrival, live.MostSenders+1)
		for _, bad := range []live.Roll{
			{Protocol: live.WHIP}, {Protocol: live.Internal}, {},
			{Protocol: live.RTMP, Senders: []live.Arrival{sender(live.RTMP, "a", "")}},
			{Protocol: live.RTMP, Senders: []live.Arrival{sender(live.Icecast, "a", "s")}},
			{Protocol: live.Icecast, Senders: many},
		} {
			if _, err := r.Roll(t.Context(), bad); !errors.Is(err, station.ErrInvalid) {
				t.Errorf("%+v: %v", bad.Protocol, err)
			}
		}
	})
}
