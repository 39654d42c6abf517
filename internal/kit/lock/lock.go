// Package lock keeps a second station, or a second process of one role, off a data
// directory. The kernel releases a lock when its process ends, however it ends.
package lock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Lock is a lock that is held.
type Lock struct{ file *os.File }

// Acquire takes the named lock of a directory; the error names the process that holds it.
func Acquire(dir, name string) (*Lock, error) {
	path := filepath.Join(dir, name+".lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_CLOEXEC, 0o600) //nolint:gosec // the operator's own directory
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w: it must be writable", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		held, _ := os.ReadFile(path) //nolint:gosec // as above
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("data directory %s is in use by process %s: stop it, or choose another with --data",
				dir, strings.TrimSpace(string(held)))
		}
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintln(f, os.Getpid()) // only for the message above
	}
	return &Lock{f}, nil
}

// File is the locked file, open.
func (l *Lock) File() *os.File { return l.file }

// Release gives the lock back.
func (l *Lock) Release() { _ = l.file.Close() }
