package file

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Replace is WriteAtomic for a file that is another's too: it keeps its owner and its mode,
// and where path is a link, the file that it leads to is replaced. Where the owner cannot be
// kept it is an error, and the old file stays.
func Replace(path string, data []byte) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	temp := target + ".new"
	err = write(temp, data, 0o600)
	if err == nil {
		err = alike(temp, info)
	}
	if err == nil {
		err = os.Rename(temp, target)
	}
	if err != nil {
		_ = os.Remove(temp)
		return err
	}
	return SyncDir(filepath.Dir(target))
}

// alike gives a file the owner and the mode of another.
func alike(path string, of fs.FileInfo) error {
	mine, err := os.Lstat(path)
	if err != nil {
		return err
	}
	want, known := of.Sys().(*syscall.Stat_t)
	have, same := mine.Sys().(*syscall.Stat_t)
	if known && same && (want.Uid != have.Uid || want.Gid != have.Gid) {
		if err := os.Lchown(path, int(want.Uid), int(want.Gid)); err != nil {
			return fmt.Errorf("keep the owner of %s: %w: do it as that user, or as root", of.Name(), err)
		}
	}
	return os.Chmod(path, of.Mode().Perm())
}
