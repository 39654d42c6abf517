package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func write2(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Neither way of renaming replaces what is there.
func TestAFileIsRenamedToAFreePathOnly(t *testing.T) {
	for name, rename := range map[string]func(from, to string) error{"rename": RenameNew, "link": linkNew} {
		dir := t.TempDir()
		from, to := write2(t, filepath.Join(dir, "from"), "mine"), write2(t, filepath.Join(dir, "to"), "another's")
		if err := rename(from, to); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: over a file: %v", name, err)
		}
		if text, _ := os.ReadFile(to); string(text) != "another's" {
			t.Errorf("%s: %q was replaced", name, text)
		}
		free := filepath.Join(dir, "free")
		if err := rename(from, free); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if text, _ := os.ReadFile(free); string(text) != "mine" {
			t.Errorf("%s: %q arrived", name, text)
		}
		if _, err := os.Stat(from); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: it is at both paths: %v", name, err)
		}
		if err := rename(from, filepath.Join(dir, "x")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: of nothing: %v", name, err)
		}
	}
}

func TestACopyIsTheSameAndEndsWithItsCaller(t *testing.T) {
	dir := t.TempDir()
	from, to := write2(t, filepath.Join(dir, "from"), "a song"), filepath.Join(dir, "to")
	old := time.Unix(1_700_000_000, 0)
	if err := os.Chtimes(from, old, old); err != nil {
		t.Fatal(err)
	}
	if err := Copy(t.Context(), from, to, 0o644); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(to); err != nil || info.Mode() != 0o644 || !info.ModTime().Equal(old) {
		t.Errorf("%v, %v", info, err)
	}
	for text, want := range map[string]bool{"a song": true, "a sons": false, "a song ": false, "a": false, "": false} {
		if same, err := Same(from, write2(t, to, text)); err != nil || same != want {
			t.Errorf("%q: %v, %v", text, same, err)
		}
	}
	if _, err := Same(from, filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Copy(gone, from, to, 0o600); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
