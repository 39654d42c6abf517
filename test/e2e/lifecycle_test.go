package e2e

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Seconds from `athir run` to the first second of music, on a first start and
// on a later one. Printed, not asserted: machines differ.
func TestSecondsToTheFirstMusic(t *testing.T) {
	s := newStation(t, rules(shortRules))
	fill(t, s.media, decks)
	before := 0
	for _, start := range []string{"first start", "second start"} {
		before = s.logged("emergency")
		s.launch()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		icecast, err := firstAudio(ctx, s.url("icecast", "/main"), s.began)
		if err != nil {
			t.Fatalf("%s: %v\n%s", start, err, s.tail(80))
		}
		s.eventually("music, not the emergency audio", time.Minute, func() bool { st, err := s.status(); return err == nil && st.State == "music" })
		hls, err := firstAudio(ctx, s.url("player", "/hls/main/index.m3u8"), s.began)
		cancel()
		if err != nil {
			t.Fatalf("%s: HLS: %v\n%s", start, err, s.tail(80))
		}
		t.Logf("STARTUP %s: first second of music on Icecast after %.2f s, on HLS after %.2f s", start, icecast.Seconds(), hls.Seconds())
		s.stop()
	}
	// A first start may need it while a slow machine still looks at the library.
	if s.logged("emergency") > before {
		t.Errorf("the emergency audio was heard at a start with a rotation in place:\n%s", s.tail(100))
	}
}

// A station whose supervisor is killed leaves no process behind, and the next
// start goes on from what was committed.
func TestKilledStationLeavesNoOrphanAndGoesOn(t *testing.T) {
	t.Parallel()
	s := newStation(t, rules(shortRules))
	fill(t, s.media, decks)
	s.start().whole()
	s.eventually("some plays", time.Minute, func() bool { st, err := s.status(); return err == nil && len(st.History) >= 2 })
	before, err := s.status()
	if err != nil {
		t.Fatal(err)
	}
	tree := s.tree()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	s.gone(tree)

	s.launch()
	s.whole()
	after, err := s.status()
	if err != nil {
		t.Fatal(err)
	}
	had, heard := map[string]bool{}, map[string]bool{after.NowPlaying.File: true}
	for _, h := range after.History {
		if heard[h.File] {
			t.Errorf("%s was heard twice around the restart", h.File)
		}
		heard[h.File] = true
		had[h.File+strconv.FormatInt(h.StartedAt, 10)] = true
	}
	for _, h := range before.History[:min(4, len(before.History))] {
		if !had[h.File+strconv.FormatInt(h.StartedAt, 10)] {
			t.Errorf("a play that was answered is gone: %+v", h)
		}
	}
}

// Two stations on one machine, each on its own ports and data directory.
func TestTwoStationsSideBySide(t *testing.T) {
	t.Parallel()
	one, two := newStation(t, rules(shortRules)), newStation(t, rules(shortRules))
	fill(t, one.media, decks[:2])
	fill(t, two.media, decks[:2])
	one.start()
	two.start()
	one.whole()
	two.whole()
	one.alone(t)
	two.alone(t)
	one.stop()
	if st, err := two.status(); err != nil || st.State != "music" {
		t.Errorf("the second station after the end of the first: %+v, %v", st.State, err)
	}
	two.alone(t)
}

// An empty library airs the emergency audio and says why; the first file that
// comes is taken on air without a restart.
func TestEmptyLibrarySaysSoAndFillsUp(t *testing.T) {
	t.Parallel()
	s := newStation(t, rules(shortRules)).start()
	s.onAir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := firstAudio(ctx, s.url("icecast", "/main"), s.began); err != nil {
		t.Fatal("no emergency audio:", err)
	}
	s.eventually("the emergency audio and its reason in the status", time.Minute, func() bool {
		st, err := s.status()
		return err == nil && st.State == "emergency" && st.Reason == "empty_library" && st.OnAir
	})
	write(t, filepath.Join(s.media, "music/arabic_hits/broken.mp3"), "this is no music")
	fill(t, s.media, decks[:1])
	s.eventually("music once there is some", time.Minute, func() bool {
		st, err := s.status()
		return err == nil && st.State == "music" && st.Reason == "" && st.Library.Tracks == 10 && st.Library.Quarantined == 1
	})
}

// runOnce runs a command that must fail before anything starts.
func runOnce(t *testing.T, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("%v succeeded", args)
	}
	return string(out)
}

func TestBadInputIsNamedWithItsRemedy(t *testing.T) {
	s := newStation(t)
	busy, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(s.ports["hls"]))
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close() //nolint:errcheck // a test
	file := filepath.Join(t.TempDir(), "a file")
	write(t, file, "x")
	empty := t.TempDir() // a PATH without any program
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want []string
	}{
		{"busy port", s.env, []string{"run", "--data", s.data, "--media", s.media},
			[]string{"ports.hls", "is taken by e2e.test (process " + strconv.Itoa(os.Getpid()) + ")", "ATHIR_PORTS_HLS"}},
		{"missing programs", append([]string{"PATH=" + empty}, s.env...), []string{"run", "--data", s.data, "--media", s.media},
			[]string{`program "liquidsoap" is not installed: run 'apt-get install liquidsoap'`, `program "ffmpeg" is not installed`}},
		{"media is a file", s.env, []string{"run", "--data", s.data, "--media", file}, []string{"media:", "--media"}},
		{"data is a file", s.env, []string{"run", "--data", file}, []string{"data directory", "--data"}},
		{"setting", append([]string{"ATHIR_LANGUAGE=fr"}, s.env...), []string{"run", "--data", s.data}, []string{`language: "fr" is not known: use ar or en`}},
		{"command", nil, []string{"rum"}, []string{"rum", "athir --help"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := runOnce(t, c.env, c.args...)
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing in:\n%s", want, out)
				}
			}
		})
	}
}

func TestSecondStationOnOneDataDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	s.start()
	s.eventually("the lock", time.Minute, func() bool { return len(s.tree()) > 1 })
	out := runOnce(t, s.env, "run", "--data", s.data)
	if !strings.Contains(out, "is in use by process "+strconv.Itoa(s.cmd.Process.Pid)) {
		t.Errorf("got:\n%s", out)
	}
}

func TestScanReportsAndQuarantines(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	fill(t, s.media, decks[5:6])
	write(t, filepath.Join(s.media, "ads/broken.mp3"), "no audio here")
	scan := func() (r struct {
		Files, Added, Tracks int
		Quarantined          []struct{ Path, Reason string }
	}) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), binary, "scan", "--json", "--data", s.data, "--media", s.media)
		cmd.Env = append(os.Environ(), s.env...)
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &r)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return r
	}
	if r := scan(); r.Files != 4 || r.Added != 3 || r.Tracks != 3 || len(r.Quarantined) != 1 || r.Quarantined[0].Path != "ads/broken.mp3" {
		t.Errorf("first scan: %+v", r)
	}
	if r := scan(); r.Added != 0 || r.Tracks != 3 {
		t.Errorf("second scan: %+v", r)
	}
}

// The control plane is killed at the moment a push begins, again and again:
// the air goes on, no marker is lost, and the list in place is always whole.
func TestControlKilledInTheMiddleOfAPush(t *testing.T) {
	t.Parallel()
	s := newStation(t, rules(shortRules))
	fill(t, s.media, decks)
	s.start().whole()
	engine, err := s.process("liquidsoap")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		// A restart of the control plane always rebuilds: the next push is near.
		events := watchDir(t, filepath.Join(s.data, "node"))
		old := s.kill("control")
		var now process
		s.eventually("the next control plane", time.Minute, func() bool {
			for _, pid := range pidsOf(s.data, "control") {
				if pid != old {
					now.PID = pid
				}
			}
			return now.PID != 0
		})
		select {
		case <-events: // the journal or the list itself is being written
		case <-time.After(30 * time.Second):
			t.Fatal("no push after a restart")
		}
		_ = syscall.Kill(now.PID, syscall.SIGKILL)
		s.eventually("music after the kill", time.Minute, func() bool {
			st, err := s.status()
			return err == nil && st.State == "music" && st.Rotation.Length == 120
		})
		t.Logf("push %d: killed process %d in the middle of it", i, now.PID)
	}
	s.whole()
	if now, err := s.process("liquidsoap"); err != nil || now.PID != engine.PID {
		t.Errorf("the playout engine did not live through it: %+v, %v", now, err)
	}
	after, err := s.status()
	if err != nil {
		t.Fatal(err)
	}
	heard := map[string]bool{after.NowPlaying.File: true}
	for _, h := range after.History {
		if heard[h.File] {
			t.Errorf("%s was heard twice around the kills", h.File)
		}
		heard[h.File] = true
	}
	planned, _ := s.schedule()
	if len(planned) != 120 {
		t.Errorf("rotation of %d entries", len(planned))
	}
}
