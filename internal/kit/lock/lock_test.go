package lock

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A node that comes back to its data directory, after whatever end, is the same node: it
// has the station at once. A copy of the directory is another one, so that two of them
// never carry out the same orders.
func TestACopyOfADataDirectoryIsAnotherNode(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), t.TempDir()
	place := func(dir string) (string, *Lock) {
		t.Helper()
		held, err := Acquire(dir, "node")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(held.Release)
		return file.Place(held.File()), held
	}
	first, held := place(dir)
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if there, _ := place(copied); there == first {
		t.Error("the copy is the same node")
	}
	if _, err := Acquire(dir, "node"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("two processes are at one place: %v", err)
	}
	held.Release()
	if again, _ := place(dir); again != first {
		t.Errorf("after a restart the node is another: %s, before %s", again, first)
	}
	if most := 64; first == "" || len(first) > most { // maxLength of /metadata's node
		t.Errorf("%q has %d characters", first, len(first))
	}
}

// A lock is seen with its process while it is held, by nobody else's numbers, and looking
// keeps nobody off.
func TestALockIsSeenWithoutTakingIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if pid, held := Holder(dir, "node"); held {
		t.Errorf("held by %d before there is one", pid)
	}
	l, err := Acquire(dir, "node")
	if err != nil {
		t.Fatal(err)
	}
	if pid, held := Holder(dir, "node"); !held || pid != os.Getpid() {
		t.Errorf("held %v by %d", held, pid)
	}
	l.Release()
	if pid, held := Holder(dir, "node"); held {
		t.Errorf("held by %d after it was given back", pid)
	}
	for line, want := range map[string]bool{
		"1: FLOCK  ADVISORY  WRITE 4711 fd:01:131 0 EOF":  true,
		"1: FLOCK  ADVISORY  WRITE 0 fd:01:131 0 EOF":     true, // a process of another namespace
		"1: FLOCK  ADVISORY  WRITE 12 fd:01:131 0 EOF":    false,
		"1: FLOCK  ADVISORY  WRITE 4711 fd:01:1310 0 EOF": false,
		"1: POSIX  ADVISORY  WRITE 4711 fd:01:131 0 EOF":  false,
		"1:": false,
	} {
		if pid, held := holder(bufio.NewScanner(strings.NewReader(line)), 131, 4711); held != want || held && pid != 4711 {
			t.Errorf("%s: %d, %v", line, pid, held)
		}
	}
}

// Fails where taking a lock empties a file elsewhere, to which somebody has led it.
func TestALinkIsNoLock(t *testing.T) {
	t.Parallel()
	dir, precious := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(precious, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, filepath.Join(dir, "node.lock")); err != nil {
		t.Fatal(err)
	}
	if l, err := Acquire(dir, "node"); err == nil {
		l.Release()
		t.Error("taken")
	}
	if text, err := os.ReadFile(precious); err != nil || string(text) != "another's" {
		t.Errorf("%q, %v", text, err)
	}
}
