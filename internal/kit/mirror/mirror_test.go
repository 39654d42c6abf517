package mirror_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/mirror"
)

// rig mirrors the files of a folder that are named.
type rig struct {
	testing.TB
	from, to string
	m        *mirror.Mirror
	names    []string
}

func newRig(t testing.TB, names ...string) *rig {
	r := &rig{TB: t, from: t.TempDir(), to: t.TempDir(), names: names}
	r.again()
	return r
}

// again is the mirror of another process.
func (r *rig) again() {
	r.m = &mirror.Mirror{To: r.to, Folder: "files", List: func() (out []mirror.File, spare func(string) bool, err error) {
		for _, name := range r.names {
			path := filepath.Join(r.from, name)
			if info, err := os.Stat(path); err == nil {
				out = append(out, mirror.File{Name: name, Path: path, Bytes: info.Size(), Mode: info.Mode().Perm(), Modified: info.ModTime()})
			}
		}
		return out, func(string) bool { return true }, nil
	}}
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.from, name)
	r.must(errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o640)))
}

func (r *rig) scan() {
	r.Helper()
	r.must(r.m.Scan(r.Context()))
}

// stored is the only file in the folder of a copy.
func (r *rig) stored(name string) (path string, info os.FileInfo) {
	r.Helper()
	found, err := filepath.Glob(filepath.Join(r.to, "files", name+"*"))
	r.must(err)
	if len(found) != 1 {
		r.Fatalf("of %s there are %v", name, found)
	}
	info, err = os.Stat(found[0])
	r.must(err)
	return found[0], info
}

// read is what a restore finds of a copy.
func (r *rig) read(name string) (string, error) {
	root, err := os.OpenRoot(r.to)
	r.must(err)
	defer root.Close() //nolint:errcheck // only read
	all, err := mirror.Stored(root, "files")
	r.must(err)
	c, err := mirror.Open(root, all[name])
	if err != nil {
		return "", err
	}
	defer c.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(c)
	return string(text), errors.Join(err, c.Whole())
}

func (r *rig) holds(name, want string) {
	r.Helper()
	if got, err := r.read(name); err != nil || got != want {
		r.Errorf("the copy of %s has %.40q (%v), want %.40q", name, got, err, want)
	}
}

// A file is written to the target once per contents, whatever its time and whoever asks.
func TestContentsAreCopiedOnce(t *testing.T) {
	r := newRig(t, "a/b")
	r.write("a/b", "one")
	r.scan()
	first, was := r.stored("a/b")
	same := func(why string) {
		t.Helper()
		if _, now := r.stored("a/b"); !os.SameFile(was, now) {
			t.Errorf("it is copied again %s", why)
		}
	}
	later := time.Now().Add(time.Hour)
	r.must(os.Chtimes(filepath.Join(r.from, "a/b"), later, later))
	r.scan()
	same("with another time")
	r.must(os.Chtimes(first, time.Unix(1, 0), time.Unix(1, 0))) // a target that keeps no times
	r.again()
	r.scan()
	same("after a start")
	if info, err := os.Stat(first); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	r.write("a/b", "two")
	r.scan()
	r.holds("a/b", "two")
	if path, _ := r.stored("a/b"); path == first {
		t.Error("other contents have the old name")
	}
}

// Fails where a configuration that is saved twice within two seconds, as long as before, stays
// in the copy as it was first: by the program that copied it, and by the next.
func TestAFileOfTheSameSizeIsCopiedAgainAtOnce(t *testing.T) {
	r := newRig(t, "station.json")
	saved := time.Now().Truncate(time.Hour)
	for i, text := range []string{"volume 5", "volume 6", "volume 7"} {
		r.write("station.json", text)
		at := saved.Add(time.Duration(i) * 100 * time.Millisecond)
		r.must(os.Chtimes(filepath.Join(r.from, "station.json"), at, at))
		if i == 2 {
			r.again()
		}
		r.scan()
		if got, err := r.read("station.json"); got != text || err != nil {
			t.Errorf("%q, want %q: %v", got, text, err)
		}
	}
}

// Fails where one file whose name is too long with its sum keeps all older ones out.
func TestANameThatIsTooLongKeepsNoOtherOut(t *testing.T) {
	long := strings.Repeat("l", 250)
	r := newRig(t, "older", long)
	r.write("older", "it was there before")
	r.write(long, "it is newer")
	before := time.Now().Add(-time.Hour)
	r.must(os.Chtimes(filepath.Join(r.from, "older"), before, before))
	if err := r.m.Scan(t.Context()); err == nil || !strings.Contains(err.Error(), long) {
		t.Errorf("nobody is told which: %v", err)
	}
	if got, err := r.read("older"); got != "it was there before" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// Killed before the old was removed, the new is what counts, and the old goes.
func TestAKillBetweenTheNewAndTheOld(t *testing.T) {
	r := newRig(t, "a")
	r.write("a", "old")
	r.scan()
	path, info := r.stored("a")
	r.write("a", "newer")
	later := info.ModTime().Add(time.Minute)
	r.must(os.Chtimes(filepath.Join(r.from, "a"), later, later))
	r.scan()
	r.must(errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Chtimes(path, info.ModTime(), info.ModTime()),
		os.WriteFile(filepath.Join(r.to, "files", ".new"), []byte("half"), 0o600)))
	r.holds("a", "newer")
	r.again()
	r.scan()
	r.stored("a")
	r.holds("a", "newer")
}

// What changes while it is copied is not taken for whole.
func TestAFileThatChangesWhileItIsCopied(t *testing.T) {
	r := newRig(t, "a")
	text := string(bytes.Repeat([]byte("x"), 3<<20))
	r.write("a", text)
	pieces := 0
	r.m.Hold = func(context.Context) error {
		if pieces++; pieces == 2 {
			r.write("a", strings.ToUpper(text)+"y")
		}
		return nil
	}
	r.scan()
	if _, err := r.read("a"); err == nil {
		t.Error("a mixture is in the copy")
	}
	r.scan()
	r.holds("a", strings.ToUpper(text)+"y")
}

// An upload that is under way, which grows, is not copied; one that rests is.
func TestWhatGrowsIsNotCopied(t *testing.T) {
	r := newRig(t, "1.part")
	r.write("1.part", "half")
	r.scan()
	if found, _ := filepath.Glob(filepath.Join(r.to, "files", "*")); len(found) != 0 {
		t.Errorf("there is %v", found)
	}
	before := time.Now().Add(-time.Minute)
	r.must(os.Chtimes(filepath.Join(r.from, "1.part"), before, before))
	r.scan()
	r.holds("1.part", "half")
}

// What a disk made of a copy is seen, and a copy that was removed by others is made again after
// the target was looked at.
func TestACopyThatIsDamagedOrGone(t *testing.T) {
	r := newRig(t, "a", "b")
	r.write("a", "whole")
	r.scan()
	path, _ := r.stored("a")
	r.must(os.WriteFile(path, []byte("whale"), 0o600))
	if _, err := r.read("a"); !errors.Is(err, mirror.ErrDamaged) {
		t.Errorf("%v", err)
	}
	r.must(os.RemoveAll(filepath.Join(r.to, "files")))
	r.write("b", "more")
	if err := r.m.Scan(t.Context()); err == nil {
		t.Error("it copies into a folder that is gone")
	}
	r.scan()
	r.holds("a", "whole")
	r.holds("b", "more")
	r.must(os.Rename(r.to, r.to+"-away"))
	r.write("b", "again")
	if err := r.m.Scan(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the target is away: %v", err)
	}
	if _, err := os.Stat(r.to); !errors.Is(err, os.ErrNotExist) {
		t.Error("a folder is made where nothing is mounted")
	}
}
