package e2e

import (
	"bufio"
	"context"
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

	"github.com/athir-radio/athir/internal/onair/rotation"
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
	case <-time.After(30 * time.Second):
		p.s.t.Errorf("%s did not end within 30 s of %s", p.name, sig)
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

func (p *part) killed() { p.signal(os.Kill) }

// natsServer builds the real one from the module that the station embeds.
func natsServer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nats-server")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/nats-io/nats-server/v2")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build nats-server: %v\n%s", err, out)
	}
	return path
}

// Control plane, two edges and a broadcast node, each a process of its own, under
// a bus of the operator's. The bus, an edge, the control plane and the node are
// killed while listeners write at all doors: whoever stays connected hears every
// comment once and in its order, and what was acknowledged is kept, once.
func TestStationOfManyProcessesUnderAnExternalBus(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys)
	record(t, s.media, library())
	s.configure(programmeRules(60, []rotation.Daypart{}))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the station:\n%s", s.tail(150))
		}
	})
	free := freePorts(t, 3)
	busPort := free[0]
	s.ports["edge 1"], s.ports["edge 2"] = free[1], free[2] // the node has one of its own as well
	s.env = append(s.env, fmt.Sprintf("ATHIR_BUS_URL=nats://athir:sesame@127.0.0.1:%d", busPort))
	bus := s.part("bus", natsServer(t), []string{"-a", "127.0.0.1", "-p", fmt.Sprint(busPort), "--user", "athir", "--pass", "sesame"})
	where := []string{"--data", s.data, "--media", s.media}
	role := func(name string, env ...string) *part {
		return s.part(name, binary, append([]string{name}, where...), env...)
	}
	control := role("control")
	answers := func(port string) func() bool {
		return func() bool { _, err := s.get(port, "/ping"); return err == nil }
	}
	s.eventually("the control plane", time.Minute, answers("control"))
	node := role("node")
	edge := func(name string) *part { return role("chat", fmt.Sprintf("ATHIR_PORTS_CHAT=%d", s.ports[name])) }
	one, two := edge("edge 1"), edge("edge 2")
	s.eventually("both edges", time.Minute, func() bool { return answers("edge 1")() && answers("edge 2")() })
	s.eventually("music", 2*time.Minute, func() bool { st, err := s.status(); return err == nil && st.State == "music" })

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
	s.eventually("readers are current", time.Minute, func() bool {
		got, err := readers[0].Ask(t.Context(), "join_channel", "main")
		return err == nil && strings.Contains(string(got), `"ok":true`) && len(readers[0].Heard("status")) > 0
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var writers sync.WaitGroup
	for who := range 6 {
		writers.Go(func() { c.write(ctx, who) })
	}
	pause := func() { time.Sleep(2 * time.Second) } // some hundred writes
	for range 2 {
		pause()
		bus.killed()
		time.Sleep(500 * time.Millisecond)
		bus.start()
		pause()
		two.killed()
		two.start()
		pause()
		control.killed()
		control.start()
		pause()
	}
	node.killed() // and all its programs with it
	node.start()
	pause()
	cancel()
	writers.Wait()
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
		s.eventually(fmt.Sprintf("reader %d has heard the last comment", i), 30*time.Second, func() bool {
			heard := ids(r.Heard("new_comment"))
			return len(heard) > 0 && slices.Contains(heard, want[len(want)-1])
		})
		if heard := ids(r.Heard("new_comment")); !slices.Equal(heard, want) {
			t.Errorf("reader %d heard %d comments of %d, or others, or in another order:\n%v\n%v", i, len(heard), len(want), heard, want)
		}
	}
	s.eventually("music again", 2*time.Minute, func() bool { st, err := s.status(); return err == nil && st.State == "music" })
	for _, p := range []*part{one, two, node, control} {
		p.signal(os.Interrupt)
	}
}

func ids(payloads []json.RawMessage) (out []string) {
	for _, p := range payloads {
		var m said
		_ = json.Unmarshal(p, &m)
		out = append(out, m.ID)
	}
	return out
}
