package proc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// until is a buffer that calls then once it holds so many bytes.
type until struct {
	buf  bytes.Buffer // not embedded: io.Copy would call its ReadFrom
	many int
	then func()
}

func (u *until) Write(p []byte) (int, error) {
	defer func() {
		if u.buf.Len() >= u.many {
			u.then()
		}
	}()
	return u.buf.Write(p)
}

func sh(script string) proc.Spec {
	return proc.Spec{Name: "sh", Path: "sh", Args: []string{"-c", script}}
}

// left runs a script until it has said "ready", and leaves it.
func left(t *testing.T, k proc.Keeper, script string) *proc.Kept {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := &until{many: len("ready\n"), then: cancel}
	spec := sh(script)
	spec.Stdout = said
	_, child, err := k.Run(ctx, spec, nil, nil)
	if err != nil || child == nil || said.buf.String() != "ready\n" {
		t.Fatalf("%v, it said %q", err, said.buf.String())
	}
	return child
}

// waiting is the end of a script that is ready: it waits until a signal's trap ends it.
const waiting = "; echo ready; sleep 600 & while :; do wait; done"

// Fails where a byte is lost or comes twice between two programs, where another process is
// adopted, or its exit code is not seen.
func TestTheOutputOfAnAdoptedChildGoesOnToTheByte(t *testing.T) {
	k := testkit.Keeper(t)
	script := "i=10000; while [ $i -lt 30000 ]; do echo $i; echo e$i >&2; i=$((i+1)); done; exit 7"
	var want, wantErr, out, said bytes.Buffer
	for i := 10000; i < 30000; i++ {
		fmt.Fprintln(&want, i)
		fmt.Fprintf(&wantErr, "e%d\n", i)
	}
	var adopted *proc.Kept
	pids, handed := map[int]bool{}, 0
	for {
		ctx, cancel := context.WithCancel(t.Context())
		now, nowErr := &until{many: 5001, then: cancel}, &until{many: 1 << 30}
		spec := sh(script)
		spec.Stdout, spec.Stderr = now, nowErr
		exit, child, err := k.Run(ctx, spec, adopted, func(pid int) { pids[pid] = true })
		cancel()
		out.Write(now.buf.Bytes())
		said.Write(nowErr.buf.Bytes())
		if child == nil {
			if err != nil || exit.Code != 7 || exit.Signal != 0 || !pids[exit.PID] || exit.Duration <= 0 {
				t.Errorf("%+v, %v", exit, err)
			}
			break
		}
		adopted = child
		handed++
	}
	if handed < 2 || len(pids) != 1 {
		t.Errorf("left %d times, as %d processes", handed, len(pids))
	}
	if !bytes.Equal(out.Bytes(), want.Bytes()) || !bytes.Equal(said.Bytes(), wantErr.Bytes()) {
		t.Errorf("%d and %d bytes of output, want %d and %d", out.Len(), said.Len(), want.Len(), wantErr.Len())
	}
}

// Fails where how an adopted child ended is not told, or what it said last is lost, or its
// group lives on: for one that ends while adopted, and one that ended before.
func TestTheEndOfAnAdoptedChildIsSeen(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		code   int
		by     syscall.Signal
		last   string
	}{
		{syscall.SIGUSR1, 9, 0, "last words\n"},
		{syscall.SIGKILL, -1, syscall.SIGKILL, ""},
	} {
		for _, before := range []bool{true, false} {
			k := testkit.Keeper(t)
			child := left(t, k, "trap 'echo last words; exit 9' USR1"+waiting)
			end := func(pid int) {
				if err := syscall.Kill(pid, c.signal); err != nil {
					t.Error(err)
				}
			}
			if before {
				end(child.PID)
				testkit.Eventually(t, "its end", func() bool { return zombie(child.PID) })
				end = func(int) {}
			}
			var out bytes.Buffer
			exit, again, err := k.Run(t.Context(), proc.Spec{Name: "sh", Stdout: &out}, child, end)
			if err != nil || again != nil || exit.Code != c.code || exit.Signal != c.by || out.String() != c.last {
				t.Errorf("%s, before it was adopted: %v: %+v, %v, said %q", c.signal, before, exit, err, out.String())
			}
			waitGone(t, -child.PID)
		}
	}
}

// Fails where an adopted child is not asked to end before it is killed, or not killed where
// it does not end, or its group is not.
func TestAnAdoptedChildIsAskedToEndAndThenKilled(t *testing.T) {
	for _, c := range []struct {
		trap  string
		grace time.Duration
		code  int
		by    syscall.Signal
	}{
		{"trap 'exit 3' TERM", time.Hour, 3, 0},
		{"trap '' TERM", time.Millisecond, -1, syscall.SIGKILL},
	} {
		k := testkit.Keeper(t)
		child := left(t, k, c.trap+waiting)
		now, cancel := context.WithCancel(t.Context())
		cancel()
		for range 2 { // to leave it to another is no end
			var err error
			if _, child, err = k.Run(now, sh(""), child, nil); err != nil || child == nil {
				t.Fatal(child, err)
			}
		}
		exit, again, err := proc.Keeper{}.Run(now, proc.Spec{Name: "sh", Grace: c.grace}, child, nil)
		if err != nil || again != nil || exit.Code != c.code || exit.Signal != c.by {
			t.Errorf("%s: %+v, %v", c.trap, exit, err)
		}
		waitGone(t, -child.PID)
	}
}

// Fails where the number of a child of the program before, which somebody else has by now,
// is taken for the child: that process would be killed.
func TestAStrangerWithTheNumberOfAChildIsLeftAlone(t *testing.T) {
	k := testkit.Keeper(t)
	shell := left(t, k, "setsid sh -c 'echo ready; exec sleep 600' & wait") // its group is its own
	of, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", shell.PID, shell.PID))
	var stranger int
	if _, scanErr := fmt.Sscan(string(of), &stranger); err != nil || scanErr != nil {
		t.Fatal(err, scanErr)
	}
	defer func() {
		_ = syscall.Kill(stranger, syscall.SIGKILL)
		_, _, _ = proc.Keeper{}.Run(canceled(t), proc.Spec{Name: "sh", Stop: syscall.SIGKILL}, shell, nil)
	}()
	if _, _, err := k.Run(t.Context(), proc.Spec{Name: "child"}, &proc.Kept{PID: stranger}, nil); err == nil || !strings.Contains(err.Error(), "wait for child") {
		t.Errorf("it was adopted: %v", err)
	}
	if syscall.Kill(stranger, 0) != nil || zombie(stranger) {
		t.Error("it was killed")
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Fails where a start that fails, because the program is none or the thread has ended, is
// not told or keeps pipes open.
func TestAChildThatCannotStartLeavesNothingOpen(t *testing.T) {
	k := testkit.Keeper(t)
	noise := filepath.Join(t.TempDir(), "noise")
	testkit.Executable(t, noise, []byte("no program"))
	ended := proc.NewThread()
	done := make(chan struct{})
	close(done)
	ended.Serve(done)
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := 0
	for range 5 {
		_, _, err := k.Run(t.Context(), proc.Spec{Name: "noise", Path: noise, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}, nil, nil)
		if !errors.Is(err, syscall.ENOEXEC) {
			t.Error(err)
		}
		spec := sh("exit 0")
		spec.Stdout = &bytes.Buffer{}
		if _, _, err := (proc.Keeper{Thread: ended}).Run(t.Context(), spec, nil, nil); err == nil || !strings.Contains(err.Error(), "start sh: this program is ending") {
			t.Error(err)
		}
		if before == 0 { // the first start opens the poller
			before = open()
		}
	}
	if after := open(); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}
