package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// guarded is what /api/status says of the dead-air guard.
type guarded struct {
	State     string
	Kind      string
	LastAlarm *alarm
}

type alarm struct {
	Kind, Cause                   string
	Began, Raised, Heard, Cleared int64
	Steps                         []string
}

func (s *station) guard() (out guarded, err error) {
	body, err := s.getAs("control", "/api/status", s.key())
	if err != nil {
		return out, err
	}
	var all struct{ Guard guarded }
	err = json.Unmarshal(body, &all)
	return all.Guard, err
}

// listener records a stream on one connection, and must never lose it.
type listener struct {
	name  string
	rec   *aircheck.Recorder
	ended chan error
}

func listen(t *testing.T, name, url string) *listener {
	l := &listener{name, aircheck.NewRecorder(url), make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := l.rec.Run(ctx)
		if ctx.Err() == nil {
			l.ended <- fmt.Errorf("%s let its listener go: %w", name, cmp.Or(err, io.EOF))
		}
		close(l.ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		if t.Failed() {
			if dir := os.Getenv("AIRCHECK_DIR"); dir != "" {
				_ = l.rec.PCM().WriteFile(filepath.Join(dir, name+".wav"))
			}
		}
	})
	return l
}

// calm waits until the guard has nothing to do.
func (s *station) calm(what string) {
	s.t.Helper()
	s.eventually("the guard is calm "+what, func() bool {
		g, err := s.guard()
		return err == nil && g.State == "watching" && (g.LastAlarm == nil || g.LastAlarm.Cleared > 0)
	})
}

// An engine that hangs is noticed, restarted and heard again, and that is told
// and kept. Listeners of /stream and of HLS stay connected, and those of Icecast
// itself unless the guard restarts that too: on a busy machine it may.
func TestDeadAirIsNoticedAndMended(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys, steady, withGuard).start()
	s.whole()
	s.hlsReady()
	s.standbyReady()
	s.calm("at the start")
	icecast, stream := listen(t, "icecast", s.url("icecast", "/main")), listen(t, "stream", s.url("control", "/stream"))
	hls := newHLS(s)
	for _, l := range []*listener{icecast, stream} {
		s.eventually(l.name+" is heard", func() bool { return l.rec.PCM().Duration() > time.Second })
	}
	before, err := hls.playlist()
	if err != nil {
		t.Fatal(err)
	}
	server := s.running("icecast")
	hung, at := s.wedge()
	s.eventually("another engine", func() bool {
		p, err := s.process("liquidsoap")
		return err == nil && p.PID != hung
	})
	var done alarm
	s.eventually("an alarm with the engine's restart, cleared and kept", func() bool {
		kept := s.alarms()
		i := slices.IndexFunc(kept, func(a alarm) bool {
			return a.Cleared >= at.UnixMilli() && slices.Contains(a.Steps, "restart_engine")
		})
		if i >= 0 {
			done = kept[i]
		}
		return i >= 0
	})
	t.Logf("DEAD AIR %+v", done)
	s.whole()
	ear := s.listen()
	s.eventually("what the station says is on air is what is heard", func() bool { return s.agrees(ear, aircheck.Coarse) })
	stream.goesOn(s)
	if now, err := s.process("icecast"); err == nil && now.PID == server.PID {
		icecast.goesOn(s)
	}
	s.eventually("a new HLS segment for the connected listener", func() bool {
		now, err := hls.playlist()
		return err == nil && now != before
	})
	metrics, err := s.get("control", "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`athir_dead_air_total{kind="` + done.Kind + `"} [1-9]`, `athir_guard_steps_total{step="restart_engine"} [1-9]`} {
		if !regexp.MustCompile(want).Match(metrics) {
			t.Errorf("metrics have no %s", want)
		}
	}
	if s.logged("dead-air guard: alarm") == 0 || s.logged("dead-air guard: cleared") == 0 {
		t.Error("the log does not tell of the alarm")
	}
}

// standbyReady waits until Icecast has the standby audio: before that, its
// listeners go with the engine.
func (s *station) standbyReady() {
	s.t.Helper()
	if _, err := firstAudio(s.t.Context(), s.url("icecast", "/main-standby"), s.began); err != nil {
		s.t.Fatal("standby audio:", err)
	}
}

// goesOn waits until the listener has heard more, on the same connection.
func (l *listener) goesOn(s *station) {
	s.t.Helper()
	heard := l.rec.PCM().Duration()
	s.eventually(l.name+" goes on for its listener", func() bool {
		select {
		case err := <-l.ended:
			s.t.Fatal(err)
		default:
		}
		return l.rec.PCM().Duration() > heard+time.Second
	})
}

// alarms are those the guard keeps, the newest first.
func (s *station) alarms() []alarm {
	var kept struct{ Alarms []alarm }
	_, text := s.call("GET", "control", "/api/station/guard", testStationKey, "")
	_ = json.Unmarshal([]byte(text), &kept) // not an answer: no alarms
	return kept.Alarms
}

// wedge stops the engine and returns its process id.
func (s *station) wedge() (pid int, at time.Time) {
	s.t.Helper()
	p := s.running("liquidsoap")
	at = time.Now()
	if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	return p.PID, at
}
