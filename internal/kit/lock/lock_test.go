package lock

import (
	"fmt"
	"os"
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
