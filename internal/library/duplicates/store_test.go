package duplicates

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
)

func excerpt(t *testing.T, out, song string, args ...string) {
	t.Helper()
	args = append([]string{"-v", "error", "-y", "-t", "15", "-i", song}, args...)
	if said, err := exec.Command("ffmpeg", append(args, out)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}

func listed(t *testing.T, dir, name, artist, title string) File {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return File{Path: name, Abs: filepath.Join(dir, name), Size: info.Size(), ModTime: info.ModTime(), Artist: artist, Title: title}
}

// taken runs Ensure and returns how many fingerprints it took.
func taken(t *testing.T, s *Store, files []File) int {
	t.Helper()
	var n atomic.Int64
	if err := s.Ensure(t.Context(), files, func(done, total int) {
		if n.Add(1); done > total {
			t.Errorf("%d of %d", done, total)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return int(n.Load())
}

func TestStoredPrintsAreTakenOnceAndFoundAfterARestart(t *testing.T) {
	songs, _ := filepath.Glob("/usr/share/games/wesnoth/1.16/data/core/music/[bceflms]*.ogg")
	if len(songs) < 4 {
		t.Fatal("no music: 'make deps-test' installs it")
	}
	dir := t.TempDir()
	var files []File
	for i := range 3 {
		name := fmt.Sprintf("%d \xff.wav", i)
		excerpt(t, filepath.Join(dir, name), songs[i])
		files = append(files, listed(t, dir, name, "فنان", fmt.Sprint("أغنية ", i)))
	}
	if err := os.WriteFile(filepath.Join(dir, "text.mp3"), []byte("no music"), 0o600); err != nil {
		t.Fatal(err)
	}
	files = append(files, listed(t, dir, "text.mp3", "", ""))
	db, err := store.Open(t.Context(), filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // test
	open := func() *Store {
		s, err := Open(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	s := open()
	s.workers = 1
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Ensure(ctx, files, func(int, int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	if n := taken(t, s, files); n != 3 {
		t.Errorf("%d were taken after a run that had taken one of four", n)
	}
	if n := taken(t, s, files); n != 0 {
		t.Errorf("%d were taken again", n)
	}

	s = open() // from what is kept
	copied := filepath.Join(dir, "copy.mp3")
	excerpt(t, copied, songs[1], "-b:a", "96k")
	found, err := s.Find(t.Context(), copied, "فنَّان", "أغنية 2")
	if err != nil || len(found) != 2 || found[0].ID != files[1].Path || found[0].SameName || found[0].Difference > fingerprint.Same ||
		found[1] != (Match{ID: files[2].Path, Difference: 1, SameName: true}) {
		t.Errorf("found %+v, %v", found, err)
	}
	other := filepath.Join(dir, "other.mp3")
	excerpt(t, other, songs[3], "-b:a", "96k")
	if found, err := s.Find(t.Context(), other, "", ""); err != nil || len(found) != 0 {
		t.Errorf("other music is taken for %+v, %v", found, err)
	}

	// The index follows what is added, changed and removed.
	if err := s.Add(t.Context(), listed(t, dir, "other.mp3", "x", "y")); err != nil {
		t.Fatal(err)
	}
	if found, _ := s.Find(t.Context(), other, "x", "y"); len(found) != 1 || found[0].ID != "other.mp3" || !found[0].SameName {
		t.Errorf("added, and found is %+v", found)
	}
	if err := errors.Join(s.Remove(t.Context(), "other.mp3"), os.Rename(other, files[0].Abs)); err != nil {
		t.Fatal(err)
	}
	if found, _ := s.Find(t.Context(), files[0].Abs, "", ""); len(found) != 0 {
		t.Errorf("removed, and found is %+v", found)
	}
	files[0] = listed(t, dir, files[0].Path, "", "")
	if n := taken(t, s, files[:1]); n != 1 {
		t.Errorf("%d were taken of one that has changed", n)
	}
	if found, _ := s.Find(t.Context(), files[0].Abs, "", ""); len(found) != 1 || found[0].ID != files[0].Path {
		t.Errorf("changed, and found is %+v", found)
	}
	if found, _ := s.Find(t.Context(), copied, "فنان", "أغنية 1"); len(found) != 0 {
		t.Errorf("gone from the library, and found is %+v", found)
	}

	s.idle = time.Millisecond
	if _, err := s.Find(t.Context(), copied, "", ""); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "an index that nobody asks for is let go", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.index == nil
	})
}
