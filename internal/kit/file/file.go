// Package file replaces files whole and reports the free space of a disk. It is for what
// fits into memory and may be read while it is replaced. The playlist on air is not
// written by it once it is there: the engine wants the same inode (onair/delivery).
package file

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteAtomic puts data in the place of the file at path: who opens it finds the
// old file or the new one, whole, after a power cut too. The data is synced before
// the rename, and the folder after it; when WriteAtomic returns nil both are on
// disk. On an error the old file is in its place, unless only the folder's sync
// failed. The mode is perm, whatever the umask.
//
// Two may not write one path at once: the file in the making is path.new, which a
// crash leaves behind and the next call uses again.
func WriteAtomic(path string, data []byte, perm fs.FileMode) error {
	temp := path + ".new"
	if err := write(temp, data, perm); err != nil {
		_ = os.Remove(temp)
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Refresh is WriteAtomic for a file that is made anew from the same settings before every
// start. One that holds data already is left alone. Where a full or read-only disk keeps
// it from being written and an older one is there, that stays: stale then says why, and
// there is no error.
func Refresh(path string, data []byte, perm fs.FileMode) (stale, err error) {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) { //nolint:gosec // the caller's own file
		if info, err := os.Stat(path); err == nil && info.Mode().Perm() == perm {
			return nil, nil
		}
	}
	err = WriteAtomic(path, data, perm)
	if err == nil || !Full(err) {
		return nil, err
	}
	if info, missing := os.Stat(path); missing == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return err, nil
	}
	return nil, err
}

// Full reports whether an error says that a disk takes no more: it is full, the user's
// quota is, or it is read-only.
func Full(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EROFS)
}

func write(path string, data []byte, perm fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, perm) //nolint:gosec // the caller's own folder
	if err != nil {
		return err
	}
	// The mode first: what is secret must not be read through that of a leftover.
	err = f.Chmod(perm)
	if err == nil {
		_, err = f.Write(data)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// Settle gives a file that another program has written its mode, and returns when
// its data is on disk: it can be renamed to its place.
func Settle(path string, perm fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the caller's own file
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(perm), f.Sync(), f.Close())
}

// SyncDir returns when the names in a folder are on disk as they are now. Where a
// file system has nothing to sync that is no error.
func SyncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the caller's own folder
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// leastRoom is what a program needs of a disk to write what it must, in bytes.
const leastRoom = 1 << 20

// OutOfRoom reports that the disk of a folder has no room for a program to write what it
// must.
func OutOfRoom(dir string) bool {
	free, size, err := Space(dir)
	return err == nil && size > 0 && free < leastRoom
}

// Space is how many bytes this user may still write on the disk of a folder, and
// how many the disk has.
func Space(dir string) (free, size uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return st.Bavail * uint64(st.Bsize), st.Blocks * uint64(st.Bsize), nil //nolint:gosec // a block has a size
}
