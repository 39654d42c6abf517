package doors

import (
	"io/fs"
	"os"
	"testing"
)

// Fails where others of the machine get to a socket of nginx's, by which they can send
// encoders away, or where Icecast of a station that runs as root cannot read its
// configuration any more.
func TestOthersOfTheMachineAreKeptOutOfTheFolderOfSockets(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		user      int
		was, want fs.FileMode
	}{
		{1000, 0o755, 0o700}, {1000, 0o2775, 0o700}, {1000, 0o700, 0o700}, {0, 0o755, 0o711}, {0, 0o750, 0o710}, {0, 0o700, 0o700},
	} {
		if err := os.Chmod(dir, c.was); err != nil { //nolint:gosec // as a station's may be
			t.Fatal(err)
		}
		if err := KeepOthersOut(dir, c.user); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != c.want {
			t.Errorf("user %d, %v: %v, %v, want %v", c.user, c.was, info.Mode(), err, c.want)
		}
	}
}
