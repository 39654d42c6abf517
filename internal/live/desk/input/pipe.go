package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/station"
)

// Pipe is a FIFO of PCM in the format of the bus. It is opened so that it neither waits
// for a writer nor ends with one: writers come and go.
type Pipe struct{ Path string }

const (
	// lookAgain is the pause between two looks at a FIFO that nobody writes to; a writer that
	// comes waits for so long at most, and its pipe holds more.
	lookAgain = 10 * time.Millisecond
	// checkPath is how often it is seen whether the path still leads to the FIFO that is open.
	checkPath = 250 * time.Millisecond
)

// cutter is told where a writer ended: the next does not go on in the middle of a frame.
type cutter interface{ Cut() }

// Run reads until ctx ends or the path no longer leads to the FIFO. Errors:
// station.ErrInvalid where it is none, station.ErrConflict where another process reads it.
func (p *Pipe) Run(ctx context.Context, out io.Writer) error {
	f, err := p.open()
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Now()) })
	defer stop()
	buf := make([]byte, 16<<10)
	checked := time.Now()
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		_ = f.SetReadDeadline(time.Now().Add(checkPath))
		if ctx.Err() != nil { // it ended between the deadline of stop and this one
			return ctx.Err()
		}
		n, err := f.Read(buf)
		if n > 0 {
			if _, err := out.Write(buf[:n]); err != nil {
				return err
			}
			continue
		}
		switch {
		case errors.Is(err, io.EOF): // nobody writes
			if c, ok := out.(cutter); ok {
				c.Cut()
			}
			if err := retry.Pause(ctx, lookAgain); err != nil {
				return err
			}
		case errors.Is(err, os.ErrDeadlineExceeded):
		case err != nil:
			return fmt.Errorf("read %s: %w", p.Path, err)
		}
		if time.Since(checked) >= checkPath {
			checked = time.Now()
			if err := p.same(f); err != nil {
				return err
			}
		}
	}
}

// open opens the FIFO and claims it: a second reader would get half of the bytes.
func (p *Pipe) open() (*os.File, error) {
	f, err := os.OpenFile(p.Path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open pipe: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode()&os.ModeNamedPipe == 0 {
		err = fmt.Errorf("open pipe: %s is no FIFO: remove it, and let the WHIP server make one: %w", p.Path, station.ErrInvalid)
	}
	if err == nil {
		if raw, failed := f.SyscallConn(); failed == nil {
			failed = raw.Control(func(fd uintptr) { err = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) })
			if failed != nil {
				err = failed
			}
		}
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = fmt.Errorf("open pipe: another process reads %s: %w", p.Path, station.ErrConflict)
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// same tells whether the path still leads to the FIFO that is open: a WHIP server that
// starts again makes a new one.
func (p *Pipe) same(f *os.File) error {
	open, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(p.Path)
	if err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	if a, ok := open.Sys().(*syscall.Stat_t); ok {
		if b, ok := now.Sys().(*syscall.Stat_t); ok && (a.Ino != b.Ino || a.Dev != b.Dev) {
			return errReplaced
		}
	}
	return nil
}

var errReplaced = errors.New("the pipe was made anew")
