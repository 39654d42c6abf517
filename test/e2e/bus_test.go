package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// part is one process of a station whose processes are started one by one.
type part struct {
	s     *station
	name  string
	path  string
	args  []string
	env   []string
	cmd   *exec.Cmd
	ended chan struct{}
}

// part starts a process that ends with the test.
func (s *station) part(name, path string, args []string, env ...string) *part {
	s.t.Helper()
	p := &part{s: s, name: name, path: path, args: args, env: env}
	p.start()
	s.t.Cleanup(func() { p.signal(os.Interrupt) })
	return p
}

func (p *part) start() {
	p.s.t.Helper()
	p.cmd = exec.Command(p.path, p.args...)
	p.cmd.Env = slices.Concat(os.Environ(), p.s.env, p.env)
	r, w, err := os.Pipe()
	if err != nil {
		p.s.t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	if err := p.cmd.Start(); err != nil {
		p.s.t.Fatal(err)
	}
	_ = w.Close()
	cmd, ended := p.cmd, make(chan struct{})
	p.ended = ended
	go func() {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.s.mu.Lock()
			p.s.log = append(p.s.log, p.name+": "+lines.Text())
			p.s.mu.Unlock()
		}
		_ = cmd.Wait()
		close(ended)
	}()
}

// signal ends the process and waits until it has.
func (p *part) signal(sig os.Signal) {
	_ = p.cmd.Process.Signal(sig)
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.s.t.Errorf("%s does not end on %s", p.name, sig)
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

func (p *part) killed() { p.signal(os.Kill) }

// natsServer is the real one, built once from the module that the station embeds,
// as the release is built: what it is made of is compiled already.
var natsServer = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "nats-server")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "github.com/nats-io/nats-server/v2")
	build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build nats-server: %w\n%s", err, out)
	}
	return path, nil
})

// bus starts one on a port of its own.
func (s *station) bus() *part {
	s.t.Helper()
	path, err := natsServer()
	if err != nil {
		s.t.Fatal(err)
	}
	port := freePorts(s.t, 1)[0]
	s.env = append(s.env, fmt.Sprintf("ATHIR_BUS_URL=nats://athir:sesame@127.0.0.1:%d", port))
	return s.part("bus", path, []string{"-a", "127.0.0.1", "-p", fmt.Sprint(port), "--user", "athir", "--pass", "sesame"})
}

// Control plane, two edges and a broadcast node, each a process of its own, under
// a bus of the operator's. The bus, an edge, the control plane and the node are
// killed while listeners write at all doors: whoever stays connected hears every
// comment once and in its order, and what was acknowledged is kept, once.
func TestStationOfManyProcessesUnderAnExternalBus(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys)
	airing44(s)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the station:\n%s", s.tail(150))
		}
	})
	free := freePorts(t, 2)
	s.ports["edge 1"], s.ports["edge 2"] = free[0], free[1] // the node has one of its own as well
	bus := s.bus()
	where := []string{"--data", s.data, "--media", s.media}
	role := func(name string, env ...string) *part {
		return s.part(name, binary, append([]string{name}, where...), env...)
	}
	control := role("control")
	answers := func(port string) func() bool {
		return func() bool { _, err := s.get(port, "/ping"); return err == nil }
	}
	s.eventually("the control plane", answers("control"))
	node := role("node")
	edge := func(name string) *part {
		return role("chat", fmt.Sprintf("ATHIR_PORTS_CHAT=%d", s.ports[name]), fmt.Sprintf("ATHIR_HLS_RELAY=127.0.0.1:%d", s.ports["hls"]))
	}
	one, two := edge("edge 1"), edge("edge 2")
	s.eventually("both edges", func() bool { return answers("edge 1")() && answers("edge 2")() })
	s.eventually("music", func() bool { st, err := s.status(); return err == nil && st.State == "music" })

	doors := []string{s.url("control", ""), s.url("edge 1", ""), s.url("edge 2", "")}
	c := newCrowd(s, doors...)
	// Those who listen at the first edge are there from the beginning to the end.
	var readers []*sockettest.Client
	for range 3 {
		r, err := sockettest.Dial(t.Context(), s.url("edge 1", ""), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		readers = append(readers, r)
	}
	s.eventually("readers are current", func() bool {
		got, err := readers[0].Ask(t.Context(), "join_channel", "main")
		return err == nil && strings.Contains(string(got), `"ok":true`) && len(readers[0].Heard("status")) > 0
	})
	stop := c.begin(6)
	writes := func() { // some of them, at whatever door is open
		t.Helper()
		before := c.written()
		s.eventually("listeners write", func() bool { return c.written() > before+20 })
	}
	writes()
	bus.killed()
	s.eventually("the edges have noticed", func() bool { return s.logged("chat:", "bus lost") > 0 })
	bus.start()
	writes()
	two.killed()
	two.start()
	writes()
	// HLS comes from the edge's own cache, and needs the relay alone.
	hls := s.hlsAt("edge 2")
	first := hls()
	control.killed()
	s.eventually("HLS at an edge goes on without the control plane", func() bool { return hls() > first })
	if err := clickAt(doors[1], "🎉", 1, ""); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a write without an id while the control plane is away: %v", err)
	}
	held := c.held(doors[1], "🎉", 3, "a-write-over-http")
	control.start()
	held()
	writes()
	s.eventually("who listens at the edge is counted", func() bool {
		hls() // one who has fetched nothing for as long as a control plane may take to start is gone
		_, text := s.call("GET", "control", "/api/status", "", "")
		var st struct{ Listeners struct{ HLS int } }
		return json.Unmarshal([]byte(text), &st) == nil && st.Listeners.HLS == 1
	})
	for port, p := range map[string]*part{"control": control, "edge 2": two} { // stopped in order
		came := map[string]any{"recover": true, "device": "a-device-of-a-listener"}
		listener := s.come(port, came)
		s.eventually("the listener hears", func() bool { return len(listener.All()) > 0 })
		p.signal(os.Interrupt)
		p.start()
		<-listener.Done()
		heard := listener.All()
		came["pid"], came["offset"] = listener.PID, heard[len(heard)-1].Offset
		if again := s.come(port, came); again.PID != listener.PID || again.ID != listener.ID {
			t.Errorf("after a restart of %s in order the listener came back as %s, was %s", port, again.ID, listener.ID)
		}
		writes()
	}
	node.killed() // and all its programs with it
	node.start()
	writes()
	stop()
	c.judge()
	all := c.pages(func(last string) string { return "/api/comments?limit=100&after=" + last }, "comments")
	want := make([]string, len(all))
	for i, m := range all {
		want[i] = m.ID
	}
	for i, r := range readers {
		select {
		case <-r.Done():
			t.Errorf("reader %d lost its connection to an edge that was never killed", i)
		default:
		}
		s.eventually(fmt.Sprintf("reader %d has heard the last comment", i), func() bool {
			heard := ids(r.Heard("new_comment"))
			return len(heard) > 0 && slices.Contains(heard, want[len(want)-1])
		})
		if heard := ids(r.Heard("new_comment")); !slices.Equal(heard, want) {
			t.Errorf("reader %d heard %d comments of %d, or others, or in another order:\n%v\n%v", i, len(heard), len(want), heard, want)
		}
	}
	s.eventually("music again", func() bool { st, err := s.status(); return err == nil && st.State == "music" })
	for _, p := range []*part{one, two, node, control} {
		p.signal(os.Interrupt)
	}
}

// come connects a client to a port as soon as it is served.
func (s *station) come(port string, auth any) (c *sockettest.Client) {
	s.t.Helper()
	s.eventually("a connection to "+port, func() (ok bool) {
		var err error
		c, err = sockettest.Dial(s.t.Context(), s.url(port, ""), auth)
		return err == nil
	})
	s.t.Cleanup(c.Close)
	return c
}

func ids(payloads []json.RawMessage) (out []string) {
	for _, p := range payloads {
		var m said
		_ = json.Unmarshal(p, &m)
		out = append(out, m.ID)
	}
	return out
}

// hlsAt begins to listen by HLS at a port; the returned function fetches the newest segment
// and returns its name.
func (s *station) hlsAt(port string) func() string {
	s.t.Helper()
	var suffix string
	s.eventually("HLS at "+port, func() bool {
		text, err := s.get(port, "/hls/main/index.m3u8?cookieCheck=1")
		_, suffix, _ = strings.Cut(string(text), "main_stream.m3u8")
		suffix, _, _ = strings.Cut(suffix, "\n")
		return err == nil && strings.HasPrefix(suffix, "?session=")
	})
	return func() (newest string) {
		s.t.Helper()
		s.eventually("a segment at "+port, func() bool {
			list, err := s.get(port, "/hls/main/main_stream.m3u8"+suffix)
			if err != nil {
				return false
			}
			lines := strings.Split(strings.TrimSpace(string(list)), "\n")
			audio, err := s.get(port, "/hls/main/"+lines[len(lines)-1])
			newest, _, _ = strings.Cut(lines[len(lines)-1], "?")
			return err == nil && len(audio) > 0
		})
		return newest
	}
}
