// Package fifo writes PCM into a named pipe for one reader, and never waits for it.
//
// What was seen with pipes, and is closed here: opening one for writing without a reader
// blocks beyond any context; opened for reading and writing, a dead reader is never
// noticed; a full pipe keeps old audio for the next reader; a file of another kind may
// stand in its place.
package fifo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// Holds is how much a pipe holds at least for a reader that stands still: as much as the
	// desk catches up, and so what a machine without time for either costs nothing.
	Holds = 2 * time.Second
	// capacity is that in bytes: each frame of 3840 takes a page. The kernel rounds it up to
	// 512 KiB, 128 frames.
	capacity  = int(Holds/(20*time.Millisecond)) * 4096
	setPipeSz = 1031 // F_SETPIPE_SZ of fcntl(2)
)

// Outcome says what became of a frame.
type Outcome int

// What may become of a frame.
const (
	Written Outcome = iota
	Dropped         // the reader does not keep up
	Nobody          // no reader has the pipe open
)

// Pipe is a named pipe and its writing end.
type Pipe struct {
	path string
	id   fileID

	mu     sync.Mutex
	fd     int // -1: not open
	rest   []byte
	closed bool
	counts Counts
}

// fileID tells our pipe from another that was put in its place.
type fileID struct{ dev, ino uint64 }

// Counts count frames since the pipe was made.
type Counts struct{ Written, Dropped, Nobody uint64 }

// Make makes a pipe. Its folder is made, and closed to other users, as whoever may open
// the pipe for reading steals half of the audio; what stands in its place is removed.
func Make(path string) (*Pipe, error) {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of pipe %s: %w", path, err)
	}
	if err := os.Chmod(folder, 0o700); err != nil {
		return nil, fmt.Errorf("close the folder of pipe %s to other users: %w", path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove what stands in the place of pipe %s: %w", path, err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("make pipe %s: %w", path, err)
	}
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return nil, fmt.Errorf("look at pipe %s: %w", path, err)
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil, fmt.Errorf("%s is no pipe: its folder must be this program's alone", path)
	}
	return &Pipe{path: path, id: fileID{uint64(st.Dev), st.Ino}, fd: -1}, nil
}

// Write writes a frame whole or not at all: samples stay aligned whatever the reader
// does. A frame is at most 4096 bytes, which the kernel writes in one piece.
func (p *Pipe) Write(frame []byte) (Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, err := p.write(frame)
	switch out {
	case Written:
		p.counts.Written++
	case Dropped:
		p.counts.Dropped++
	case Nobody:
		p.counts.Nobody++
	}
	return out, err
}

func (p *Pipe) write(frame []byte) (Outcome, error) {
	if p.closed {
		return Nobody, os.ErrClosed
	}
	if p.fd < 0 {
		if err := p.open(); err != nil {
			if errors.Is(err, syscall.ENXIO) {
				return Nobody, nil
			}
			return Nobody, err
		}
	}
	// Frames beyond the kernel's promise may be written in part: what is left goes first.
	for len(p.rest) > 0 {
		n, err := again(p.fd, p.rest)
		if err != nil {
			return p.failed(err)
		}
		p.rest = p.rest[n:]
	}
	n, err := again(p.fd, frame)
	if err != nil {
		return p.failed(err)
	}
	if n < len(frame) {
		p.rest = append([]byte(nil), frame[n:]...)
	}
	return Written, nil
}

func again(fd int, b []byte) (int, error) {
	for {
		n, err := syscall.Write(fd, b)
		if !errors.Is(err, syscall.EINTR) {
			return max(n, 0), err
		}
	}
}

func (p *Pipe) failed(err error) (Outcome, error) {
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return Dropped, nil
	case errors.Is(err, syscall.EPIPE):
		// The reader is gone, and what it left in the pipe goes with this end.
		p.shut()
		return Nobody, nil
	}
	p.shut()
	return Nobody, fmt.Errorf("write to pipe %s: %w", p.path, err)
}

func (p *Pipe) open() error {
	fd, err := syscall.Open(p.path, syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("open pipe %s: %w", p.path, err)
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil || !p.isOurs(&st) {
		_ = syscall.Close(fd)
		return fmt.Errorf("%s is no longer the pipe that was made: restart, and keep others out of its folder", p.path)
	}
	// A user whose pipes have used up what the kernel allows (EPERM) goes on with less.
	if _, _, no := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), setPipeSz, uintptr(capacity)); no != 0 && no != syscall.EPERM {
		_ = syscall.Close(fd)
		return fmt.Errorf("set the size of pipe %s: %w", p.path, no)
	}
	p.fd = fd
	return nil
}

// isOurs looks at the kind too: a number of a file that is gone is given anew.
func (p *Pipe) isOurs(st *syscall.Stat_t) bool {
	return st.Mode&syscall.S_IFMT == syscall.S_IFIFO && fileID{uint64(st.Dev), st.Ino} == p.id
}

func (p *Pipe) shut() {
	if p.fd >= 0 {
		_ = syscall.Close(p.fd)
	}
	p.fd, p.rest = -1, nil
}

// Release closes the writing end until the next frame: the reader sees the end of the
// feed, and a reader that comes later finds nothing old.
func (p *Pipe) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut()
}

// Counts returns the frames counted so far.
func (p *Pipe) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

// Close closes the pipe and removes it, unless another stands in its place.
func (p *Pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	p.shut()
	var st syscall.Stat_t
	if err := syscall.Lstat(p.path, &st); err != nil || !p.isOurs(&st) {
		return nil //nolint:nilerr // gone already, or not ours
	}
	return os.Remove(p.path)
}
