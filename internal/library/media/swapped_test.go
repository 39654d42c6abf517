package media

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Between the stat and the open a file can become anything.
func TestFileSwappedAfterItsStatIsNotRead(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "media")
	secret := filepath.Join(base, "secret.mp3")
	at := func(name string) string { return filepath.Join(root, name) }
	err := errors.Join(os.Mkdir(root, 0o750), os.WriteFile(secret, []byte("secret"), 0o600), os.WriteFile(at("song.mp3"), []byte("song"), 0o600),
		syscall.Mkfifo(at("pipe.mp3"), 0o600), os.Mkdir(at("folder.mp3"), 0o750), os.Symlink("/dev/zero", at("device.mp3")),
		os.Symlink(secret, at("out.mp3")), os.Symlink("song.mp3", at("in.mp3")), os.Symlink(base, at("up")), os.Symlink(root, at("self")))
	if err != nil {
		t.Fatal(err)
	}
	in, err := openFiles(root, false)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	for name, want := range map[string]string{
		"pipe.mp3": "not a file", "folder.mp3": "not a file", "device.mp3": "links out", "out.mp3": "links out", "up/secret.mp3": "links out",
		"song.mp3": "", "in.mp3": "", "self/in.mp3": "",
	} {
		file, err := in.open(at(name))
		if err == nil {
			_ = file.Close()
		}
		var refused *refusal
		if (want == "") != (err == nil) || (err != nil && (!errors.As(err, &refused) || !strings.Contains(refused.reason, want))) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	// A link that appears after all links were resolved.
	if _, err := in.openReal(filepath.Join(root, "up", "secret.mp3")); err == nil {
		t.Error("a folder swapped for a link out was followed")
	}
	info, err := os.Stat(at("song.mp3"))
	if err != nil {
		t.Fatal(err)
	}
	r := reader{files: in}
	_, err = r.read(context.Background(), job{rel: "pipe.mp3", abs: at("pipe.mp3"), file: stampFile(info)})
	if !isRefusal(err) || strings.Contains(err.Error(), base) {
		t.Errorf("a pipe in the place of a song: %v", err)
	}
}
