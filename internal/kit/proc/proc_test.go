package proc_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// TestMain doubles as the parent that a test kills: it starts one child and
// prints the child's id.
func TestMain(m *testing.M) {
	if os.Getenv("PROC_TEST_PARENT") == "" {
		testkit.Main(m)
		return
	}
	_, err := proc.Run(context.Background(), proc.Spec{Name: "sleep", Path: "sleep", Args: []string{"600"}},
		func(pid int) { fmt.Println(pid) })
	fmt.Fprintln(os.Stderr, err)
}

func TestRunReportsHowItEnded(t *testing.T) {
	for _, c := range []struct {
		script string
		want   string
	}{
		{"exit 0", "exit code 0"},
		{"exit 3", "exit code 3"},
		{"kill -9 $$", "killed by killed"},
	} {
		exit, err := proc.Run(t.Context(), proc.Spec{Name: "sh", Path: "sh", Args: []string{"-c", c.script}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(exit.String(), c.want) {
			t.Errorf("%q: got %q, want %q", c.script, exit, c.want)
		}
	}
}

func TestMissingProgramNamesThePackage(t *testing.T) {
	_, err := proc.Run(t.Context(), proc.Spec{Name: "x", Path: "no-such-program-here"}, nil)
	var missing *proc.MissingError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "apt-get install no-such-program-here") {
		t.Fatalf("got %v", err)
	}
}

func TestStopThenKillOfAStubbornGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	defer w.Close() //nolint:errcheck // ends who reads
	go func() {
		// The child says "ready" once it ignores SIGTERM; its own child sleeps on.
		if line, _ := bufio.NewReader(r).ReadString('\n'); line == "ready\n" {
			cancel()
		}
		_, _ = io.Copy(io.Discard, r)
	}()
	var pid int
	exit, err := proc.Run(ctx, proc.Spec{
		Name: "sh", Path: "sh", Args: []string{"-c", "trap '' TERM; sleep 600 & echo ready; while :; do sleep 1; done"},
		Stdout: w, Grace: 200 * time.Millisecond,
	}, func(p int) { pid = p })
	if err != nil || exit.Signal != syscall.SIGKILL {
		t.Fatalf("exit %v, err %v", exit, err)
	}
	waitGone(t, -pid)
}

func TestOutputIsBounded(t *testing.T) {
	spec := proc.Spec{Name: "sh", Path: "sh", Args: []string{"-c", "head -c 100000 /dev/zero"}}
	if _, err := proc.Output(t.Context(), spec, 1000); err == nil || !strings.Contains(err.Error(), "larger than 1000 bytes") {
		t.Fatalf("got %v", err)
	}
	spec.Args = []string{"-c", "echo first >&2; echo the reason >&2; exit 2"}
	if _, err := proc.Output(t.Context(), spec, 1000); err == nil || !strings.Contains(err.Error(), "the reason") {
		t.Fatalf("got %v", err)
	}
}

// A grandchild that keeps the output open does not hold up Run for ever, and
// what was read by then does not count as whole.
func TestOutputThatIsNotReadToTheEndIsTold(t *testing.T) {
	spec := proc.Spec{Name: "sh", Path: "sh", Args: []string{"-c", "echo first; sleep 600 &"}, Stdout: new(bytes.Buffer), Drain: 100 * time.Millisecond}
	if exit, err := proc.Run(t.Context(), spec, nil); !errors.Is(err, proc.ErrCut) || !exit.OK() {
		t.Errorf("exit %+v, err %v", exit, err)
	}
	spec.Args = []string{"-c", "echo whole"}
	spec.Drain = time.Minute
	if exit, err := proc.Run(t.Context(), spec, nil); err != nil || !exit.OK() {
		t.Errorf("exit %+v, err %v", exit, err)
	}
}

// A child must not outlive a parent that dies by SIGKILL.
func TestChildDiesWithAKilledParent(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "PROC_TEST_PARENT=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscanln(out, &child); err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	waitGone(t, child)
}

// waitGone waits until the process (or, when negative, the group) is gone or a zombie.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("the end of process %d", pid), func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) })
}

func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestChildrenDoNotSpeakToSystemdInOurName(t *testing.T) {
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		t.Setenv(name, "ours")
	}
	out, err := proc.Output(t.Context(), proc.Spec{Name: "env", Path: "env", Env: []string{"OWN=1"}}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "=ours") || !strings.Contains(string(out), "OWN=1\n") {
		t.Errorf("a child's environment is\n%s", out)
	}
}
