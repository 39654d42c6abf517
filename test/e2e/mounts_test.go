package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/api"
)

func withMounts(s *station) { s.env = append(s.env, "ATHIR_ICECAST_MOUNTS=mp3=128,aac=96") }

// Players that know no Ogg listen to a station: they see what plays, count as listeners, and
// stay through an upgrade and through an encoder that stands still, which is replaced.
func TestMountsInMP3AndAAC(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys, steady, withMounts).start()
	s.whole()
	mounts := []string{"/main.mp3", "/main.aac"}
	var all struct{ Channels []api.Channel }
	get(t, s.url("control", "/api/channels"), &all)
	shown := all.Channels[0].Icecast
	if fmt.Sprint(shown) != fmt.Sprint(&api.Icecast{Port: s.ports["icecast"], Mounts: []api.Mount{
		{Path: "/main", Type: "application/ogg", Kbps: 192}, {Path: "/main.mp3", Type: "audio/mpeg", Kbps: 128}, {Path: "/main.aac", Type: "audio/aac", Kbps: 96},
	}}) {
		t.Errorf("the station tells of %+v", shown)
	}
	listeners := map[string]*streamed{}
	for _, mount := range mounts {
		s.eventually(mount, func() bool {
			resp, err := http.Get(s.url("icecast", mount)) //nolint:noctx // ends with the test
			if err != nil || resp.StatusCode != http.StatusOK {
				return false
			}
			l := &streamed{name: mount}
			listeners[mount] = l
			go func() {
				_, err := io.Copy(l, resp.Body)
				l.mu.Lock()
				defer l.mu.Unlock()
				l.err = fmt.Errorf("disconnected: %w", err)
			}()
			t.Cleanup(func() { _ = resp.Body.Close() })
			return true
		})
	}
	hears := func(when string) {
		t.Helper()
		for _, l := range listeners {
			before := l.size()
			s.eventually(l.name+" is heard "+when, func() bool { return l.size() > before+100_000 || l.failed() != nil })
			if err := l.failed(); err != nil {
				t.Fatalf("%s %s: %v", l.name, when, err)
			}
		}
	}
	hears("at first")
	for _, mount := range mounts {
		testkit.EventuallyNil(t, "the title on "+mount, func() error {
			var now api.Status
			get(t, s.url("control", "/api/status"), &now)
			want := now.NowPlaying.Title
			if now.NowPlaying.Artist != "" {
				want = now.NowPlaying.Artist + " - " + want
			}
			if got := streamTitle(t, s.url("icecast", mount)); got != want || want == "" {
				return fmt.Errorf("%q, want %q", got, want)
			}
			return nil
		})
	}
	s.eventually("both count as listeners, and nobody else", func() bool {
		var now api.Status
		get(t, s.url("control", "/api/status"), &now)
		return now.Listeners.Icecast == 2
	})
	if err := s.seenWell(); err != nil {
		t.Errorf("the doctor: %v", err)
	}

	before := s.pids("mount-mp3", "mount-aac", "icecast", "liquidsoap")
	s.upgrade(copyOf(t, binary, "next"))
	hears("after an upgrade")
	if after := s.pids("mount-mp3", "mount-aac", "icecast", "liquidsoap"); !slices.Equal(before, after) {
		t.Errorf("processes %v became %v", before, after)
	}

	stopped := s.running("mount-mp3")
	if err := syscall.Kill(stopped.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.eventually("another encoder", func() bool {
		p, err := s.process("mount-mp3")
		return err == nil && p.PID != stopped.PID && p.State == "running"
	})
	hears("after an encoder stood still")
	if now := s.pids("mount-aac", "icecast", "liquidsoap"); !slices.Equal(now, before[1:]) {
		t.Errorf("others than the encoder were started anew: %v became %v", before[1:], now)
	}

	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		if line, _ := os.ReadFile(file); bytes.Contains(line, []byte(testSourcePassword)) { //nolint:gosec // processes end
			t.Errorf("%s shows the password: %q", file, line)
		}
	}
}

func (l *streamed) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func get(t *testing.T, url string, into any) {
	t.Helper()
	resp, err := http.Get(url) //nolint:noctx // local
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// streamTitle reads the first title of a mount.
func streamTitle(t *testing.T, url string) string {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	req.Header.Set("Icy-Metadata", "1")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var every int
	if _, err := fmt.Sscan(resp.Header.Get("icy-metaint"), &every); err != nil {
		t.Fatalf("%s has no titles: %v", url, resp.Header)
	}
	block := make([]byte, every+1)
	if _, err := io.ReadFull(resp.Body, block); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 16*int(block[every]))
	if _, err := io.ReadFull(resp.Body, text); err != nil {
		t.Fatal(err)
	}
	title, _ := strings.CutPrefix(strings.TrimRight(string(text), "\x00"), "StreamTitle='")
	return strings.TrimSuffix(title, "';")
}
