package file_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/file"
)

// An operator's file stays theirs: behind its link, with its mode and, as root, its owner.
func TestReplaceKeepsWhoseFileItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "link.yaml")
	if err := os.WriteFile(real, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.yaml", link); err != nil {
		t.Fatal(err)
	}
	root := os.Getuid() == 0
	if root {
		if err := os.Chown(real, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(real, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := file.Replace(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(real)
	if err != nil || string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
	if to, err := os.Readlink(link); err != nil || to != "real.yaml" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	if of, ok := info.Sys().(*syscall.Stat_t); root && (!ok || of.Uid != 65534 || of.Gid != 65534) {
		t.Errorf("it belongs to %d:%d", of.Uid, of.Gid)
	}
	if all, _ := os.ReadDir(dir); len(all) != 2 {
		t.Errorf("%d files are left", len(all))
	}
	if err := file.Replace(filepath.Join(dir, "none"), nil); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}
