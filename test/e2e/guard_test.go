package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// guarded is what /api/status says of the dead-air guard.
type guarded struct {
	State     string
	Kind      string
	LastAlarm *struct {
		Kind, Cause                   string
		Began, Raised, Heard, Cleared int64
		Steps                         []string
	}
}

func (s *station) guard() (out guarded, err error) {
	body, err := s.get("control", "/api/status")
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
			l.ended <- fmt.Errorf("%s let its listener go: %w", name, err)
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
// and kept; listeners of Icecast, of /stream and of HLS stay connected.
func TestDeadAirIsNoticedAndMended(t *testing.T) {
	s := torment(t)
	s.calm("at the start")
	ears := []*listener{listen(t, "icecast", s.url("icecast", "/main")), listen(t, "stream", s.url("control", "/stream"))}
	hls := newHLS(s)
	s.eventually("listeners", func() bool {
		return !slices.ContainsFunc(ears, func(l *listener) bool { return l.rec.PCM().Duration() < time.Second })
	})
	before, err := hls.playlist()
	if err != nil {
		t.Fatal(err)
	}
	hung, err := s.process("liquidsoap")
	if err != nil {
		t.Fatal(err)
	}
	at := s.wedge()
	s.eventually("the alarm and its end", func() bool {
		g, err := s.guard()
		return err == nil && g.LastAlarm != nil && g.LastAlarm.Raised >= at.UnixMilli() && g.LastAlarm.Cleared > 0
	})
	g, err := s.guard()
	if err != nil {
		t.Fatal(err)
	}
	if g.LastAlarm.Kind != "gone" || !slices.Contains(g.LastAlarm.Steps, "restart_engine") {
		t.Errorf("the alarm: %+v", g.LastAlarm)
	}
	if now, err := s.process("liquidsoap"); err != nil || now.PID == hung.PID {
		t.Errorf("the engine that hung: %+v, %v", now, err)
	}
	s.whole()
	if slices.Contains(g.LastAlarm.Steps, "restart_server") {
		ears = ears[1:] // whoever listened at Icecast itself went with it
	}
	for _, l := range ears {
		heard := l.rec.PCM().Duration()
		s.eventually(l.name+" goes on for its listener", func() bool { return l.rec.PCM().Duration() > heard+3*time.Second })
		select {
		case err := <-l.ended:
			t.Error(err)
		default:
		}
	}
	ear := s.listen()
	s.eventually("what the station says is on air is what is heard", func() bool { return s.agrees(ear, aircheck.Coarse) })
	s.eventually("a new HLS segment for the connected listener", func() bool {
		now, err := hls.playlist()
		return err == nil && now != before
	})
	metrics, err := s.get("control", "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`athir_dead_air_total{kind="gone"} [1-9]`, `athir_guard_steps_total{step="restart_engine"} [1-9]`} {
		if !regexp.MustCompile(want).Match(metrics) {
			t.Errorf("metrics have no %s", want)
		}
	}
	code, text := s.call("GET", "control", "/api/station/guard", testStationKey, "")
	if code != http.StatusOK || !strings.Contains(text, `"gone"`) || s.logged("dead-air guard: cleared") == 0 {
		t.Errorf("the alarm is not kept: %d %.500s", code, text)
	}
}

func (s *station) wedge() time.Time {
	s.t.Helper()
	p, err := s.process("liquidsoap")
	if err != nil {
		s.t.Fatal(err)
	}
	at := time.Now()
	if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	return at
}
