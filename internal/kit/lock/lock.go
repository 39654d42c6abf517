// Package lock keeps a second process of one kind off a folder.
package lock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Lock is held by this process. The kernel releases it when the process ends, however it
// ends.
type Lock struct{ file *os.File }

// ErrHeld means that another process holds the lock.
var ErrHeld = errors.New("held by another process")

// HeldError names the process that holds a lock; it wraps ErrHeld.
type HeldError struct{ Dir, Name, Process string }

func (e *HeldError) Error() string {
	return fmt.Sprintf("data directory %s is in use by process %s: stop it, or choose another with --data", e.Dir, e.Process)
}

func (e *HeldError) Unwrap() error { return ErrHeld }

// Acquire takes the named lock of dir, or returns *HeldError at once. A link in the place of
// its file is refused: what that leads to would be emptied.
func Acquire(dir, name string) (*Lock, error) {
	path := filepath.Join(dir, name+".lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0o600) //nolint:gosec // the operator's own directory
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w: it must be writable", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		held, _ := os.ReadFile(path) //nolint:gosec // as above
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &HeldError{dir, name, strings.TrimSpace(string(held))}
		}
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintln(f, os.Getpid()) // only for the message above
	}
	return &Lock{f}, nil
}

// File is the lock's file, for file.Place.
func (l *Lock) File() *os.File { return l.file }

// Release gives the lock back.
func (l *Lock) Release() { _ = l.file.Close() }
