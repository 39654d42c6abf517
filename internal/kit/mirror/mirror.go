// Package mirror keeps copies of files in a folder, which may be a network's, slow, full or
// away: each once per contents, and whole under its name or not there. A copy's name has a
// part of its sum, FOLDER/chat/media/ab/abcd~SUM, by which what a disk made of it is seen.
//
// It does not know what the files are, makes no folder to copy to, and starts nothing.
package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	piece = 1 << 20 // bytes between two looks at whether others need the target
	// settled is how long a .part, which an upload is while it is under way, must have rested.
	settled = 30 * time.Second
	// coarse is how far a target may round the time of a file, and small the size up to which
	// one whose time it has rounded is read again to be sure.
	coarse, small = 2 * time.Second, 256 << 10
	// mostFit is the size of a file for Fit.
	mostFit = 16 << 20
	// making is the file that is being copied.
	making = ".new"
)

// File is a plain file to be copied.
type File struct {
	Name     string // below the folder, with slashes
	Path     string
	Bytes    int64
	Mode     fs.FileMode
	Modified time.Time
}

// Mirror copies what List has to Folder within To. One goroutine uses it, but for Waiting.
type Mirror struct {
	To     string // must be there: a folder that is made where a disk is not mounted copies nothing
	Folder string
	// List returns the files that are to be there, and which others need not stay.
	List func() (files []File, spare func(name string) bool, err error)
	// Keep is how long a copy stays that is spare.
	Keep time.Duration
	// Fit refuses contents: the copy before stays. Files over 16 MiB are refused then, too. May
	// be nil.
	Fit func(name string, text []byte) error
	// Hold may wait before each piece. May be nil.
	Hold func(ctx context.Context) error

	has   map[string]copied    // by name; nil: not read from the target yet
	since map[string]time.Time // when copies were first seen to be spare
	unfit map[string]time.Time // files that are not fit, by their time
	waits atomic.Int64
}

type copied struct {
	stored   string // within To
	sum      string
	bytes    int64
	modified time.Time
	exact    bool // modified is the file's own, not what the target made of it
}

var errMoved = errors.New("it changed while it was copied")

// Forget has the next Scan look at what the folder has: it may be another by now.
func (m *Mirror) Forget() { m.has = nil }

// Waiting is how many files are still to be copied.
func (m *Mirror) Waiting() int { return int(m.waits.Load()) }

// Scan copies what the folder has not, the newest first, and removes what has been spare for
// long. It touches the target only where there is something to do. After an error the next
// call begins with what the folder has.
func (m *Mirror) Scan(ctx context.Context) (err error) {
	files, spare, err := m.List()
	if err != nil {
		return err
	}
	t := &target{dir: m.To}
	defer func() {
		if err = errors.Join(err, t.close()); err != nil {
			m.Forget()
		}
	}()
	if m.has == nil {
		if err := m.load(t); err != nil {
			return err
		}
	}
	here := map[string]bool{}
	var wanted []File
	for _, f := range files {
		if here[f.Name] = true; m.lacks(f) {
			wanted = append(wanted, f)
		}
	}
	slices.SortFunc(wanted, func(a, b File) int { return b.Modified.Compare(a.Modified) })
	m.waits.Store(int64(len(wanted)))
	var unread error
	for _, f := range wanted {
		in, err := os.Open(f.Path)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // removed meanwhile
				unread = err
			}
			continue
		}
		err = errors.Join(m.take(ctx, t, f, in), in.Close())
		switch {
		case errors.Is(err, unix.ENAMETOOLONG) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EILSEQ):
			unread = err // its name alone does not fit there: it keeps no other out
			continue
		case err != nil && !errors.Is(err, errMoved):
			return err
		}
		m.waits.Add(-1)
	}
	if unread != nil {
		return unread
	}
	m.waits.Store(0)
	return m.prune(t, here, spare)
}

// target is the folder while it is worked in. It is let go in between, so that its disk can be
// unmounted.
type target struct {
	dir  string
	root *os.Root
}

func (t *target) open() (root *os.Root, err error) {
	if t.root == nil {
		t.root, err = os.OpenRoot(t.dir)
	}
	return t.root, err
}

func (t *target) close() error {
	if t.root == nil {
		return nil
	}
	return t.root.Close()
}

// load reads from the target what it has.
func (m *Mirror) load(t *target) error {
	root, err := t.open()
	if err != nil {
		return err
	}
	if err := root.Mkdir(m.Folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	has := map[string]copied{}
	if err := each(root, m.Folder, func(name string, c copied) error {
		old, twice := has[name]
		if twice && old.modified.After(c.modified) {
			old, c = c, old
		}
		if has[name] = c; twice { // it was killed between the new and the old
			return root.Remove(old.stored)
		}
		return nil
	}); err != nil {
		return err
	}
	m.has, m.since = has, map[string]time.Time{}
	return nil
}

// lacks reports a file that the folder has not, or has otherwise.
func (m *Mirror) lacks(f File) bool {
	if strings.HasSuffix(f.Name, ".part") && time.Since(f.Modified) < settled {
		return false
	}
	if at, is := m.unfit[f.Name]; is && at.Equal(f.Modified) {
		return false
	}
	c, is := m.has[f.Name]
	if !is || c.bytes != f.Bytes {
		return true
	}
	if c.exact || f.Bytes <= small {
		return !c.modified.Equal(f.Modified)
	}
	return c.modified.Sub(f.Modified).Abs() > coarse
}

// take copies one file.
func (m *Mirror) take(ctx context.Context, t *target, f File, in *os.File) error {
	old, is := m.has[f.Name]
	if is && old.bytes == f.Bytes { // its time alone may be another, or the target keeps none
		sum, err := m.copy(ctx, io.Discard, in, nil)
		if err != nil {
			return err
		}
		if sum == old.sum {
			old.modified, old.exact = f.Modified, true
			m.has[f.Name] = old
			return nil
		}
	}
	if fit, err := m.fits(f, in); err != nil || !fit {
		return err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	root, err := t.open()
	if err != nil {
		return err
	}
	scrap := path.Join(m.Folder, making)
	out, err := root.OpenFile(scrap, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	sum, err := m.copy(ctx, out, in, out.Sync)
	_ = out.Chmod(f.Mode) // some targets have no modes, or times
	if err = errors.Join(err, out.Close()); err == nil {
		if info, serr := os.Stat(f.Path); serr != nil || info.Size() != f.Bytes || !info.ModTime().Equal(f.Modified) {
			err = errMoved
		}
	}
	if err != nil {
		_ = root.Remove(scrap)
		return err
	}
	_ = root.Chtimes(scrap, f.Modified, f.Modified)
	stored := path.Join(m.Folder, f.Name) + "~" + sum
	if err := errors.Join(root.MkdirAll(path.Dir(stored), 0o700), root.Rename(scrap, stored), syncDir(root, path.Dir(stored))); err != nil {
		return err
	}
	m.has[f.Name] = copied{stored: stored, sum: sum, bytes: f.Bytes, modified: f.Modified, exact: true}
	if is && old.stored != stored {
		return root.Remove(old.stored)
	}
	return nil
}

// fits reports whether Fit takes a file; one that it does not is left alone until it changes.
func (m *Mirror) fits(f File, in io.ReaderAt) (bool, error) {
	if m.Fit == nil {
		return true, nil
	}
	if f.Bytes <= mostFit {
		text, err := io.ReadAll(io.NewSectionReader(in, 0, f.Bytes))
		if err != nil {
			return false, err
		}
		if m.Fit(f.Name, text) == nil {
			return true, nil
		}
	}
	if m.unfit == nil {
		m.unfit = map[string]time.Time{}
	}
	m.unfit[f.Name] = f.Modified
	return false, nil
}

// copy returns the sum of what it copies. It syncs after each piece, so that no more than that
// is ahead of others in the queue to the target.
func (m *Mirror) copy(ctx context.Context, to io.Writer, from io.Reader, sync func() error) (string, error) {
	hash := sha256.New()
	for {
		if m.Hold != nil {
			if err := m.Hold(ctx); err != nil {
				return "", err
			}
		}
		n, err := io.CopyN(io.MultiWriter(to, hash), from, piece)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if sync != nil {
			if err := sync(); err != nil {
				return "", err
			}
		}
		if n < piece {
			return sumOf(hash.Sum(nil)), nil
		}
	}
}

// prune removes what has been spare for long.
func (m *Mirror) prune(t *target, here map[string]bool, spare func(name string) bool) error {
	for name, c := range m.has {
		if here[name] || !spare(name) {
			delete(m.since, name)
			continue
		}
		since, noted := m.since[name]
		if !noted {
			m.since[name] = time.Now()
		}
		if !noted || time.Since(since) < m.Keep {
			continue
		}
		root, err := t.open()
		if err != nil {
			return err
		}
		if err := root.Remove(c.stored); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		delete(m.has, name)
		delete(m.since, name)
	}
	return nil
}

// syncDir returns when the names of a folder are on disk, where a file system has that.
func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	if err = d.Sync(); errors.Is(err, unix.EINVAL) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

var storedName = regexp.MustCompile(`^(.+)~([0-9a-f]{32})$`)

func sumOf(sha256 []byte) string { return hex.EncodeToString(sha256[:16]) }

// each tells the copies of a folder.
func each(root *os.Root, folder string, tell func(name string, c copied) error) error {
	return fs.WalkDir(root.FS(), folder, func(stored string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		its := storedName.FindStringSubmatch(strings.TrimPrefix(stored, folder+"/"))
		if its == nil {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return tell(its[1], copied{stored: stored, sum: its[2], bytes: info.Size(), modified: info.ModTime()})
	})
}
