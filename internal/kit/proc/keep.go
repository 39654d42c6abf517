package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Kept is a running child as the next program of this process gets it.
type Kept struct {
	PID   int
	Began time.Time
	// Out and Err are where its output is read; nil where it writes to a file by itself.
	Out, Err *os.File
}

// close closes what its output is read from.
func (k *Kept) close() {
	for _, f := range []*os.File{k.Out, k.Err} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// Keeper runs children that may outlive the program that started them, though not the
// process: see kit/reexec.
type Keeper struct {
	// Thread starts them; nil: they end with the program.
	Thread *Thread
	// Leaving says, once the context has ended, that another program takes this process
	// over: a child then goes on. Nil: none does.
	Leaving func() bool
}

// Run is the function Run. A child that is left to the next program, running, is returned
// in place of how it ended; it is nil in all other cases. An adopted child is not started: it was left by the program before, and of spec
// only the name, its writers, Stop and Grace count.
func (k Keeper) Run(ctx context.Context, spec Spec, adopted *Kept, started func(pid int)) (Exit, *Kept, error) {
	if k.Thread == nil && adopted == nil {
		exit, err := Run(ctx, spec, started)
		return exit, nil, err
	}
	child := adopted
	if child == nil {
		var err error
		if child, err = k.start(spec); err != nil {
			return Exit{}, nil, err
		}
	}
	if started != nil {
		started(child.PID)
	}
	end, err := openEnd(child.PID)
	if err != nil {
		child.close()
		return Exit{}, nil, fmt.Errorf("watch %s: %w", spec.Name, err)
	}
	defer end.Close() //nolint:errcheck // only waited for
	var reading sync.WaitGroup
	read(&reading, child.Out, spec.Stdout)
	read(&reading, child.Err, spec.Stderr)

	gone, stopped := make(chan struct{}), make(chan struct{})
	left := false
	go func() {
		defer close(stopped)
		select {
		case <-gone:
			return
		case <-ctx.Done():
		}
		if left = k.Leaving != nil && k.Leaving(); left {
			_ = end.SetReadDeadline(time.Unix(1, 0)) // wakes who waits
			return
		}
		stopGroup(ctx, spec, child.PID, gone)
	}()
	status, err := waitEnd(end, child.PID)
	close(gone)
	<-stopped
	if left && errors.Is(err, os.ErrDeadlineExceeded) {
		stopReading(child, time.Unix(1, 0))
		reading.Wait()
		return Exit{}, child, nil
	}
	// Whatever the child left behind in its group goes too. Where it was no child, the group
	// is another's.
	if err == nil {
		_ = syscall.Kill(-child.PID, syscall.SIGKILL)
	}
	stopReading(child, time.Now().Add(DefaultDrain))
	reading.Wait()
	child.close()
	if err != nil {
		return Exit{}, nil, fmt.Errorf("wait for %s: %w", spec.Name, err)
	}
	return exitBy(status, child.PID, time.Since(child.Began)), nil, nil
}

// start starts a child on the thread that lives on.
func (k Keeper) start(spec Spec) (*Kept, error) {
	cmd, err := command(spec)
	if err != nil {
		return nil, err
	}
	child := &Kept{Began: time.Now()}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	pipe := func(w io.Writer) (io.Writer, *os.File, error) {
		if f, is := w.(*os.File); is || w == nil {
			return fileOrNil(f), nil, nil
		}
		here, there, err := os.Pipe()
		if err == nil {
			theirs = append(theirs, there)
		}
		return there, here, err
	}
	if cmd.Stdout, child.Out, err = pipe(spec.Stdout); err != nil {
		return nil, err
	}
	if cmd.Stderr, child.Err, err = pipe(spec.Stderr); err != nil {
		child.close()
		return nil, err
	}
	begun := k.Thread.Do(func() {
		if err = cmd.Start(); err == nil {
			settle(spec, cmd.Process.Pid)
		}
	})
	if !begun {
		err = errors.New("this program is ending")
	}
	if err != nil {
		child.close()
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	child.PID = cmd.Process.Pid
	return child, cmd.Process.Release() // we wait by ourselves
}

func fileOrNil(f *os.File) io.Writer {
	if f == nil {
		return nil
	}
	return f
}

// read copies a child's output until it ends or the deadline of from passes.
func read(all *sync.WaitGroup, from *os.File, to io.Writer) {
	if from == nil {
		return
	}
	if to == nil {
		to = io.Discard
	}
	_ = from.SetReadDeadline(time.Time{})
	all.Go(func() { _, _ = io.Copy(to, onlyRead{from}) })
}

// onlyRead keeps io.Copy from moving bytes inside the kernel, where some could be on their
// way when the reading stops.
type onlyRead struct{ io.Reader }

func stopReading(child *Kept, at time.Time) {
	for _, f := range []*os.File{child.Out, child.Err} {
		if f != nil {
			_ = f.SetReadDeadline(at)
		}
	}
}

// openEnd returns a descriptor that becomes readable when a child has ended.
func openEnd(pid int) (*os.File, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "child"), nil //nolint:gosec // not negative
}

// waitEnd waits until a child has ended, or the deadline of end passes.
func waitEnd(end *os.File, pid int) (status unix.WaitStatus, err error) {
	conn, err := end.SyscallConn()
	if err != nil {
		return 0, err
	}
	var waitErr error
	err = conn.Read(func(uintptr) bool {
		for {
			var got int
			got, waitErr = unix.Wait4(pid, &status, unix.WNOHANG, nil)
			if !errors.Is(waitErr, unix.EINTR) {
				return got == pid || waitErr != nil
			}
		}
	})
	return status, errors.Join(err, waitErr)
}

func exitBy(status unix.WaitStatus, pid int, d time.Duration) Exit {
	e := Exit{PID: pid, Code: status.ExitStatus(), Duration: d}
	if status.Signaled() {
		e.Code, e.Signal = -1, status.Signal()
	}
	return e
}
