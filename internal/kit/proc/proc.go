// Package proc is the one place where programs are run. Commands are argument
// lists, never shell strings. Every child leads its own process group, dies
// when this process dies (even by SIGKILL), and how it ended is reported.
//
// proc knows nothing of restarts or radio: see node/supervise for those.
package proc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// DefaultGrace is how long a child may take to end after its stop signal
// before its whole group is killed.
const DefaultGrace = 5 * time.Second

// DefaultDrain is how long after a child's end the rest of its output is read where
// it is not needed whole: a grandchild that keeps a pipe open must not hold up the
// restart of a server.
const DefaultDrain = time.Second

// DrainWhole is a Spec.Drain far beyond what reading the rest takes on a machine that is
// short of processor time.
const DrainWhole = time.Minute

// Air is the niceness of what must not wait for anything else that we start: the programs
// that the station is heard through.
const Air = -10

// Spec describes a program to run.
type Spec struct {
	Name   string   // short, for messages: "icecast"
	Path   string   // program; looked up in PATH when it has no slash
	As     string   // the name by which it knows itself, its argument 0; Path when empty
	Args   []string // without the program's own name
	Dir    string
	Env    []string // added to the parent's environment, KEY=VALUE
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// User runs the child under another user; nil keeps the parent's.
	User *syscall.Credential
	// Nice is the child's niceness, from Air to 19. One below this process's own is for
	// root, or where RLIMIT_NICE permits; elsewhere the child keeps ours.
	Nice int
	// Files is how many files the child may have open, as far as this process's hard limit
	// permits; 0 leaves the limit as it is.
	Files uint64
	// Memory bounds what the child may have of its own, in bytes (RLIMIT_DATA): beyond it an
	// allocation fails. 0 leaves the limit as it is.
	Memory uint64
	// Stop is the signal that asks it to end; SIGTERM when zero.
	Stop syscall.Signal
	// Grace is the time from Stop to SIGKILL of the group; DefaultGrace when zero.
	Grace time.Duration
	// Note is what whoever runs it should know, for the log: that it starts with an older
	// configuration, say.
	Note string
	// Drain, when not zero, says that the output is needed whole, and how long after
	// the child's end reading the rest may take: beyond that Run's error is ErrCut.
	// An *os.File needs none, the child writes to it itself.
	Drain time.Duration
}

// Exit says how a child ended.
type Exit struct {
	PID      int
	Code     int            // exit code, -1 when a signal ended it
	Signal   syscall.Signal // 0 unless a signal ended it
	Duration time.Duration
}

// OK reports an exit with code 0.
func (e Exit) OK() bool { return e.Code == 0 && e.Signal == 0 }

func (e Exit) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("killed by %s after %s", e.Signal, e.Duration.Round(time.Millisecond))
	}
	return fmt.Sprintf("exit code %d after %s", e.Code, e.Duration.Round(time.Millisecond))
}

// ErrCut says that a program ended well and its output could not be read to the
// end.
var ErrCut = errors.New("its output could not be read to the end")

// MissingError says that a program is not installed.
type MissingError struct{ Program string }

func (e *MissingError) Error() string {
	pkg := debianPackage(e.Program)
	return fmt.Sprintf("program %q is not installed: run 'apt-get install %s' or 'make deps'", e.Program, pkg)
}

// debianPackage names the package a program comes in, where the two differ.
func debianPackage(program string) string {
	switch program {
	case "nginx":
		return "nginx-light libnginx-mod-rtmp"
	case "ffprobe":
		return "ffmpeg"
	case "fpcalc":
		return "libchromaprint-tools"
	case "aubiotrack":
		return "aubio-tools"
	}
	return program
}

// Look finds a program in PATH. The error is a *MissingError that names the
// Debian package to install.
func Look(program string) (string, error) {
	// Debian keeps daemons where an ordinary user's PATH may not reach.
	if p, err := exec.LookPath(program); err == nil {
		return p, nil
	}
	if !strings.Contains(program, "/") {
		for _, dir := range []string{"/usr/local/sbin/", "/usr/sbin/", "/sbin/"} {
			if p, err := exec.LookPath(dir + program); err == nil {
				return p, nil
			}
		}
	}
	return "", &MissingError{Program: program}
}

// Run starts the program and returns once it and its process group are gone.
// When ctx ends, the child is asked to stop and, after its grace, killed; the
// error is then nil: how it ended is in Exit. An error means that it never started,
// or that its output is not whole: see Spec.Drain.
// started, when not nil, is called with the process id right after the start.
func Run(ctx context.Context, spec Spec, started func(pid int)) (Exit, error) {
	cmd, err := command(spec)
	if err != nil {
		return Exit{}, err
	}
	cmd.Stdout, cmd.Stderr = spec.Stdout, spec.Stderr
	if cmd.WaitDelay = spec.Drain; cmd.WaitDelay == 0 {
		cmd.WaitDelay = DefaultDrain
	}

	// The kernel sends Pdeathsig when the *thread* that forked ends, so this
	// thread must stay ours until the child is gone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return Exit{}, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	pid := cmd.Process.Pid
	settle(spec, pid)
	if started != nil {
		started(pid)
	}

	gone := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stopGroup(ctx, spec, pid, gone)
	}()
	err = cmd.Wait()
	close(gone)
	<-stopped
	// Whatever the child left behind in its group goes too.
	_ = syscall.Kill(-pid, syscall.SIGKILL)

	if errors.Is(err, exec.ErrWaitDelay) && spec.Drain != 0 && ctx.Err() == nil {
		err = ErrCut
	}
	return exitOf(cmd.ProcessState, pid, time.Since(begin)), waitError(spec.Name, err)
}

// command is a child that is not started yet, without its output.
func command(spec Spec) (*exec.Cmd, error) {
	path, err := Look(spec.Path)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, spec.Args...) //nolint:gosec // argument list, no shell
	cmd.Args[0] = cmp.Or(spec.As, cmd.Args[0])
	cmd.Dir, cmd.Stdin = spec.Dir, spec.Stdin
	cmd.Env = append(environ(), spec.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:    true,
		Pdeathsig:  syscall.SIGKILL,
		Credential: spec.User,
	}
	return cmd, nil
}

// settle gives a child that has just started its priority and limits.
func settle(spec Spec, pid int) {
	if spec.Nice != 0 {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, pid, spec.Nice)
	}
	if spec.Files != 0 {
		hard := HardFiles()
		_ = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: min(spec.Files, hard), Max: hard}, nil) // the old limit holds
	}
	if spec.Memory != 0 {
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: spec.Memory, Max: spec.Memory}, nil) // the old limit holds
	}
}

// HardFiles is how many files a child of this process may have open at most.
func HardFiles() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return limit.Max
}

// stopGroup asks the child to end once ctx is done, and insists after the grace.
func stopGroup(ctx context.Context, spec Spec, pid int, gone <-chan struct{}) {
	select {
	case <-gone:
		return
	case <-ctx.Done():
	}
	sig, grace := spec.Stop, spec.Grace
	if sig == 0 {
		sig = syscall.SIGTERM
	}
	if grace == 0 {
		grace = DefaultGrace
	}
	_ = syscall.Kill(pid, sig)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-gone:
	case <-timer.C:
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}

func exitOf(state *os.ProcessState, pid int, d time.Duration) Exit {
	e := Exit{PID: pid, Code: state.ExitCode(), Duration: d}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = ws.Signal()
	}
	return e
}

// waitError keeps only what is not already told by Exit.
func waitError(name string, err error) error {
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return fmt.Errorf("wait for %s: %w", name, err)
}

// Output runs a short program to its end and returns what it wrote to standard
// output, at most limit bytes. A non-zero exit is an error that carries the
// last line of its standard error.
func Output(ctx context.Context, spec Spec, limit int) ([]byte, error) {
	out, errs := &capped{limit: limit}, &capped{limit: 64 << 10}
	spec.Stdout, spec.Stderr, spec.Drain = out, errs, DrainWhole
	exit, err := Run(ctx, spec, nil)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", spec.Name, context.Cause(ctx))
	case !exit.OK():
		return nil, fmt.Errorf("%s: %s: %s", spec.Name, exit, lastLine(errs.kept))
	case out.over:
		return nil, fmt.Errorf("%s: output is larger than %d bytes", spec.Name, limit)
	}
	return out.kept, nil
}

// capped is a buffer that keeps the first limit bytes and swallows the rest,
// so that a talkative child neither blocks nor fills memory.
type capped struct {
	kept  []byte
	limit int
	over  bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.limit - len(c.kept)
	c.over = c.over || len(p) > room
	c.kept = append(c.kept, p[:min(len(p), room)]...)
	return len(p), nil
}

func lastLine(b []byte) string {
	b = bytes.TrimSpace(b)
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		b = b[i+1:]
	}
	return string(b)
}
