package origin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// temporaries begins the name of a folder for files on their way.
const temporaries = "files-"

// temporary is such a folder. It is locked while an import uses it, so that the next one can tell
// what a kill has left behind.
type temporary struct {
	path string
	lock *os.File
}

// newTemporary makes one, and removes those that nobody uses.
func newTemporary(dir string) (*temporary, error) {
	sweep(dir)
	for {
		path, err := os.MkdirTemp(dir, temporaries+"*")
		if err != nil {
			return nil, err
		}
		f, err := locked(path)
		if err == nil {
			return &temporary{path, f}, nil
		}
		// Another import that begins now may have taken it for left behind.
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, os.RemoveAll(path))
		}
	}
}

// locked opens and locks a folder, if it is still there afterwards.
func locked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		var own, there fs.FileInfo
		if own, err = f.Stat(); err == nil {
			if there, err = os.Stat(path); err == nil && !os.SameFile(own, there) {
				err = fs.ErrNotExist
			}
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes what is not locked; what cannot be removed is tried again by the next import.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, temporaries+"*"))
	for _, path := range left {
		if f, err := locked(path); err == nil {
			_ = os.RemoveAll(path)
			_ = f.Close()
		}
	}
}

// remove ends it.
func (t *temporary) remove() error { return errors.Join(os.RemoveAll(t.path), t.lock.Close()) }
