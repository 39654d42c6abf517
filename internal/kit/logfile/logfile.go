// Package logfile keeps the newest lines of a log in a file of bounded size,
// and reads them back from its end. Several processes may write one file.
//
// It is no archive: what is older than two files hold is gone. It decides
// nothing about what is logged, but that secrets never are.
package logfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// DefaultSize is the size of one file of two in bytes.
const DefaultSize = 5 << 20

// Options of a File.
type Options struct {
	Path string // its folder is made when missing
	Size int64  // at which a file becomes Path.1; DefaultSize when zero
	// Secrets are replaced wherever they stand in what is written. They are asked for at
	// each line, as they may change; nil: there are none.
	Secrets func() []string
}

// File is a log file that turns over by itself: at its size it becomes Path.1,
// in place of the one before. It takes whole lines, one Write each, as
// log/slog's handlers write them; a line is in one of the two files, complete.
type File struct {
	path    string
	size    int64
	secrets func() []string

	mu   sync.Mutex
	file *os.File
	torn bool // the last line is not complete: the disk was full
}

// mask stands where a secret was.
const mask = "[secret]"

// shortestSecret is the least length that is replaced: shorter ones would
// stand in many words by chance.
const shortestSecret = 4

// Open opens the log for writing, mode 0600.
func Open(opt Options) (*File, error) {
	f := &File{path: opt.Path, size: opt.Size, secrets: opt.Secrets}
	if f.size == 0 {
		f.size = DefaultSize
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return f, nil
}

// masked is a line without the secrets.
func (f *File) masked(line []byte) []byte {
	if f.secrets == nil {
		return line
	}
	var all []string
	for _, s := range f.secrets() {
		if len(s) < shortestSecret {
			continue
		}
		all = append(all, s)
		// As a text handler quotes it.
		if q := strconv.Quote(s); q[1:len(q)-1] != s {
			all = append(all, q[1:len(q)-1])
		}
	}
	// A secret within another must not leave the rest of it.
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	for _, s := range all {
		line = bytes.ReplaceAll(line, []byte(s), []byte(mask))
	}
	return line
}

func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if f.file != nil {
		_ = f.file.Close()
	}
	f.file = file
	return nil
}

// Write appends one line, and turns the file over first if it would be too large.
func (f *File) Write(line []byte) (int, error) {
	clean := f.masked(line)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return 0, os.ErrClosed
	}
	if err := f.ready(int64(len(clean))); err != nil {
		return 0, err
	}
	if f.torn {
		clean = append([]byte("\n"), clean...)
	}
	n, err := f.file.Write(clean)
	if f.torn = err != nil && (f.torn || n > 0); err != nil {
		return 0, err
	}
	return len(line), nil
}

// ready makes f.file the file at f.path, with room for n bytes unless it is empty.
func (f *File) ready(n int64) error {
	for range 3 { // another process may turn it over between two steps
		here, err := os.Stat(f.path)
		if os.IsNotExist(err) {
			if err := f.open(); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		mine, err := f.file.Stat()
		if err != nil {
			return err
		}
		if !os.SameFile(here, mine) {
			if err := f.open(); err != nil {
				return err
			}
			continue
		}
		if mine.Size() == 0 || mine.Size()+n <= f.size {
			return nil
		}
		if err := f.turn(mine); err != nil {
			return err
		}
	}
	return nil // a line too many in a file does no harm
}

// turn renames the file to Path.1. A lock on the file itself, which all
// processes that write it hold open, keeps two from doing so one after the
// other: the second would throw away what the first has just put aside.
func (f *File) turn(mine os.FileInfo) error {
	fd := int(f.file.Fd())
	if err := unix.Flock(fd, unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock log: %w", err)
	}
	defer unix.Flock(fd, unix.LOCK_UN) //nolint:errcheck // the rename is done or not
	here, err := os.Stat(f.path)
	if err != nil || !os.SameFile(here, mine) {
		return nil //nolint:nilerr // someone else has done it
	}
	return os.Rename(f.path, f.path+".1")
}

// Close ends writing. What was written stays.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
