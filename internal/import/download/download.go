// Package download brings files of a running system onto this disk while they are read.
package download

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/file"
)

// Open downloads a file into a folder of its own below room's, and opens it. A download that
// breaks off goes on or begins anew, and what is read is whole. Closed, it is removed. explain says
// of a fetch that failed what an operator can do.
func Open(ctx context.Context, from *fetch.Client, what fetch.Request, room file.Room, explain func(error) error) (io.ReadCloser, error) {
	dir, err := os.MkdirTemp(room.Dir, "athir-import-*")
	if err != nil {
		return nil, err
	}
	room.Dir = dir
	to := filepath.Join(dir, "file")
	ctx, progress, end := room.Kept(ctx)
	defer end()
	if _, err := from.File(ctx, what, to, progress); err != nil {
		return nil, errors.Join(explain(err), os.RemoveAll(dir))
	}
	f, err := os.Open(to) //nolint:gosec // made above
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return opened{f, dir}, nil
}

// opened is a file that is removed, with its folder, when it is closed.
type opened struct {
	*os.File
	dir string
}

// Close implements io.Closer.
func (o opened) Close() error { return errors.Join(o.File.Close(), os.RemoveAll(o.dir)) }
