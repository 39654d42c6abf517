package app

import (
	"os"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/file"
)

// A node that comes back to its data directory, after whatever end, is the same node: it
// has the station at once. A copy of the directory is another one, so that two of them
// never carry out the same orders.
func TestACopyOfADataDirectoryIsAnotherNode(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), t.TempDir()
	place := func(dir string) (string, *lock) {
		t.Helper()
		held, err := acquire(dir, "node")
		must(t, err)
		t.Cleanup(held.release)
		return file.Place(held.file), held
	}
	first, held := place(dir)
	must(t, os.CopyFS(copied, os.DirFS(dir)))
	if there, _ := place(copied); there == first {
		t.Error("the copy is the same node")
	}
	if _, err := acquire(dir, "node"); err == nil {
		t.Error("two processes are at one place")
	}
	held.release()
	if again, _ := place(dir); again != first {
		t.Errorf("after a restart the node is another: %s, before %s", again, first)
	}
	if most := 64; first == "" || len(first) > most { // maxLength of /metadata's node
		t.Errorf("%q has %d characters", first, len(first))
	}
}

// Copies of a machine share its name and its folders; their addresses tell them apart.
func TestANodeIsNamedWithItsAddress(t *testing.T) {
	t.Parallel()
	n := node{cfg: &config.Config{DataDir: "/var/lib/athir", Bus: config.Bus{Control: "127.0.0.1:5000"}}}
	if name := n.shownName(t.Context()); !strings.HasSuffix(name, " (127.0.0.1):/var/lib/athir") {
		t.Error(name)
	}
	n.cfg.Bus.Control = "no address"
	if name := n.shownName(t.Context()); !strings.HasSuffix(name, ":/var/lib/athir") {
		t.Errorf("where the control plane's address cannot be found: %s", name)
	}
}
