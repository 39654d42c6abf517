package desk_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
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
	testkit.Eventually(t, "three seconds at the engine", func() bool { return r.engine.seconds("/channel_live") > 3 })
	if rep := r.Report(); rep.Air != "LIVEsara" || !rep.Harbor || rep.Counters.Broadcasts != 1 {
		t.Errorf("%+v", rep)
	}
	r.order(nil)
	testkit.Eventually(t, "the harbor free", func() bool { _, open := r.engine.state(); return open == 0 })
	if rep := r.Report(); rep.Air != "" || rep.Harbor || rep.Ended.Failed || rep.Ended.Why != "stopped by the studio" {
		t.Errorf("%+v", rep)
	}
	pcm := r.engine.audio(t, "/channel_live")
	near(t, "pitch", pitch(pcm[24000:len(pcm)-24000]), 440, 3)
	if ms := longestSilence(pcm); ms > 1 {
		t.Errorf("%.0f ms of silence", ms)
	}
	if r.engine.login != "sesame" || r.engine.kind != "audio/MPA" {
		t.Errorf("login %q, type %q", r.engine.login, r.engine.kind)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	testkit.Eventually(t, "the control plane told that it left", func() bool { r.control.mu.Lock(); defer r.control.mu.Unlock(); return len(r.control.left) == 1 })
	if acts := strings.Join(r.recorder.acts, ", "); acts != "begin LIVEsara, end stopped by the studio" {
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
			at := r.engine.seconds("/channel_live")
			testkit.Eventually(t, "two seconds of B", func() bool { return r.engine.seconds("/channel_live") > at+2 })
			if takes, open := r.engine.state(); takes != 1 || open != 1 {
				t.Errorf("%d connections, %d open", takes, open)
			}
			pcm := r.engine.audio(t, "/channel_live")
			near(t, "pitch at the end", pitch(pcm[len(pcm)-48000:]), 880, 5)
			if ms := longestSilence(pcm); ms > 100 {
				t.Errorf("%.0f ms of silence", ms)
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
	testkit.Eventually(t, "more", func() bool { return r.engine.seconds("/channel_live") > at+2 })
	if takes, open := r.engine.state(); takes != 1 || open != 1 {
		t.Errorf("%d connections, %d open", takes, open)
	}
	r.engine.cut()
	testkit.Eventually(t, "a new connection", func() bool { takes, open := r.engine.state(); return takes == 2 && open == 1 })
	at = r.engine.seconds("/channel_live")
	testkit.Eventually(t, "more", func() bool { return r.engine.seconds("/channel_live") > at+2 })
	pcm := r.engine.audio(t, "/channel_live")
	near(t, "pitch at the end", pitch(pcm[len(pcm)-48000:]), 440, 5)
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
