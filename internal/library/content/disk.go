package content

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/file"
)

// disk is every operation that changes the media folder or the archive, so that
// tests can make each of them fail.
type disk interface {
	Lstat(path string) (fs.FileInfo, error)
	MkdirAll(dir string) error
	// Rename never replaces a file: it fails with fs.ErrExist.
	Rename(from, to string) error
	// Copy writes all of from to to, with its time, and syncs it.
	Copy(ctx context.Context, from, to string) error
	Remove(path string) error
	SyncDir(dir string) error
}

// errNotDir: a folder of the path has become a file, so the path does not exist.
const errNotDir = unix.ENOTDIR

type realDisk struct{}

func (realDisk) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }
func (realDisk) MkdirAll(dir string) error              { return os.MkdirAll(dir, 0o755) }
func (realDisk) Remove(path string) error               { return os.Remove(path) }

// Rename is file.RenameNew also where the file system knows neither way.
func (realDisk) Rename(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		if err != nil {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
		}
		return nil
	}
	// This file system lacks it: a file made between the next two lines is overwritten.
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to)
}

func (realDisk) Copy(ctx context.Context, from, to string) error {
	return file.Copy(ctx, from, to, 0o644)
}

func (realDisk) SyncDir(dir string) error { return file.SyncDir(dir) }

// move takes a file to a free path. Wherever it is interrupted, the file is whole at
// one of the two paths or at both, and at most a partOf file lies beside the target.
func move(ctx context.Context, d disk, from, to string, id int64) error {
	if err := d.MkdirAll(filepath.Dir(to)); err != nil {
		return err
	}
	err := d.Rename(from, to)
	if errors.Is(err, unix.EXDEV) {
		part := partOf(to, id)
		if err := d.Copy(ctx, from, part); err != nil {
			_ = d.Remove(part) // else recovery does
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
	if err := d.SyncDir(filepath.Dir(to)); err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(from))
}

// partOf names the unfinished copy of a moving file: hidden, so that no scan takes it
// for music, and marked with its row.
func partOf(to string, id int64) string {
	return filepath.Join(filepath.Dir(to), ".athir-move-"+itoa(id)+".part")
}

// stamp tells a file from one that took its name later.
type stamp struct{ size, mtime int64 }

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime().UnixNano()} }

// inside joins a relative path to a folder and refuses one that would leave it.
func inside(root, rel string) (string, bool) {
	if !filepath.IsLocal(rel) || strings.ContainsRune(rel, 0) {
		return "", false
	}
	return filepath.Join(root, filepath.FromSlash(rel)), true
}
