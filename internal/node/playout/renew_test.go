package playout_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/playout"
)

// Fails where an engine is cut off although it is the one that would be started, or goes on
// for ever with an older script or a program that was replaced.
func TestAnOutdatedEngineIsKnown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := playout.Options{
		Dir: dir, SocketDir: dir, Playlist: filepath.Join(dir, "main.m3u"), Station: "T", Channel: "main", IcecastHost: "127.0.0.1", IcecastPort: 8005, Password: "password", HarborPort: 8006,
		MetadataURL: "http://127.0.0.1:5000/metadata", Token: "t",
	}
	program := filepath.Join(dir, "sleep")
	data, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Executable(t, program, data)
	cmd := exec.Command(program, "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	script, err := playout.Render(o)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(o.Script(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outdated := func(want string) {
		t.Helper()
		if why := playout.Outdated(o, cmd.Process.Pid); !strings.Contains(why, want) || want == "" && why != "" {
			t.Errorf("outdated: %q, want %q", why, want)
		}
	}
	outdated("") // without a file nobody knows what it was started with
	write(string(script))
	outdated("")
	write(string(script) + "# older\n")
	outdated("another script")
	write(string(script))
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	outdated("another " + program + " is installed")
}
