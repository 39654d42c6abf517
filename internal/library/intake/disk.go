package intake

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/file"
)

// disk is every operation that changes the folder of arrivals or the media folder, so that
// tests can make each of them fail.
type disk interface {
	Lstat(path string) (fs.FileInfo, error)
	Mkdir(dir string) error       // no error where it is there
	Rename(from, to string) error // as file.RenameNew
	Copy(ctx context.Context, from, to string) error
	Settle(path string) error // gives a file the mode of media files
	Remove(path string) error
	SyncDir(dir string) error
}

type realDisk struct{}

// mediaMode lets the engine, which may be another user, read what is placed.
const mediaMode = 0o644

func (realDisk) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }
func (realDisk) Rename(from, to string) error           { return file.RenameNew(from, to) }
func (realDisk) Settle(path string) error               { return file.Settle(path, mediaMode) }
func (realDisk) Remove(path string) error               { return os.Remove(path) }
func (realDisk) SyncDir(dir string) error               { return file.SyncDir(dir) }

// Mkdir makes one folder, and none above it: a media folder that is away stays away.
func (realDisk) Mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (realDisk) Copy(ctx context.Context, from, to string) error {
	return file.Copy(ctx, from, to, mediaMode)
}

// move takes a file to a path at which there is nothing; fs.ErrExist says that there is
// something by now. Wherever it is interrupted, the file is whole at one of the two paths or
// at both, and at most a part of a name that scans pass over lies beside the target.
func move(ctx context.Context, d disk, from, to, id string) error {
	err := d.Rename(from, to)
	if errors.Is(err, unix.EXDEV) {
		part := partOf(to, id)
		if err := d.Copy(ctx, from, part); err != nil {
			_ = d.Remove(part) // else the next start does
			return err
		}
		if err := d.Rename(part, to); err != nil {
			_ = d.Remove(part)
			return err
		}
		if err := d.SyncDir(filepath.Dir(to)); err != nil {
			return err
		}
		err = d.Remove(from)
	}
	if err != nil {
		return err
	}
	return errors.Join(d.SyncDir(filepath.Dir(to)), d.SyncDir(filepath.Dir(from)))
}

// partOf names the unfinished copy of an arrival: hidden, so that no scan takes it for music.
func partOf(to, id string) string {
	return filepath.Join(filepath.Dir(to), ".athir-intake-"+id+".part")
}

// there reports whether there is anything at a path.
func there(d disk, path string) (bool, error) {
	_, err := d.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

// onOneDisk reports that files can be renamed from one folder to another; false where that
// cannot be told.
func onOneDisk(a, b string) bool {
	var x, y syscall.Stat_t
	return syscall.Stat(a, &x) == nil && syscall.Stat(b, &y) == nil && x.Dev == y.Dev
}
