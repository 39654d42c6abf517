package media

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// Whoever has just sent a file does not wait for the first scan of a large folder; and what
// that scan saw before, or finds later, does not undo what was looked at in between.
func TestALookDoesNotWaitForTheScanUnderWay(t *testing.T) {
	root := t.TempDir()
	at := func(rel string) string { return filepath.Join(root, rel) }
	song := filepath.Join(t.TempDir(), "song.ogg")
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=d=2:r=48000", "-metadata", "title=أهواك", song).CombinedOutput(); err != nil { //nolint:gosec // a test's
		t.Fatalf("%v: %s", err, out)
	}
	put := func(rel string) {
		t.Helper()
		content, err := os.ReadFile(song)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(at(rel)), 0o750), os.WriteFile(at(rel), content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	log, _ := testkit.Log(t)
	l, err := Open(t.Context(), db, Options{Root: root, Log: log, Settle: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, rel := range []string{"ads/moved.ogg", "english/kept.ogg"} {
		put(rel)
	}
	if _, err := l.Scan(t.Context(), nil); err != nil {
		t.Fatal(err)
	}

	// The scan stands before the last folder.
	reached, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	put("sfx/last.ogg")
	go func() {
		_, _, err := l.scanAll(t.Context(), nil, nil, func(folder string) {
			if filepath.Base(folder) == "sfx" {
				close(reached)
				<-goOn
			}
		})
		ended <- err
	}()
	testkit.Receive(t, "the scan stands before the last folder", reached)
	put("sfx/new.ogg")
	if err := os.Rename(at("ads/moved.ogg"), at("sfx/moved.ogg")); err != nil {
		t.Fatal(err)
	}
	report, err := l.Look(t.Context(), "sfx/new.ogg", "sfx/moved.ogg", "ads/moved.ogg")
	if err != nil || report.Added != 2 || report.Removed != 1 {
		t.Fatalf("the look: %+v, %v", report, err)
	}
	added := map[string]time.Time{}
	for _, track := range l.Snapshot().Tracks {
		added[track.Path] = track.AddedAt
	}
	if added["sfx/new.ogg"].IsZero() || added["sfx/moved.ogg"].IsZero() || !added["ads/moved.ogg"].IsZero() || len(added) != 3 {
		t.Errorf("registered while the scan stands: %v", added)
	}
	// What was asked for ends with whoever asked: the scan stands still for nobody.
	put("jingles/later.ogg")
	asker, leave := context.WithCancel(t.Context())
	_, _, err = l.look(asker, task{again: true, scopes: []string{"jingles"}, waited: map[string]fileStamp{}, entering: func(string) { leave() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits for it: %v", err)
	}
	if _, err := l.Look(t.Context(), "sfx/new.ogg"); err != nil {
		t.Error(err)
	}
	if _, there := l.Snapshot().Find("jingles/later.ogg"); there {
		t.Error("it was looked at for nobody")
	}
	close(goOn)
	if err := testkit.Receive(t, "the scan's end", ended); err != nil {
		t.Fatal(err)
	}
	tracks := l.Snapshot().Tracks
	if len(tracks) != 4 {
		t.Errorf("after the scan: %d tracks", len(tracks))
	}
	for _, track := range tracks {
		if was, before := added[track.Path]; before && !was.Equal(track.AddedAt) {
			t.Errorf("%s was registered once more", track.Path)
		}
	}
	saved, err := load(t.Context(), db)
	if err != nil || len(saved.registry.tracks) != 4 {
		t.Errorf("on disk: %+v, %v", saved.registry, err)
	}
}
