// Package swap puts many files and folders in the place of others. What is to be done is
// written down before the first is touched, and each step can be done again: after a kill
// at any moment Finish brings it to its end.
//
// It does not know what the files are, and removes nothing of what was there before.
package swap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/athir-radio/athir/internal/kit/file"
)

// Move is one step: what is at Place goes to Aside, and what is at New goes to Place.
// Paths are absolute. An empty New only takes away, an empty Aside is for a Place where
// nothing is. Aside may not be there when the swap begins.
type Move struct {
	New   string `json:"new,omitempty"`
	Place string `json:"place"`
	Aside string `json:"aside,omitempty"`
}

// Journal is a swap that was begun. Note and Clear are the caller's: why, and a folder that
// is removed at the end.
type Journal struct {
	Note  string `json:"note"`
	Clear string `json:"clear,omitempty"`
	Moves []Move `json:"moves"`
}

// Begin writes a swap down at path. What is at New must be on disk by now.
func Begin(path string, j Journal) error {
	text, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return err
	}
	return file.WriteAtomic(path, text, 0o600)
}

// Pending reads the swap that was begun at path; ok is false where there is none.
func Pending(path string) (j Journal, ok bool, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // the caller's own file
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return j, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	return j, err == nil, err
}

// Finish does what is left of the swap at path, and removes the journal. Nobody else may
// use the places. Where there is none it does nothing.
func Finish(path string) error {
	j, ok, err := Pending(path)
	if err != nil || !ok {
		return err
	}
	for _, m := range j.Moves {
		if err := m.do(); err != nil {
			return fmt.Errorf("put %s in place: %w", m.Place, err)
		}
	}
	if j.Clear != "" {
		if err := os.RemoveAll(j.Clear); err != nil {
			return err
		}
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return file.SyncDir(filepath.Dir(path))
}

// do makes a move, or what is left of it.
func (m Move) do() error {
	if m.New != "" && !exists(m.New) {
		return nil // done before
	}
	switch {
	case m.Aside == "" && exists(m.Place):
		return fmt.Errorf("%w: something came there meanwhile", fs.ErrExist)
	case m.Aside == "":
	case exists(m.Aside) && m.New == "":
		return nil
	case exists(m.Aside): // done before, so that what is there now is ours, or a leftover of what is aside
		if err := os.RemoveAll(m.Place); err != nil {
			return err
		}
	case exists(m.Place):
		if err := move(m.Place, m.Aside); err != nil {
			return err
		}
	}
	if m.New == "" {
		return nil
	}
	return move(m.New, m.Place)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// move renames, and copies first where the two are on different disks.
func move(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // as the station makes its folders
		return err
	}
	err := os.Rename(from, to)
	if errors.Is(err, syscall.EXDEV) {
		beside := to + ".moving"
		if err = os.RemoveAll(beside); err == nil {
			err = copyTree(from, beside)
		}
		if err == nil {
			err = os.Rename(beside, to)
		}
		if err == nil {
			err = os.RemoveAll(from)
		}
	}
	return errors.Join(err, file.SyncDir(filepath.Dir(to)))
}

// copyTree copies plain files and folders, synced.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		switch target := filepath.Join(to, rel); {
		case err != nil:
			return err
		case d.IsDir():
			return os.Mkdir(target, info.Mode().Perm()|0o700)
		case !info.Mode().IsRegular():
			return nil // sockets and links are not state
		default:
			return copyFile(path, target, info)
		}
	})
}

func copyFile(from, to string, info fs.FileInfo) error {
	in, err := os.Open(from) //nolint:gosec // the caller's own file
	if err != nil {
		return err
	}
	defer in.Close()                                                                   //nolint:errcheck // only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()) //nolint:gosec // as above
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(info.Mode().Perm()), out.Sync(), out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}
