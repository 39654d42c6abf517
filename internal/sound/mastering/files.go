package mastering

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/file"
)

// tempPrefix begins the names of files in the making. Scanners of media pass
// over names that begin with a dot.
const tempPrefix = ".athir-master-"

// temp is an unfinished file beside its final path. It is locked while in use, so that
// Sweep in another process leaves it alone.
type temp struct{ f *os.File }

func newTemp(dir, ext string) (*temp, error) {
	f, err := os.CreateTemp(dir, tempPrefix+"*"+ext)
	if err != nil {
		return nil, fmt.Errorf("create a file in %s: %w", dir, plainer(err))
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close(), os.Remove(f.Name()))
	}
	return &temp{f}, nil
}

func (t *temp) path() string { return t.f.Name() }

// discard removes the file unless place has moved it.
func (t *temp) discard() {
	if t != nil {
		_ = os.Remove(t.path())
		_ = t.f.Close()
	}
}

// place moves the file to path, synced to disk, or leaves path as it was.
func (t *temp) place(path string) error {
	if err := errors.Join(t.f.Chmod(0o644), t.f.Sync()); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), plainer(err))
	}
	if err := os.Rename(t.path(), path); err != nil {
		return fmt.Errorf("move %s into place: %w", filepath.Base(path), err)
	}
	return errors.Join(plainer(file.SyncDir(filepath.Dir(path))), t.f.Close())
}

// Sweep removes leftovers of killed runs from dir, and returns how many. It leaves
// files that another process is making.
func Sweep(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, plainer(err)
	}
	swept := 0
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && os.Remove(path) == nil {
			swept++
		}
		_ = f.Close()
	}
	return swept, nil
}
