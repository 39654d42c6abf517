package delivery

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/onair/playlist"
)

// overwrite replaces the content of an existing file: one pwrite of the whole,
// same inode, no truncation, on disk when it returns.
//
// A file of a wrong size was not made by us. It is put right at the price
// of one more event: room for a short one is reserved first, so that a full
// disk cannot cut the write; the rest of a long one is cut off last, so that
// the engine's first reload already begins with the new head.
func overwrite(path string, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("not a regular file (mode %s): move it out of the way", info.Mode())
	}
	fd := int(f.Fd()) //nolint:gosec // a descriptor fits an int
	if info.Size() < playlist.Size {
		const keepSize = 1 // FALLOC_FL_KEEP_SIZE
		if err := syscall.Fallocate(fd, keepSize, 0, playlist.Size); err != nil && !errors.Is(err, syscall.EOPNOTSUPP) {
			return err
		}
	}
	if err := writeWhole(f, fd, data); err != nil {
		return err
	}
	if info.Size() > playlist.Size {
		if err := f.Truncate(playlist.Size); err != nil {
			return err
		}
	}
	return syscall.Fdatasync(fd)
}

// writeWhole is one pwrite. Where it comes out short, on a copy-on-write file
// system without room, the old bytes are put back before it says so.
func writeWhole(f *os.File, fd int, data []byte) error {
	old := make([]byte, len(data))
	kept, err := f.ReadAt(old, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	n, err := pwrite(fd, data)
	if n == len(data) {
		return nil
	}
	if err == nil {
		err = syscall.ENOSPC // a short write of a regular file has no other cause
	}
	if n > 0 && kept > 0 {
		_, back := pwrite(fd, old[:min(n, kept)])
		err = errors.Join(err, back)
	}
	return err
}

func pwrite(fd int, data []byte) (int, error) {
	for {
		n, err := syscall.Pwrite(fd, data, 0)
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// identity tells one file from another that took its name. The inode's number
// alone does not: ext4 gives it to the next file created.
type identity struct {
	major, minor uint32
	ino          uint64
	born         unix.StatxTimestamp // zero where the file system keeps none
}

func identify(path string) (identity, error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return identity{}, err
	}
	return identity{major: st.Dev_major, minor: st.Dev_minor, ino: st.Ino, born: st.Btime}, nil
}
