package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"testing"
	"time"
)

// Each program is killed with SIGKILL while the station is on air. The test
// asserts that it comes back alone, that nothing else was restarted beyond what
// hangs on it, that the plan is not lost, and prints how long the ear was without.
func TestEveryKilledProgramComesBackAlone(t *testing.T) {
	s := newStation(t, rules(shortRules))
	fill(t, s.media, decks)
	s.start().whole()
	s.hlsReady()

	for _, name := range []string{"liquidsoap", "icecast", "bridge", "relay", "nginx", "player", "control"} {
		t.Run(name, func(t *testing.T) {
			before, err := s.status()
			if err != nil {
				t.Fatal(err)
			}
			listener := newHLS(s) // connected before the kill, and after
			if _, err := listener.playlist(); err != nil {
				t.Fatal(err)
			}
			killed := time.Now()
			old := s.kill(name)
			s.eventually(name+" running again", time.Minute, func() bool {
				p, err := s.process(name)
				return err == nil && p.PID != old && p.State == "running"
			})
			back := time.Since(killed)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			onIcecast, err := firstAudio(ctx, s.url("icecast", "/main"), killed)
			if err != nil {
				t.Fatalf("no audio on Icecast after killing %s: %v", name, err)
			}
			newest, err := listener.playlist()
			if err != nil && name != "relay" && name != "player" {
				t.Errorf("a connected HLS listener lost its session: %v", err)
			}
			var onHLS time.Duration
			s.eventually("a new HLS segment for the connected listener", time.Minute, func() bool {
				now, err := listener.playlist()
				onHLS = time.Since(killed)
				return err == nil && now != newest
			})
			s.eventually("a whole station", time.Minute, func() bool {
				st, err := s.status()
				if err != nil || st.State != "music" {
					return false
				}
				for _, p := range st.Processes {
					if p.State != "running" {
						return false
					}
				}
				return true
			})
			t.Logf("RECOVERY %-10s process %5.2f s, first second on Icecast %5.2f s, next HLS segment %5.2f s",
				name, back.Seconds(), onIcecast.Seconds(), onHLS.Seconds())
			after, err := s.status()
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range after.Processes {
				if p.Name == name && !strings.HasPrefix(p.LastExit, "killed by killed") && name != "control" {
					t.Errorf("how it ended is told as %q", p.LastExit)
				}
			}
			// An engine that starts begins at the head: it gets a list of its own.
			if name != "control" && name != "liquidsoap" && after.Rotation.BuiltAt != before.Rotation.BuiltAt {
				t.Errorf("killing %s rebuilt the rotation", name)
			}
			if name != "control" && name != "liquidsoap" && after.Rotation.Consumed < before.Rotation.Consumed {
				t.Errorf("cursor went back from %d to %d", before.Rotation.Consumed, after.Rotation.Consumed)
			}
			heard := map[string]bool{}
			for _, h := range after.History {
				if heard[h.File] {
					t.Errorf("%s was heard twice within ten tracks", h.File)
				}
				heard[h.File] = true
			}
			s.alone(t)
		})
	}
}

// alone checks that every program of the node runs exactly once, as soon as what
// was started for a moment (the encoder of the standby audio, say) has ended.
// What the programs themselves start is theirs to watch.
func (s *station) alone(t *testing.T) {
	t.Helper()
	// Of ours: control, chat, relay and player. The ffmpeg is the bridge.
	want := map[string]int{"liquidsoap": 1, "icecast2": 1, "nginx": 1, "ffmpeg": 1, "athir": 4}
	var running map[string]int
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
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
	t.Parallel()
	s := newStation(t, rules(shortRules))
	s.env = append(s.env, "STATION_KEY=open-sesame-1", "ATHIR_SOURCE_PASSWORD=open-sesame-2")
	fill(t, s.media, decks[:1])
	s.start().whole()
	for _, p := range s.tree() {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
		if err != nil {
			t.Error(err)
		}
		if p.name != "athir" && bytes.Contains(env, []byte("open-sesame")) {
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
	return &hlsListener{&http.Client{Jar: jar, Timeout: 5 * time.Second}, s.url("player", "/hls/main/")}
}

// playlist returns the last segment's line of the media playlist.
func (h *hlsListener) playlist() (string, error) {
	master, err := h.get("index.m3u8")
	if err != nil {
		return "", err
	}
	media := lastLine(master)
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
