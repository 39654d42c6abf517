package desk_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk"
	"github.com/athir-radio/athir/internal/live/desk/bus"
	"github.com/athir-radio/athir/internal/live/record"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/sound/rider"
)

// What the station fills in.
var (
	_ bus.Rider    = (*rider.Rider)(nil)
	_ desk.Control = wire.Control{}
	_ interface {
		Write(pcm []byte)
		End(why string)
		Current() *live.RecordingReport
	} = (*record.Recorder)(nil)
)

func src(id, url string) live.Source { return live.Source{ID: id, URL: url} }

// An encoder comes, is ordered, is heard, and leaves nothing behind once it is stopped.
func TestAnEncoderTakesTheAirAndGivesItBack(t *testing.T) {
	r := newRig(t)
	pid := r.encoder(440, "/sara")
	r.state("LIVEsara", live.Ready)
	sara := src("LIVEsara", "source:/sara")
	r.order(&sara)
	r.state("LIVEsara", live.OnAir)
	r.engine.hears(t, "/channel_live", 440)
	if rep := r.Report(); rep.Air != "LIVEsara" || !rep.Harbor || rep.Counters.Broadcasts != 1 {
		t.Errorf("%+v", rep)
	}
	r.order(nil)
	testkit.Eventually(t, "the harbor free", func() bool { _, open := r.engine.state(); return open == 0 })
	if rep := r.Report(); rep.Air != "" || rep.Harbor || rep.Ended.Failed || rep.Ended.Why != "stopped by the studio" {
		t.Errorf("%+v", rep)
	}
	if ms, filled := longestSilence(r.engine.audio(t, "/channel_live")), r.Report().Counters.FilledMS; ms > float64(filled)+30 {
		t.Errorf("%.0f ms of silence, %d filled", ms, filled)
	}
	if r.engine.login != "sesame" || r.engine.kind != "audio/MPA" {
		t.Errorf("login %q, type %q", r.engine.login, r.engine.kind)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	testkit.Eventually(t, "the control plane told that it left", func() bool { return r.control.partings() == 1 })
	r.stop()
	if acts := strings.Join(r.recorder.acts, ", "); acts != "begin LIVEsara by Sara, end stopped by the studio" {
		t.Errorf("recorded: %s", acts)
	}
}

// Both ways for an encoder to fail: killed, and frozen.
func TestFailoverIsHeardWithoutABreak(t *testing.T) {
	for _, fault := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		t.Run(fault.String(), func(t *testing.T) {
			r := newRig(t)
			first := r.encoder(440, "/a")
			r.encoder(880, "/b")
			r.state("LIVEa", live.Ready)
			r.state("LIVEb", live.Ready)
			a, b := src("LIVEa", "source:/a"), src("LIVEb", "source:/b")
			r.order(&a, b)
			r.state("LIVEa", live.OnAir)
			testkit.Eventually(t, "two seconds of A", func() bool { return r.engine.seconds("/channel_live") > 2 })
			if err := syscall.Kill(first, fault); err != nil {
				t.Fatal(err)
			}
			r.state("LIVEb", live.OnAir)
			r.engine.hears(t, "/channel_live", 880)
			if takes, open := r.engine.state(); takes != 1 || open != 1 {
				t.Errorf("%d connections, %d open", takes, open)
			}
			pcm := r.engine.audio(t, "/channel_live")
			// On a quiet machine it is 0 to 20 ms, and the bus's own tests hold it to 100; here
			// no more is allowed than the desk says that it has filled.
			ms, filled := longestSilence(pcm), r.Report().Counters.FilledMS
			t.Logf("%.0f ms of silence, %d filled in all", ms, filled)
			if ms > float64(filled)+30 {
				t.Errorf("%.0f ms of silence, %d filled", ms, filled)
			}
			if rep := r.Report(); rep.Ended == nil || rep.Ended.ID != "LIVEa" || rep.Ended.Next != "LIVEb" || !rep.Ended.Failed {
				t.Errorf("%+v", rep.Ended)
			}
		})
	}
}

// A killed encoder of ours, and an engine that is away for a moment.
func TestWhatBreaksOnTheWayIsMadeAnew(t *testing.T) {
	r := newRig(t)
	r.encoder(440, "/a")
	r.state("LIVEa", live.Ready)
	a := src("LIVEa", "source:/a")
	r.order(&a)
	r.state("LIVEa", live.OnAir)
	testkit.Eventually(t, "a second", func() bool { return r.engine.seconds("/channel_live") > 1 })
	pid := testkit.Receive(t, "an encoder", r.encoders)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testkit.Receive(t, "another encoder", r.encoders)
	at := r.engine.seconds("/channel_live")
	testkit.Eventually(t, "more", func() bool { return r.engine.seconds("/channel_live") > at+1 })
	r.engine.hears(t, "/channel_live", 440)
	if takes, open := r.engine.state(); takes != 1 || open != 1 {
		t.Errorf("%d connections, %d open", takes, open)
	}
	r.engine.cut()
	testkit.Eventually(t, "a new connection", func() bool { takes, open := r.engine.state(); return takes == 2 && open == 1 })
	at = r.engine.seconds("/channel_live")
	testkit.Eventually(t, "more", func() bool { return r.engine.seconds("/channel_live") > at+1 })
	r.engine.hears(t, "/channel_live", 440)
	if n := r.Report().Counters.HarborBreaks; n != 2 {
		t.Errorf("%d breaks counted", n)
	}
}

func TestTalkOverHasItsOwnMount(t *testing.T) {
	r := newRig(t)
	r.encoder(440, "/a")
	r.state("LIVEa", live.Ready)
	a := src("LIVEa", "source:/a")
	r.Order(live.Order{Epoch: "one", Number: 1, Air: &a, Mode: live.Over})
	testkit.Eventually(t, "a second over the rotation", func() bool { return r.engine.seconds("/channel_over") > 1 })
	r.Order(live.Order{Epoch: "one", Number: 2, Air: &a, Mode: live.Replace})
	testkit.Eventually(t, "a second instead of it", func() bool { return r.engine.seconds("/channel_live") > 1 })
	testkit.Eventually(t, "one mount left", func() bool { _, open := r.engine.state(); return open == 1 })
}

// The engine is told who is on the air, in any script: at the beginning, when another
// follows, when an encoder says so, and again after its connection was made anew. A
// talk-over leaves the rotation's titles alone.
func TestTheEngineIsToldWhoIsOnTheAir(t *testing.T) {
	r := newRig(t)
	r.encoder(440, "/a")
	r.encoder(880, "/b")
	r.state("LIVEa", live.Ready)
	r.state("LIVEb", live.Ready)
	a, b := src("LIVEa", "source:/a"), src("LIVEb", "source:/b")
	const sara = "/channel_live: Evening by Sara"
	r.Order(live.Order{Epoch: "one", Number: 1, Air: &b, Mode: live.Over})
	testkit.Eventually(t, "a talk-over", func() bool { return r.engine.seconds("/channel_over") > 1 })
	r.number = 1
	r.order(nil)
	testkit.Eventually(t, "its end", func() bool { _, open := r.engine.state(); return open == 0 })
	r.order(&a, b)
	r.told(sara)
	r.engine.cut()
	r.told(sara, sara)
	r.says("/a", "سهرة & طرب", "فيروز")
	r.told(sara, sara, "/channel_live: سهرة & طرب by فيروز")
	if acts := r.recorder.done(); acts[len(acts)-1] != "titled سهرة & طرب by فيروز" {
		t.Errorf("the recorder was told %q", acts)
	}
	r.order(&b)
	r.told(sara, sara, "/channel_live: سهرة & طرب by فيروز", sara)
}

// The station's own password belongs to no account. What comes to the studio's mount is its
// microphone, which takes the air; elsewhere it is an encoder, which waits.
func TestTheStationsOwnPasswordIsNoAccount(t *testing.T) {
	r := newRig(t)
	for _, mount := range []string{"/studio", "/relay"} {
		r.program("-v", "error", "-re", "-f", "lavfi", "-i", "sine=440", "-c:a", "libmp3lame", "-content_type", "audio/mpeg", "-f", "mp3", "icecast://source:studio@"+r.address+mount)
	}
	testkit.Eventually(t, "two arrivals", func() bool { return r.control.arrivals() == 2 })
	r.control.mu.Lock()
	defer r.control.mu.Unlock()
	want := map[string]live.Protocol{"source:/studio": live.Internal, "source:/relay": live.Icecast}
	for _, a := range r.control.arrived {
		if a.Publisher != "" || a.Protocol != want[a.URL] {
			t.Errorf("%+v", a)
		}
	}
	if len(r.control.asked) > 0 {
		t.Errorf("the control plane was asked about %+v", r.control.asked)
	}
}

// While the control plane does not hear, an encoder goes and comes again: the mount is free
// at once, and then both are told, in their order.
func TestAnEncodersEndIsToldBeforeTheNextBegins(t *testing.T) {
	r := newRig(t)
	first := r.encoder(440, "/sara")
	testkit.Eventually(t, "the first told", func() bool { return r.control.arrivals() == 1 })
	r.control.hear(false)
	_ = syscall.Kill(first, syscall.SIGKILL)
	testkit.Eventually(t, "its end told in vain", func() bool { return r.log.Count("cannot tell the control plane that an encoder left") > 0 })
	r.encoder(880, "/sara")
	testkit.Eventually(t, "the second taken", func() bool { return r.log.Count("encoder connected") == 2 })
	r.control.hear(true)
	testkit.Eventually(t, "the second told", func() bool { return r.control.arrivals() == 2 })
	r.control.mu.Lock()
	defer r.control.mu.Unlock()
	if o := r.control.order; o[1] != "left "+r.control.arrived[0].Session || o[2] != "arrived "+r.control.arrived[1].Session {
		t.Errorf("told: %s", o)
	}
}
