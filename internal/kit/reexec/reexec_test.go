package reexec_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// process is a process under test, whose program is replaced.
type process struct {
	*testing.T
	dir, tcp string
	pid      int
	stdin    io.Writer
	lines    <-chan string // of its output; closed at its end
	ended    <-chan error
}

// begin runs a program by a name; see child.
func begin(t *testing.T, name string, marks ...string) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{T: t, dir: dir, tcp: fmt.Sprintf("127.0.0.1:%d", testkit.Port(t))}
	for _, mark := range append(marks, "letters") {
		p.mark(mark, "abcdefghijklmnopqrstuvwxyz")
	}
	cmd := exec.Command(p.program(name)) //nolint:gosec // this test's own
	cmd.Env = append(os.Environ(), childDir+"="+dir, "REEXEC_TEST_TCP="+p.tcp)
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = t.Output()
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	p.lines, p.ended = testkit.Output(t, out, cmd.Wait, cmd.Process.Kill)
	p.pid = cmd.Process.Pid
	return p
}

func (p *process) mark(name, text string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

// program is this test's program by another name.
func (p *process) program(name string) string { return testkit.Again(p, p.dir, name) }

// says waits for the next line of output that begins so.
func (p *process) says(want string) string {
	p.Helper()
	line := testkit.Receive(p, want, p.lines)
	if !strings.HasPrefix(line, want) {
		p.Fatalf("it says %q, want %q", line, want)
	}
	return line
}

func (p *process) dial(network string) net.Conn {
	p.Helper()
	address := p.tcp
	if network == "unix" {
		address = filepath.Join(p.dir, "door")
	}
	var c net.Conn
	testkit.EventuallyNil(p, "a connection", func() (err error) {
		c, err = net.Dial(network, address)
		return err
	})
	return c
}

// ask sends one line and returns the answer.
func (p *process) ask(c net.Conn, line string) string {
	p.Helper()
	defer c.Close() //nolint:errcheck // a test's
	_, err := fmt.Fprintln(c, line)
	answer, readErr := io.ReadAll(c)
	if err != nil || readErr != nil {
		p.Fatal(err, readErr)
	}
	return strings.TrimSpace(string(answer))
}

func (p *process) state(c net.Conn) (s seen) {
	p.Helper()
	if err := json.Unmarshal([]byte(p.ask(c, "state")), &s); err != nil {
		p.Fatal(err)
	}
	if s.PID != p.pid || s.Pipe != "true" {
		p.Errorf("process %d, whose inherited pipe can be read with a deadline: %s; want %d", s.PID, s.Pipe, p.pid)
	}
	s.PID, s.Pipe, s.Open = 0, "", 0
	return s
}

func (p *process) order(name string) {
	p.Helper()
	if answer := p.ask(p.dial("unix"), "order "+filepath.Join(p.dir, name)); answer != "<nil>" {
		p.Fatal(answer)
	}
}

// is checks what both doors say.
func (p *process) is(want seen) {
	p.Helper()
	for _, network := range []string{"tcp", "unix"} {
		if got := p.state(p.dial(network)); got != want {
			p.Errorf("%s: %+v, want %+v", network, got, want)
		}
	}
}

// Fails where a listener, a file's position or a value is lost, the process is another, an
// inherited pipe blocks, or SIGTERM does not reach the new program.
func TestProgramsFollowEachOtherInOneProcess(t *testing.T) {
	p := begin(t, "one")
	p.says("begun one")
	p.is(seen{Name: "one", Read: "a", Count: 1})
	for i, name := range []string{"two", "three"} {
		p.program(name)
		p.order(name)
		p.says("begun " + name)
		p.is(seen{Name: name, From: []string{"one", "two"}[i], Read: string(rune('b' + i)), Count: 2 + i})
	}
	if err := syscall.Kill(p.pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.says("ended three")
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
}

// Fails where the sockets are closed between two programs: a connection is refused then.
func TestWhoConnectsBetweenTwoProgramsIsAnsweredByTheSecond(t *testing.T) {
	p := begin(t, "one", "hold")
	p.program("two")
	goOn := func() { _, _ = p.stdin.Write([]byte("x")) }
	p.says("begun one")
	goOn()
	p.order("two")
	p.says("begun two") // and waits
	var between []net.Conn
	for _, network := range []string{"unix", "tcp", "unix", "tcp"} {
		c, err := net.Dial(network, map[string]string{"unix": filepath.Join(p.dir, "door"), "tcp": p.tcp}[network])
		if err != nil {
			t.Fatal(err)
		}
		between = append(between, c)
	}
	goOn()
	for _, c := range between {
		if got := p.state(c); got != (seen{Name: "two", From: "one", Read: "b", Count: 2}) {
			t.Errorf("%+v", got)
		}
	}
}

// Fails where going back loses a socket, what the failed program did not leave ("file"), or
// what it did ("count"), or where that works but once.
func TestAProgramThatFailsGivesWayToTheOneBefore(t *testing.T) {
	p := begin(t, "one")
	p.says("begun one")
	p.is(seen{Name: "one", Read: "a", Count: 1})
	for i, name := range []string{"bad", "bad-again"} {
		p.program(name)
		p.order(name)
		p.says("begun " + name)
		p.says("back " + name + " not well")
		p.says("begun one")
		p.is(seen{Name: "one", From: "one", Read: string(rune('b' + i)), Count: 3 + 2*i})
	}
	p.program("two")
	p.order("two")
	p.says("begun two")
	p.is(seen{Name: "two", From: "one", Read: "d", Count: 6})
}

// Fails where the old program, which cannot go on either, is begun again and again.
func TestAProgramThatWasGoneBackToDoesNotGoBackOnceMore(t *testing.T) {
	p := begin(t, "one", "never again")
	p.says("begun one")
	p.program("bad")
	p.order("bad")
	p.says("begun bad")
	p.says("back bad")
	p.says("begun one")
	p.says("failed one not well")
	if err := <-p.ended; err == nil {
		t.Error("it ended as if all were well")
	}
}

// Fails where a program reads what it cannot know, or going back loses what was left.
func TestAProgramTwoStepsAwayGoesBackAndSaysWhatToDo(t *testing.T) {
	p := begin(t, "far", "next")
	p.mark("next", p.program("two"))
	p.says("begun far")
	for {
		line := testkit.Receive(t, "the refusal", p.lines)
		if strings.HasPrefix(line, "back two") {
			if !strings.Contains(line, "version two is more than one step away from version far: upgrade to a version between them first") {
				t.Error(line)
			}
			break
		}
		if strings.HasPrefix(line, "begun far") || line == "" {
			t.Fatal(line)
		}
	}
	p.says("begun far")
	p.says("returned 2 kept abc <nil>")
}

// Fails where a descriptor stays open with each replacement, or with each that failed.
func TestNoDescriptorIsLostOverTwentyReplacements(t *testing.T) {
	p := begin(t, "one")
	p.says("begun one")
	p.program("two")
	p.program("bad")
	open := func() (n int) {
		var s seen
		if err := json.Unmarshal([]byte(p.ask(p.dial("tcp"), "state")), &s); err != nil {
			t.Fatal(err)
		}
		return s.Open
	}
	replace := func(name string) int {
		p.order(name)
		p.says("begun " + name)
		return open()
	}
	first := replace("two")
	for i := range 19 {
		if i%5 == 4 {
			p.order("bad")
			p.says("begun bad")
			p.says("back bad")
			p.says("begun " + []string{"two", "one"}[i%2])
		}
		if n := replace([]string{"one", "two"}[i%2]); n != first {
			t.Fatalf("%d descriptors after %d replacements, %d after one", n, i+2, first)
		}
	}
}
