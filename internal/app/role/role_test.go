package role_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/reexec"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// process is a role under test.
type process struct {
	*testing.T
	dir    string
	pid    int
	client *role.Client
	lines  <-chan string // of its output; closed at its end
}

// begin runs the role as a program of a name; see child.
func begin(t *testing.T, name string) *process { return beginWith(t, name, "") }

// beginWith is begin, with a text as the settings file where there is one.
func beginWith(t *testing.T, name, settings string) *process {
	t.Helper()
	dir := t.TempDir()
	cfg := &config.Config{DataDir: dir}
	if settings != "" {
		if err := os.WriteFile(cfg.File(), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(cfg.NodeDir(), 0o755); err != nil { //nolint:gosec // as a station has it that was made before
		t.Fatal(err)
	}
	sockets, err := doors.SocketDir(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{T: t, dir: dir, client: role.NewClient(sockets, "player")}
	cmd := exec.Command(p.program(name)) //nolint:gosec // this test's own
	cmd.Env = append(os.Environ(), childDir+"="+dir)
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
	p.lines, _ = testkit.Output(t, out, cmd.Wait, cmd.Process.Kill)
	p.pid = cmd.Process.Pid
	t.Cleanup(p.client.Close)
	p.says("begun " + name)
	return p
}

// program is this test's program by another name.
func (p *process) program(name string) string { return testkit.Again(p, p.dir, name) }

func (p *process) says(want string) {
	p.Helper()
	if line := testkit.Receive(p, want, p.lines); !strings.HasPrefix(line, want) {
		p.Fatalf("it says %q, want %q", line, want)
	}
}

// settled waits until the process has settled as the program of a name.
func (p *process) settled(name string) (s role.State) {
	p.Helper()
	testkit.EventuallyNil(p, name+" is well", func() (err error) {
		if s, err = p.client.State(p.Context()); err == nil && !s.Settled {
			err = errors.New("not settled")
		}
		return err
	})
	program, err := os.Open(filepath.Join(p.dir, name))
	if err != nil {
		p.Fatal(err)
	}
	defer program.Close() //nolint:errcheck // only looked at
	if s.Version != name || s.PID != p.pid || s.Program != role.Identity(program) || s.Role != "player" || s.Step != reexec.Step {
		p.Errorf("%+v, want %s in process %d", s, name, p.pid)
	}
	return s
}

func (p *process) order(o role.Replace) error {
	p.Helper()
	_, err := p.client.Replace(p.Context(), o)
	return err
}

// Fails where a role answers in a folder that others of the machine may look into.
func TestARoleKeepsOthersOutOfTheFolderOfItsSockets(t *testing.T) {
	p := begin(t, "one")
	p.settled("one")
	info, err := os.Stat((&config.Config{DataDir: p.dir}).NodeDir())
	if err != nil || info.Mode().Perm()&0o066 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Fails where a program that is not well stays, where its role cannot be asked once it has
// gone back, or never counts as settled again and refuses every later order.
func TestAProgramThatIsNotWellInTimeGivesWay(t *testing.T) {
	p := begin(t, "one")
	before := p.settled("one")
	for range 2 {
		if err := p.order(role.Replace{Program: p.program("sick")}); err != nil {
			t.Fatal(err)
		}
		p.says("begun sick")
		p.says("back not well within 1ms: it coughs")
		p.says("begun one")
		if after := p.settled("one"); after.Began.Equal(before.Began) || after.Program != before.Program {
			t.Errorf("%+v, then %+v", before, after)
		}
		if err := os.Remove(filepath.Join(p.dir, "sick")); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.order(role.Replace{Program: p.program("two"), Data: p.dir}); err != nil {
		t.Fatal(err)
	}
	p.says("begun two")
	p.settled("two")
}

// Fails where a busy role is cut off, or says nothing of why, or cannot be ordered at all.
func TestABusyRoleIsReplacedOnlyIfItMustBe(t *testing.T) {
	p := begin(t, "one")
	if err := os.WriteFile(filepath.Join(p.dir, "busy"), []byte("a presenter is live"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := p.settled("one")
	two := p.program("two")
	err := p.order(role.Replace{Program: two})
	if !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "player: a presenter is live") || s.Busy != "a presenter is live" {
		t.Errorf("%v, busy with %q", err, s.Busy)
	}
	if again := p.settled("one"); !again.Began.Equal(s.Began) {
		t.Error("it began anew")
	}
	if err := p.order(role.Replace{Program: two, Now: true}); err != nil {
		t.Fatal(err)
	}
	p.says("begun two")
	p.settled("two")
}

// Fails where a role stops for what cannot take its place, or does not say why it does not.
func TestWhatCannotTakeOverIsRefusedBeforeAnythingStops(t *testing.T) {
	p := begin(t, "one")
	before := p.settled("one")
	text, noise := filepath.Join(p.dir, "text"), filepath.Join(p.dir, "noise")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.Executable(t, noise, []byte("no program, but it says that it is one"))
	for _, c := range []struct {
		order role.Replace
		why   string
	}{
		{role.Replace{Program: filepath.Join(p.dir, "nothing")}, "no such file"},
		{role.Replace{Program: p.dir}, "no file that can be run"},
		{role.Replace{Program: text}, "no file that can be run"},
		{role.Replace{Program: noise}, "exec format error"},
		{role.Replace{Program: "/bin/true"}, "no program of this station"},
		{role.Replace{Program: "/bin/false"}, "it cannot begin: exit code 1"},
		{role.Replace{Program: p.program("json")}, "no program of this station"},
		{role.Replace{Program: p.program("picky"), Data: p.dir}, "ports.control is unknown"},
		{role.Replace{Program: p.program("far")}, "player is one, and far is more than one step away: upgrade to a version between them first"},
		{role.Replace{Program: p.program("two"), Identity: "1:2:3"}, "another program has taken its path"},
	} {
		if err := p.order(c.order); err == nil || errors.Is(err, role.ErrUnanswered) || errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %s", filepath.Base(c.order.Program), err, c.why)
		}
	}
	if after := p.settled("one"); !after.Began.Equal(before.Began) || len(p.lines) > 0 {
		t.Errorf("it began anew: %+v", after)
	}
}

// Fails where two orders are told that they were taken, and only one was.
func TestOfTwoOrdersAtOnceOneIsTaken(t *testing.T) {
	p := begin(t, "one")
	p.settled("one")
	gate := filepath.Join(p.dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	slow, two := p.program("slow"), p.program("two")
	first := make(chan error, 1)
	go func() { first <- p.order(role.Replace{Program: slow}) }()
	open, err := os.OpenFile(gate, os.O_WRONLY, 0) // once the first program is asked what it is
	if err != nil {
		t.Fatal(err)
	}
	if err := p.order(role.Replace{Program: two}); !errors.Is(err, station.ErrConflict) || !strings.Contains(fmt.Sprint(err), "another program is taking over") {
		t.Errorf("the second order: %v", err)
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	if err := testkit.Receive(t, "the first answer", first); err != nil {
		t.Error(err)
	}
	p.says("begun slow")
	p.settled("slow")
}

// Fails where SIGHUP takes none of several settings because one needs a restart, takes that
// one, or where it is forgotten: over a second reload, an upgrade, or once it was taken back.
func TestNewSettingsAreInForceAndOthersWaitForARestart(t *testing.T) {
	const keys = "source_password: a-long-enough-password\nsync_token: a-long-enough-token\n"
	p := beginWith(t, "one", keys+"limits: {reading: 100}\n")
	p.says("settings 5000 100")
	p.settled("one")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(p.dir, config.FileName), []byte(keys+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hangUp := func(text string) {
		t.Helper()
		write(text)
		if err := syscall.Kill(p.pid, syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	waits := func(program string, want ...string) {
		t.Helper()
		testkit.Eventually(t, fmt.Sprintf("waiting: %v", want), func() bool { return slices.Equal(p.settled(program).Restart, want) })
	}
	waits("one")
	hangUp("limits: {reading: 7}\nicecast: {max_clients: 123}\n")
	p.says("begun one")
	p.says("settings 5000 7")
	waits("one", "icecast.max_clients")
	hangUp("limits: {reading: 8}\nicecast: {max_clients: 123}\nname: other\n")
	p.says("begun one")
	p.says("settings 5000 8")
	waits("one", "icecast.max_clients", "name")
	if err := p.order(role.Replace{Program: p.program("two")}); err != nil {
		t.Fatal(err)
	}
	p.says("begun two")
	p.says("settings 5000 8")
	waits("two", "icecast.max_clients", "name")
	hangUp("limits: {reading: 8}\nname: other\n") // one is taken back: nothing begins anew
	waits("two", "name")
	hangUp("limits: {reading: 9}\n")
	p.says("begun two")
	p.says("settings 5000 9")
	waits("two")
}
