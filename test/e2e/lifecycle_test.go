package e2e

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/test/aircheck"
)

// A station whose supervisor is killed leaves no process behind, and the next
// start goes on from what was committed.
func TestKilledStationLeavesNoOrphanAndGoesOn(t *testing.T) {
	s := torment(t)
	began := time.Now()
	s.eventually("some plays", func() bool { st, err := s.status(); return err == nil && len(st.History) >= 2 })
	before, onAir := s.plays(), s.logged("on air", "/main")
	tree := s.tree()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	if err := gone(tree); err != nil {
		t.Error(err)
	}

	s.launch()
	s.eventually("on air again", func() bool { return s.logged("on air", "/main") > onAir })
	s.whole()
	s.airs(3)
	s.nothingTwice(began)
	if after := s.plays(); !slices.Equal(before, after[:min(len(before), len(after))]) {
		t.Errorf("plays that were logged are gone: %+v, now %+v", before, after)
	}
}

// Two stations on one machine, each on its own ports and data directory.
func TestTwoStationsSideBySide(t *testing.T) {
	two := look(t)
	one := newStation(t, rules(shortRules))
	fill(t, one.media, decks[:2])
	one.start().whole()
	one.alone(t)
	two.alone(t)
	one.stop()
	two.eventually("the second station on air after the end of the first", func() bool { st, err := two.status(); return err == nil && st.State == "music" })
	two.alone(t)
}

// An empty library airs the emergency audio and says why; the first file that
// comes is taken on air without a restart.
func TestEmptyLibrarySaysSoAndFillsUp(t *testing.T) {
	t.Parallel()
	s := newStation(t, rules(shortRules)).start()
	s.onAir()
	if _, err := firstAudio(t.Context(), s.url("icecast", "/main"), s.began); err != nil {
		t.Fatal("no emergency audio:", err)
	}
	s.eventually("the emergency audio and its reason in the status", func() bool {
		st, err := s.status()
		return err == nil && st.State == "emergency" && st.Reason == "empty_library" && st.OnAir
	})
	write(t, filepath.Join(s.media, "music/arabic_hits/broken.mp3"), "this is no music")
	fill(t, s.media, decks[:1])
	s.eventually("music once there is some", func() bool {
		st, err := s.status()
		return err == nil && st.State == "music" && st.Reason == "" && st.Library.Tracks == 10 && st.Library.Quarantined == 1
	})
}

// runOnce runs a command that must fail before anything starts.
func runOnce(t *testing.T, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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
	t.Parallel()
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
	s := look(t)
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

// The control plane is killed at the moment a push begins, of an order and of a
// restart: the air goes on, the list in place is whole, nothing is heard twice,
// and what an operator and a listener were answered is kept.
func TestControlKilledInTheMiddleOfAPush(t *testing.T) {
	s := torment(t)
	began := time.Now()
	engine := s.running("liquidsoap")
	knob := func() string {
		_, text := s.call("GET", "control", "/api/station/config", testStationKey, "")
		return text
	}
	const changed = `"TITLE_GAP_MS":1234,`
	if code, text := s.operate("PUT", "/api/station/rotation", `{"TITLE_GAP_MS":1234}`); code != http.StatusOK {
		t.Fatalf("a change: %d %.200s", code, text)
	}
	if code, text := s.operate("POST", "/api/station/config/save", ""); code != http.StatusOK {
		t.Fatalf("save: %d %.200s", code, text)
	}
	voted := s.vote()
	ear := s.listen()
	s.eventually("something is heard", func() bool { return ear.last(aircheck.Coarse) >= 0 })
	before := len(s.plays())

	for _, push := range []string{"an order", "a restart"} {
		events := watchDir(t, filepath.Join(s.data, "node"))
		old := s.running("control")
		dying := old.PID
		if push == "an order" {
			go func() { // until the kill: the engine may be late, and a song that ends by itself needs no push
				for _, err := s.skip(); err == nil; {
					_, err = s.skip()
				}
			}()
		} else {
			s.kill("control") // the next one always rebuilds
			s.eventually("the next control plane", func() bool {
				pids := pidsOf(s.data, "control")
				dying = slices.Max(append(pids, 0))
				return len(pids) == 1 && dying != old.PID
			})
		}
		testkit.Receive(t, "a push of "+push, events) // the journal or the list itself is being written
		if err := syscall.Kill(dying, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		s.listInPlace()
		s.eventually("the next control plane answers after the push of "+push, func() bool {
			p, err := s.process("control")
			return err == nil && p.PID != dying && p.PID != old.PID
		})
		s.whole()
		s.listInPlace()
		s.nothingTwice(began)
		s.eventually("what the station says is on air is what is heard", func() bool { return s.agrees(ear, aircheck.Coarse) })
	}
	if now := s.running("liquidsoap"); now.PID != engine.PID {
		t.Errorf("the playout engine did not live through it: %+v", now)
	}
	aired := slices.ContainsFunc(s.plays()[before:], func(p played) bool { return p.tone == toneOf(voted) })
	// The API tells the votes on the queue, and the newest list need not hold the file.
	if votes := s.keptVotes(voted); votes != 1 && !aired {
		t.Errorf("the vote is lost: %d are kept", votes)
	}
	if text := knob(); !strings.Contains(text, changed) {
		t.Errorf("the change is lost: %.500s", text)
	}
}

// nothingTwice fails where something was heard twice within the last eight entries
// since a moment: what others did to a shared station before is theirs to judge. A list
// that begins anew repeats what has just been heard; of the few songs of a test a plan
// that was made anew may have one again after nine others.
func (s *station) nothingTwice(since time.Time) {
	s.t.Helper()
	st, err := s.status()
	if err != nil {
		s.t.Fatal(err)
	}
	heard := map[string]bool{st.NowPlaying.File: true}
	for _, h := range st.History[:min(7, len(st.History))] {
		if h.StartedAt < since.UnixMilli() {
			continue
		}
		if heard[h.File] {
			s.t.Errorf("%s was heard twice", h.File)
		}
		heard[h.File] = true
	}
}

// listInPlace fails where the playlist that is in place is not whole.
func (s *station) listInPlace() {
	s.t.Helper()
	data, err := delivery.NewLocal(filepath.Join(s.data, "node", "main.m3u"), slog.New(slog.DiscardHandler)).Current(s.t.Context())
	if err == nil {
		_, err = playlist.Decode(data)
	}
	if err != nil {
		s.t.Errorf("no whole playlist is in place: %v", err)
	}
}
