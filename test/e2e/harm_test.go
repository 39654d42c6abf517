package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// pids are the processes of the programs that listeners hear the station through.
func (s *station) pids(names ...string) (out []int) {
	s.t.Helper()
	for _, name := range names {
		out = append(out, s.running(name).PID)
	}
	return out
}

// A playlist file that is deleted is put back. No program is restarted for it, and the
// song on air is heard to its end.
func TestADeletedPlaylistIsPutBack(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys, steady, withGuard).start()
	s.whole()
	s.calm("at the start")
	before := s.pids("liquidsoap", "icecast", "control")
	ear := s.listen()
	list := filepath.Join(s.data, "node", "main.m3u")
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	s.eventually("the list is back", func() bool {
		_, err := os.Stat(list)
		return err == nil
	})
	s.calm("after the list is back")
	if after := s.pids("liquidsoap", "icecast", "control"); !slices.Equal(after, before) {
		t.Errorf("processes %v became %v", before, after)
	}
	s.eventually("the station says what is heard", func() bool { return s.agrees(ear, aircheck.Coarse) })
	ear.stop()
	if report := aircheck.Coarse.Analyse(ear.PCM()); report.Gap.Length() > 200*time.Millisecond {
		t.Errorf("a gap of %s", report.Gap.Length())
	}
}

// A control plane that is stopped is replaced by the node, and the air does not notice.
func TestAFrozenControlPlaneIsReplaced(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys, steady, withGuard).start()
	s.whole()
	s.calm("at the start")
	air, control := s.pids("liquidsoap", "icecast"), s.pids("control")[0]
	listener := listen(t, "icecast", s.url("icecast", "/main"))
	s.eventually("the listener hears", func() bool { return listener.rec.PCM().Duration() > time.Second })
	at := time.Now()
	if err := syscall.Kill(control, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.eventually("another control plane answers", func() bool {
		p, err := s.process("control")
		return err == nil && p.PID != control && p.State == "running"
	})
	t.Logf("FROZEN CONTROL PLANE replaced after %.1f s (target 15)", time.Since(at).Seconds())
	listener.goesOn(s)
	if after := s.pids("liquidsoap", "icecast"); !slices.Equal(after, air) {
		t.Errorf("processes %v became %v", air, after)
	}
}
