package icecast

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// write makes a configuration of some age below root and returns its directory.
func write(t *testing.T, root, name string, age time.Duration) string {
	t.Helper()
	dir := filepath.Join(root, name)
	if err := os.MkdirAll(dir, 0o711); err != nil { //nolint:gosec // as Prepare makes it
		t.Fatal(err)
	}
	file := filepath.Join(dir, configName)
	if err := os.WriteFile(file, []byte("password"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
	return dir
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func TestPasswordsOfStationsThatAreNoMoreAreSweptAway(t *testing.T) {
	// The server's user cannot walk through t.TempDir.
	root, err := os.MkdirTemp("", "athir-icecast-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil { //nolint:gosec // see above
		t.Fatal(err)
	}
	stale := write(t, root, "athir-0123456789ab", time.Hour)
	starting := write(t, root, "athir-0123456789ac", 0)
	others := write(t, root, "athir-chat", time.Hour)
	more := write(t, root, "athir-0123456789ad", time.Hour)
	if err := os.WriteFile(filepath.Join(more, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := write(t, t.TempDir(), "private", time.Hour)
	if err := os.Symlink(elsewhere, filepath.Join(root, "athir-0123456789ae")); err != nil {
		t.Fatal(err)
	}

	o := Options{Dir: write(t, root, "athir-0123456789af", 0), Bind: "127.0.0.1", Port: testkit.Port(t), Password: "secret"}
	spec, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if spec.Args[1] != o.config() {
		t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(spec.Args[1])) })
		t.Fatalf("the server's user cannot enter %s", root)
	}
	// Icecast itself may crash at its start. A program of its name that reads its
	// configuration does not.
	tail, err := exec.LookPath("tail")
	if err != nil {
		t.Fatal(err)
	}
	spec.Path, spec.Args[0] = filepath.Join(root, spec.Path), "-f"
	if err := os.Symlink(tail, spec.Path); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	pid, done := make(chan int, 1), make(chan error, 1)
	go func() {
		_, err := proc.Run(ctx, spec, func(id int) { pid <- id })
		done <- err
	}()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	<-pid

	sweep(root, time.Now().Add(abandoned/2))
	for what, dir := range map[string]string{"a young one": starting, "another program's": others, "one in use": o.Dir, "one behind a link": elsewhere} {
		if !exists(filepath.Join(dir, configName)) {
			t.Errorf("%s was removed", what)
		}
	}
	if exists(stale) {
		t.Error("a stale one was left")
	}
	if exists(filepath.Join(more, configName)) || !exists(filepath.Join(more, "notes")) {
		t.Error("of a directory with more in it, not just the configuration was removed")
	}
	sweep(root, time.Now().Add(2*abandoned))
	if exists(starting) {
		t.Error("one that never started was left")
	}
	if !exists(o.config()) {
		t.Error("the running server's was removed")
	}
}
