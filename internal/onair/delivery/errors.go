package delivery

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/station"
)

var (
	// ErrReplaced comes from a Write that succeeded: the file was another one
	// than at Prepare, so an engine that watches the old inode is deaf.
	ErrReplaced = errors.New("playlist file was replaced or deleted by another program")
	// ErrUnverified says that what was read back is not what was written.
	ErrUnverified = errors.New("playlist file differs from what was written: does another program write it?")
)

// Unusable is one item that cannot air from the node.
type Unusable struct {
	Index int // in the items given to Push
	Path  string
	Want  int64 // bytes the registry knows, negative when unknown
	Got   int64 // bytes on the node, -1 when missing
	Err   error // why no list can carry the item; nil when the file is at fault
}

func (u Unusable) String() string {
	switch {
	case u.Err != nil:
		return fmt.Sprintf("%q: %v", u.Path, u.Err)
	case u.Got < 0:
		return fmt.Sprintf("%q: no readable file", u.Path)
	}
	return fmt.Sprintf("%q: %d bytes, want %d", u.Path, u.Got, u.Want)
}

// UnusableError lists every item of a push that cannot air. It is a
// station.ErrInvalid.
type UnusableError struct{ Items []Unusable }

func (e *UnusableError) Error() string {
	s := fmt.Sprintf("%d entries cannot air: ", len(e.Items))
	for i, u := range e.Items {
		if i == 3 {
			return s + "; …"
		}
		if i > 0 {
			s += "; "
		}
		s += u.String()
	}
	return s
}

// Unwrap makes it a station.ErrInvalid.
func (e *UnusableError) Unwrap() error { return station.ErrInvalid }

// unusable turns the codec's refusal into the one error a scheduler drops
// items by.
func unusable(err error) error {
	var refused *playlist.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	bad := make([]Unusable, len(refused.Items))
	for i, r := range refused.Items {
		bad[i] = Unusable{Index: r.Index, Path: r.Path, Want: -1, Got: -1, Err: r.Err}
	}
	return &UnusableError{Items: bad}
}

// fileError says what went wrong with the playlist file, and the remedy.
func fileError(verb, path string, err error) error {
	if err == nil {
		return nil
	}
	// The path is named once, by us.
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	dir := filepath.Dir(path)
	remedy := ""
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		remedy = "free some space on the disk that holds " + dir
	case errors.Is(err, syscall.EFBIG):
		remedy = "raise the file size limit (ulimit -f)"
	case errors.Is(err, syscall.EROFS):
		remedy = "make the file system that holds " + dir + " writable"
	case errors.Is(err, fs.ErrPermission):
		remedy = "give the user that runs athir write access to " + dir
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		remedy = "create the directory " + dir
	case errors.Is(err, syscall.EISDIR):
		remedy = "move that directory out of the way"
	default:
		return fmt.Errorf("%s %s: %w", verb, path, err)
	}
	return fmt.Errorf("%s %s: %w: %s", verb, path, err, remedy)
}
