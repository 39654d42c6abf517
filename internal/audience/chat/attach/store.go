package attach

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/athir-radio/athir/internal/kit/file"
)

// Store keeps files by their hash in a folder used for nothing else.
type Store struct {
	dir string

	mu   sync.Mutex
	held map[string]int // names that a message is about to refer to
}

// OpenStore creates the folder, and removes unfinished files that a kill left behind.
func OpenStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create attachment folder: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil {
		return nil, err
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return nil, fmt.Errorf("remove unfinished attachments: %w", err)
		}
	}
	return &Store{dir: dir, held: map[string]int{}}, nil
}

// Dir returns the folder.
func (s *Store) Dir() string { return s.dir }

// Name returns a file's name: its SHA-256 and its extension.
func Name(k Kind, data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]) + "." + k.Ext
}

// ParseName reports whether a name has the form of Name, and returns its kind.
func ParseName(name string) (Kind, bool) {
	hash, ext, _ := strings.Cut(name, ".")
	k, ok := KindOf(ext)
	return k, ok && len(hash) == 64 && strings.Trim(hash, "0123456789abcdef") == ""
}

func (s *Store) path(name string) string {
	return filepath.Join(s.dir, name[:2], name[2:4], name)
}

// Put saves a file. When it returns, the file is on disk and stays there until release
// is called: by then a message should refer to it, or Sweep removes it.
func (s *Store) Put(name string, data []byte) (release func(), err error) {
	s.mu.Lock()
	s.held[name]++
	s.mu.Unlock()
	release = sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.held[name]--; s.held[name] <= 0 {
			delete(s.held, name)
		}
	})
	if err := s.write(name, data); err != nil {
		release()
		return nil, fmt.Errorf("save attachment: %w", err)
	}
	return release, nil
}

func (s *Store) write(name string, data []byte) error {
	path := s.path(name)
	dir := filepath.Dir(path)
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(data)) {
		return file.SyncDir(dir) // whole, since it was renamed into place
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, ".put-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return errors.Join(file.SyncDir(dir), file.SyncDir(filepath.Dir(dir)), file.SyncDir(s.dir))
}

// Remove deletes a file unless a message is about to refer to it, or kept reports that
// one does. Both are checked under one lock.
func (s *Store) Remove(name string, kept func(name string) (bool, error)) error {
	if _, ok := ParseName(name); !ok {
		return fmt.Errorf("%q is not an attachment's name", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[name] > 0 {
		return nil
	}
	if still, err := kept(name); err != nil || still {
		return err
	}
	err := os.Remove(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Sweep removes every file that kept reports as unused.
func (s *Store) Sweep(kept func(name string) (bool, error)) (swept int, err error) {
	err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // put under its name meanwhile
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		name := d.Name()
		if _, ok := ParseName(name); !ok || path != s.path(name) {
			return nil // being written, or not ours
		}
		before := swept
		if err := s.Remove(name, func(name string) (bool, error) {
			still, err := kept(name)
			if err == nil && !still {
				swept++
			}
			return still, err
		}); err != nil {
			swept = before
			return err
		}
		return nil
	})
	return swept, err
}
