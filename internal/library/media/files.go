package media

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A file can change between the walk and its opening, and a user who may write to
// the media folder may not be allowed to read the rest of the machine. So every
// file is checked when opened: it lies inside the folder (unless
// Options.FollowLinks), is a plain file, and opening it does not block.

var (
	errLinksOut = &refusal{reason: "links out of the media folder: mount or copy here what it stands for", passes: true}
	errNoFile   = &refusal{reason: "not a file but a folder, pipe, socket or device", passes: true}
)

// files opens what lies in the media folder.
type files struct {
	root        *os.Root
	realRoot    string // without links
	followLinks bool
}

func openFiles(root string, followLinks bool) (*files, error) {
	real, err := filepath.EvalSymlinks(root)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fmt.Errorf("media folder %s: %w", root, unwrapPath(err))
	}
	dir, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("media folder %s: %w", root, unwrapPath(err))
	}
	return &files{dir, real, followLinks}, nil
}

func (f *files) close() { _ = f.root.Close() }

// inside says whether a path without links lies in the media folder.
func (f *files) inside(real string) bool {
	return real == f.realRoot || strings.HasPrefix(real, strings.TrimSuffix(f.realRoot, "/")+"/")
}

// open opens a plain file. Errors: a *refusal, or those of the system.
func (f *files) open(path string) (*os.File, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, err
	}
	if !f.inside(real) && !f.followLinks {
		return nil, errLinksOut
	}
	return f.openReal(real)
}

// openCredit opens a credits file beside audio. Its text is published, so links
// that leave the folder are refused even under Options.FollowLinks.
func (f *files) openCredit(path string) (*os.File, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if !f.inside(real) && (!f.followLinks || real != filepath.Join(dir, filepath.Base(path))) {
		return nil, errLinksOut
	}
	return f.openReal(real)
}

func (f *files) openReal(real string) (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	var file *os.File
	var err error
	if f.inside(real) {
		var rel string
		if rel, err = filepath.Rel(f.realRoot, real); err == nil {
			file, err = f.root.OpenFile(rel, flags, 0)
		}
	} else {
		file, err = os.OpenFile(real, flags, 0) //nolint:gosec // Options.FollowLinks
	}
	switch {
	case errors.Is(err, syscall.ELOOP): // a link again since it was resolved
		return nil, errLinksOut
	case errors.Is(err, syscall.ENXIO): // a socket, or a device without its driver
		return nil, errNoFile
	case err != nil:
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

const (
	maxSize  = 8 << 30 // days of audio
	maxDense = 1 << 20 // below it holes cost nothing
)

// whole refuses sparse and absurdly large files: decoding one would take minutes
// and gigabytes without a result.
func whole(file *os.File, info fs.FileInfo) error {
	if info.Size() > maxSize {
		return &refusal{reason: "larger than 8 GiB", kind: Oversize}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Size() <= maxDense || st.Blocks*512 >= info.Size()/2 {
		return nil
	}
	// Few blocks may mean compression, or a file system that does not count them.
	if hole, err := file.Seek(0, unix.SEEK_HOLE); err != nil || hole >= info.Size() {
		return nil //nolint:nilerr // one that cannot tell
	}
	return &refusal{reason: "has holes: not copied whole?", kind: Damaged}
}
