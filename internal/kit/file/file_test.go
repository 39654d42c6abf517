package file

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A reader that opens the path at any time has one of the versions, whole.
func TestAReaderFindsOneVersionWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	version := func(n int) []byte { return bytes.Repeat([]byte{byte('a' + n)}, 1+n*4096) }
	if err := WriteAtomic(path, version(0), 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		var err error
		for n := 1; n < 26 && err == nil; n++ {
			err = WriteAtomic(path, version(n), 0o600)
		}
		written <- err
	}()
	for done := false; !done; {
		select {
		case err := <-written:
			if done = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
		got, err := os.ReadFile(path)
		if err != nil || len(got) == 0 || !bytes.Equal(got, version(int(got[0]-'a'))) {
			t.Fatalf("%v, %d bytes that begin %.8q", err, len(got), got)
		}
	}
}

// What a crash left is used again, with the mode that was asked for; a failure
// leaves the old file and nothing beside it.
func TestLeftoversAndFailures(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	if err := os.WriteFile(path+".new", []byte("half of something longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteAtomic(path, []byte("whole"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if text, rerr := os.ReadFile(path); err != nil || rerr != nil || string(text) != "whole" || info.Mode() != 0o600 {
		t.Errorf("%q, %v, %v, %v", text, info.Mode(), err, rerr)
	}
	taken := filepath.Join(dir, "taken")
	if err := os.Mkdir(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteAtomic(taken, []byte("x"), 0o600); err == nil {
		t.Error("took the place of a folder")
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.new"))
	if len(names) != 0 {
		t.Errorf("left %v", names)
	}
	if err := WriteAtomic(filepath.Join(dir, "none", "x"), nil, 0o600); !os.IsNotExist(err) {
		t.Errorf("in no folder: %v", err)
	}
}

func TestSettleGivesTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made.mp3")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Settle(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.FileMode(0o644) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestSpaceNamesTheFolderThatIsAway(t *testing.T) {
	if free, size, err := Space(t.TempDir()); err != nil || size == 0 || free > size {
		t.Errorf("%d of %d, %v", free, size, err)
	}
	if _, _, err := Space("/none/such"); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}
