package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"testing"
	"time"
)

// Each program is killed with SIGKILL while the station is on air and listeners
// write. It comes back alone, nothing else is restarted beyond what hangs on it,
// the plan is not lost, and neither is anything that was acknowledged. How long
// the ear was without is printed.
func TestEveryKilledProgramComesBackAlone(t *testing.T) {
	s := torment(t)
	began := time.Now()
	c := newCrowd(s, s.url("control", ""), s.url("chat", ""), s.url("player", ""))
	stop := c.begin(4)
	for _, name := range []string{"liquidsoap", "icecast", "bridge", "relay", "nginx", "player", "chat", "control"} {
		t.Run(name, func(t *testing.T) {
			s := &station{t, s.machine}
			s.whole()
			before, err := s.status()
			if err != nil {
				t.Fatal(err)
			}
			if name == "liquidsoap" {
				s.airs(1) // a marker that dies with its engine is of what was not heard
			}
			rebuilt := s.rebuilds()
			ended := s.logged("program ended", "program="+name, "killed by killed")
			listener := newHLS(s) // connected before the kill, and after
			if _, err := listener.playlist(); err != nil {
				t.Fatal(err)
			}
			killed := time.Now()
			old := s.kill(name)
			s.eventually(name+" running again", func() bool {
				p, err := s.process(name)
				return err == nil && p.PID != old && p.State == "running"
			})
			back := time.Since(killed)
			onIcecast, err := firstAudio(t.Context(), s.url("icecast", "/main"), killed)
			if err != nil {
				t.Fatalf("no audio on Icecast after killing %s: %v", name, err)
			}
			newest, err := listener.playlist()
			if err != nil && name != "relay" && name != "player" {
				t.Errorf("a connected HLS listener lost its session: %v", err)
			}
			var onHLS time.Duration
			s.eventually("a new HLS segment for the connected listener", func() bool {
				now, err := listener.playlist()
				onHLS = time.Since(killed)
				return err == nil && now != newest
			})
			s.whole()
			t.Logf("RECOVERY %-10s process %5.2f s, first second on Icecast %5.2f s, next HLS segment %5.2f s",
				name, back.Seconds(), onIcecast.Seconds(), onHLS.Seconds())
			after, err := s.status()
			if err != nil {
				t.Fatal(err)
			}
			s.eventually("how "+name+" ended is logged", func() bool {
				return s.logged("program ended", "program="+name, "killed by killed") > ended
			})
			for _, p := range after.Processes { // Icecast may have crashed once more, at its start
				if p.Name == name && !strings.HasPrefix(p.LastExit, "killed by ") && name != "control" {
					t.Errorf("how it ended is told as %q", p.LastExit)
				}
			}
			// An engine that starts begins at the head: it gets a list of its own.
			if name != "control" && name != "liquidsoap" && s.rebuilds() > rebuilt {
				t.Errorf("killing %s rebuilt the rotation", name)
			}
			if after.Rotation.BuiltAt == before.Rotation.BuiltAt && after.Rotation.Consumed < before.Rotation.Consumed {
				t.Errorf("cursor went back from %d to %d", before.Rotation.Consumed, after.Rotation.Consumed)
			}
			s.nothingTwice(began)
			s.alone(t)
		})
	}
	stop()
	c.judge()
}

// rebuilds counts the rotations that were built anew before theirs was used up.
func (s *machine) rebuilds() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.log {
		if strings.Contains(l, "rotation rebuilt") && !strings.Contains(l, "consumed") {
			n++
		}
	}
	return n
}

// alone checks that every program of the node runs exactly once, as soon as what
// was started for a moment (the encoder of the standby audio, say) has ended.
// What the programs themselves start is theirs to watch.
func (s *station) alone(t *testing.T) {
	t.Helper()
	// Of ours: control, chat, relay and player. The ffmpeg is the bridge.
	want := map[string]int{"liquidsoap": 1, "icecast2": 1, "nginx": 1, "ffmpeg": 1, "athir": 6}
	var running map[string]int
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		running = map[string]int{}
		for _, p := range s.tree() {
			if p.parent == s.cmd.Process.Pid {
				running[p.name]++
			}
		}
		if maps.Equal(running, want) {
			return
		}
	}
	t.Errorf("the node runs %v, want %v: %+v", running, want, s.tree())
}

// Only our own roles see the keys: a hole in another program must not open the station.
func TestProgramsDoNotSeeTheKeys(t *testing.T) {
	s := look(t)
	for _, p := range s.tree() {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // ended meanwhile
			t.Error(err)
		}
		if p.name != "athir" && (bytes.Contains(env, []byte(testStationKey)) || bytes.Contains(env, []byte(testSourcePassword))) {
			t.Errorf("%s finds a key in its environment", p.name)
		}
	}
}

// hlsListener is a listener of HLS that keeps its cookies, as a browser does.
type hlsListener struct {
	client *http.Client
	url    string
}

func newHLS(s *station) *hlsListener {
	jar, _ := cookiejar.New(nil)
	return &hlsListener{&http.Client{Jar: jar, Timeout: patience}, s.url("player", "/hls/main/")}
}

// playlist returns the last segment's line of the media playlist.
func (h *hlsListener) playlist() (string, error) {
	master, err := h.get("index.m3u8")
	if err != nil {
		return "", err
	}
	media := mainMedia(master)
	list, err := h.get(media)
	if err != nil {
		return "", err
	}
	return lastLine(list), nil
}

func (h *hlsListener) get(name string) (string, error) {
	resp, err := h.client.Get(h.url + name) //nolint:noctx // the client has a time limit
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", name, resp.Status)
	}
	return string(body), err
}

// mainMedia is the media playlist of the main rendition, which a master playlist names first.
func mainMedia(master string) string {
	for line := range strings.Lines(master) {
		if l := strings.TrimSpace(line); l != "" && !strings.HasPrefix(l, "#") {
			return l
		}
	}
	return ""
}

// lastLine is the last line of a playlist that is no tag.
func lastLine(list string) string {
	lines := strings.Split(strings.TrimSpace(list), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if l := strings.TrimSpace(lines[i]); l != "" && !strings.HasPrefix(l, "#") {
			return l
		}
	}
	return ""
}
