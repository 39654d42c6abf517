package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// Each program that carries a broadcast is killed with SIGKILL while one is on the air.
// What was live is live again, or the rotation is heard; nothing that was said before comes
// again; and the recordings have all of it, in order.
func TestProgramsKilledWhileLive(t *testing.T) {
	t.Parallel()
	s := liveStation(t)
	air := s.listenAgain()
	air.rotates(s, "the rotation before")
	phoneID, phoneKey := s.publisher("سارة", true)
	encoderID, encoderKey := s.publisher("نور", true)

	// The server of phones: the page connects again by itself.
	p := s.phone(phoneID+"."+phoneKey, freeTone)
	air.airs(s, "the phone is heard", freeTone)
	s.killedWhole("whip")
	p.vanish()
	p = s.phone(phoneID+"."+phoneKey, freeTone+1)
	s.onTheAir(air, "the phone is heard again", freeTone+1)
	s.eventually("one session, which holds the pipe, and one stream", func() bool {
		now, err := s.live()
		return err == nil && len(now.Sessions) == 1 && now.Sessions[0].Holds && len(now.Registry) == 1
	})
	s.onePipe()
	s.eventually("the phone of the killed server is given up", func() bool { return s.logged("live source left", "has lost it") > 0 })
	from := air.Position(time.Now())
	p.hangUp()
	air.rotates(s, "the rotation after the phone")
	s.soon(air, from, freeTone+1) // nobody waits for a phone of the killed server

	// The others, under an encoder that says where it is.
	count := s.counts(encoderID, encoderKey, "/nour")
	s.onTheAirSince(air, "the encoder is heard", count.said)
	before := count.said()
	s.killedWhole("desk")
	s.eventually("the encoder has lost its connection and connected again", func() bool { return count.said() > before })
	s.onTheAirSince(air, "the encoder is heard by way of the next desk", count.said)

	heard := air.last(aircheck.Fine)
	s.killedWhole("control")
	air.rotates(s, "the rotation after a restart of the control plane")
	s.onTheAirSince(air, "the encoder is heard again when the studio says so", func() int { return heard + 1 })

	for _, name := range []string{"liquidsoap", "icecast"} {
		heard := air.last(aircheck.Fine)
		s.killedWhole(name)
		s.onTheAirSince(air, "the encoder is heard after the end of "+name, func() int { return heard + 1 })
	}
	count.stop()
	air.rotates(s, "the rotation at last")
	s.whole()
	s.eventually("nothing is left of it", func() bool {
		now, err := s.live()
		return err == nil && now.Active == nil && now.Recording == nil && len(now.Sessions) == 0 && len(now.Registry) == 2
	})
	s.onePipe()
	s.recordedWhole(s.never(air))
}

// listenAgain is listen by somebody whose player connects again whenever the stream breaks.
func (s *station) listenAgain() *ear {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	e := &ear{Recorder: aircheck.NewRecorder(s.url("icecast", "/main")), t: s.t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_ = e.Run(ctx) // the stream is away, or not there yet
			time.Sleep(20 * time.Millisecond)
		}
	}()
	e.stop = func() { cancel(); <-done }
	s.t.Cleanup(e.stop)
	s.eventually("audio from Icecast", func() bool { return e.PCM().Duration() > time.Second })
	return e
}

// killedWhole kills a program, waits until the next one runs, and checks that nothing that
// the killed one had started lives on.
func (s *station) killedWhole(name string) {
	s.t.Helper()
	was := s.below(s.running(name).PID)
	old := s.kill(name)
	s.eventually(name+" runs again", func() bool {
		p, err := s.process(name)
		return err == nil && p.PID != old && p.State == "running"
	})
	if err := gone(was); err != nil {
		s.t.Errorf("after the end of %s: %v", name, err)
	}
}

// below are a process and all that it has started.
func (s *machine) below(pid int) (out []proc) {
	in := map[int]bool{pid: true}
	all := s.tree()
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if in[p.parent] && !in[p.pid] {
				in[p.pid], grown = true, true
			}
		}
	}
	for _, p := range all {
		if in[p.pid] {
			out = append(out, p)
		}
	}
	return out
}

const (
	// each is how long a counter says one tone, firstCount where it begins. The scale has some
	// seventy more: a counter that goes on for six minutes is beyond it, and is heard no more.
	each       = 5 * time.Second
	firstCount = freeTone + 5
)

// counter is an encoder that says a higher tone every five seconds, and connects again
// whenever it is cut off, with a tone that was not said before.
type counter struct {
	stop func()

	mu   sync.Mutex
	from int // tone that this connection began with
}

// said is the tone that the present connection began with.
func (c *counter) said() int { c.mu.Lock(); defer c.mu.Unlock(); return c.from }

// counts connects a counter to a mount of the live desk.
func (s *station) counts(user, secret, mount string) *counter {
	s.t.Helper()
	c := &counter{from: firstCount}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	step := aircheck.Fine.Frequency(1) - aircheck.Fine.Frequency(0)
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			first := aircheck.Fine.Frequency(c.said())
			cmd := sending(fmt.Sprintf("aevalsrc=0.25*sin(2*PI*t*(%g+%g*floor(t/%g))):s=48000", first, step, each.Seconds()), s.toMount(user, secret, mount)...)
			began := time.Now()
			if cmd.Start() == nil {
				end := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
				_ = cmd.Wait()
				end()
			}
			c.mu.Lock()
			if ran := time.Since(began); ran > time.Second { // else it was not let in
				c.from += int(ran/each) + 2
			}
			c.mu.Unlock()
			time.Sleep(100 * time.Millisecond)
		}
	}()
	c.stop = func() { cancel(); <-done }
	s.t.Cleanup(c.stop)
	return c
}

// onTheAirSince is onTheAir for a counter: it waits until a tone from one on has been heard
// whole.
func (s *station) onTheAirSince(e *ear, what string, first func() int) {
	s.t.Helper()
	s.eventually(what, func() bool {
		if tone := e.last(aircheck.Fine); tone > first()+1 {
			return true
		}
		if now, err := s.live(); err == nil && now.Active == nil {
			s.call(http.MethodPost, "control", "/api/station/live/start", testStationKey, "")
		}
		return false
	})
}

// soon checks that the rotation came in after a tone without the desk waiting for it.
func (s *station) soon(e *ear, from time.Duration, tone int) {
	s.t.Helper()
	all := e.PCM()
	report := aircheck.Fine.Analyse(all.Cut(from, all.Duration()))
	if gap := report.Gap.Length(); gap > patient {
		s.t.Errorf("%s of silence after tone %d:\n%s", gap, tone, report)
	}
}

// never checks that nothing which a counter said was heard again later, and returns the
// tones that were heard for long.
func (s *station) never(e *ear) (long []int) {
	s.t.Helper()
	report := aircheck.Fine.Analyse(e.PCM())
	last := 0
	of := map[int]time.Duration{}
	for _, seg := range report.Segments {
		if seg.ID < firstCount || seg.Length() < 300*time.Millisecond {
			continue
		}
		if seg.ID < last {
			s.t.Errorf("tone %d was heard again after tone %d:\n%s", seg.ID, last, report)
		}
		last = seg.ID
		of[seg.ID] += seg.Length() // a busy machine leaves holes
	}
	for tone, length := range of {
		if length > 2*time.Second { // what a recording may lack before a kill
			long = append(long, tone)
		}
	}
	if len(long) < 5 {
		s.t.Errorf("only %d tones were heard for long:\n%s", len(long), report)
	}
	slices.Sort(long)
	return long
}

// recordedWhole checks that the recordings can be played, that each holds a counter's
// tones in order and none left out, and that together they hold all of some tones.
func (s *station) recordedWhole(tones []int) {
	s.t.Helper()
	list, err := s.recordings()
	if err != nil {
		s.t.Error(err)
		return
	}
	var all strings.Builder
	held := map[int]bool{}
	for _, rec := range list {
		report := s.played(rec.Name)
		fmt.Fprintf(&all, "%+v\n%s\n", rec, report)
		last := 0
		for _, seg := range report.Segments {
			if seg.Length() < 300*time.Millisecond {
				continue
			}
			if seg.ID < freeTone || last != 0 && seg.ID != last && seg.ID != last+1 && seg.ID < firstCount {
				s.t.Errorf("recording %s holds tone %d:\n%s", rec.Name, seg.ID, report)
			}
			if last >= firstCount && (seg.ID < last || seg.ID > last+1) && rec.Problem == "" {
				s.t.Errorf("recording %s says it is whole, and jumps from tone %d to %d:\n%s", rec.Name, last, seg.ID, report)
			}
			if seg.ID < last {
				s.t.Errorf("recording %s goes back from tone %d to %d:\n%s", rec.Name, last, seg.ID, report)
			}
			last = seg.ID
			held[seg.ID] = true
		}
		if rec.Running || len(report.Segments) == 0 {
			s.t.Errorf("recording %+v, of %s", rec, report.Length)
		}
	}
	for _, tone := range tones {
		if !held[tone] {
			s.t.Errorf("tone %d was heard and is in none of the recordings:\n%s", tone, all.String())
		}
	}
}

// played decodes a recording of the station.
func (s *station) played(name string) aircheck.Report {
	s.t.Helper()
	audio, err := s.getAs("control", "/api/station/live/recordings/"+name, testStationKey)
	if err != nil {
		s.t.Error(err)
		return aircheck.Report{}
	}
	file := filepath.Join(s.t.TempDir(), "recording.mp3")
	if err := os.WriteFile(file, audio, 0o600); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	pcm, err := aircheck.Capture(ctx, file, 10*time.Minute)
	if err != nil {
		s.t.Errorf("recording %s cannot be played: %v", name, err)
	}
	return aircheck.Fine.Analyse(pcm)
}
