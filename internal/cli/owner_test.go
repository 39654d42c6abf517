package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Fails where root leaves files in a station's directory that the station cannot read, or
// follows the links of its user there, or runs a program that its user has named.
func TestRootTrustsNoStationOfAnotherUser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if os.Getuid() == 0 {
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	err := asOwner(dir, "restore FILE", 0)
	if err == nil || !strings.Contains(err.Error(), "sudo -u ") || !strings.Contains(err.Error(), "athir restore FILE --data "+dir) {
		t.Errorf("root in another's directory: %v", err)
	}
	for name, err := range map[string]error{
		"its user":             asOwner(dir, "backup", 65534),
		"root in its own":      asOwner("/", "backup", 0),
		"where nothing is yet": asOwner(filepath.Join(dir, "none"), "restore FILE", 0),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if os.Getuid() != 0 {
		return // root alone is refused
	}
	for _, words := range [][]string{{"backup"}, {"restore", "FILE", "--yes"}, {"scan"}, {"doctor"}} {
		err := Main(t.Context(), Process{Version: "test", Args: append(words, "--data", dir), Out: t.Output()})
		if err == nil || !strings.Contains(err.Error(), "sudo -u") {
			t.Errorf("%q: %v", words, err)
		}
	}
	// What it says to type is the command that was given.
	err = Main(t.Context(), Process{Version: "test", Args: []string{"restore", "--continuous", "/mnt/nas/athir", "--data", dir, "--yes"}, Out: t.Output()})
	if err == nil || !strings.Contains(err.Error(), "athir restore --continuous /mnt/nas/athir --data "+dir) {
		t.Errorf("of a continuous copy: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
