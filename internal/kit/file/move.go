package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// RenameNew renames a file to a path at which there is nothing. It never replaces one: where
// something is there, also since a moment ago, the error is fs.ErrExist. Between two disks it
// is unix.EXDEV. A kill leaves the file at one of the two paths, or, where the file system
// cannot rename so, at both.
func RenameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS):
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return linkNew(from, to)
}

// linkNew is RenameNew where the file system does not know how: a link is never made over a
// file.
func linkNew(from, to string) error {
	err := os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("%w: its file system can neither link nor rename without replacing what is there: use another for this folder", err)
	}
	return err
}

// Copy writes all of a file to another, with its time, and syncs it. What was at to is
// replaced as it is written; an end of ctx leaves a part.
func Copy(ctx context.Context, from, to string, perm fs.FileMode) (err error) {
	in, err := os.Open(from) //nolint:gosec // the caller's own file
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, perm) //nolint:gosec // the caller's own folder
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := out.Chmod(perm); err != nil {
		return err
	}
	if _, err := io.Copy(out, until{ctx, in}); err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, info.ModTime())
}

// until reads until a context ends.
type until struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// Same reports that two files hold the same bytes.
func Same(a, b string) (bool, error) {
	x, err := os.Open(a) //nolint:gosec // the caller's own file
	if err != nil {
		return false, err
	}
	defer x.Close()      //nolint:errcheck // only read
	y, err := os.Open(b) //nolint:gosec // the caller's own file
	if err != nil {
		return false, err
	}
	defer y.Close() //nolint:errcheck // only read
	left, right := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errX := io.ReadFull(x, left)
		m, errY := io.ReadFull(y, right)
		if n != m || string(left[:n]) != string(right[:m]) {
			return false, nil
		}
		for _, err := range []error{errX, errY} {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return false, err
			}
		}
		if errX != nil || errY != nil {
			return true, nil // both ended at once: they gave as many bytes
		}
	}
}
