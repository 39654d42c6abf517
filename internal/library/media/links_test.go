package media_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/station"
)

func link(t *testing.T, target, root, rel string) {
	t.Helper()
	path := filepath.Join(root, rel)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
}

func TestLinksInsideAreFollowedOnceAndLinksOutAreRefused(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	real := filepath.Join(base, "disk")
	outside := filepath.Join(base, "elsewhere")
	root := filepath.Join(base, "media") // the root itself may be a link
	ogg := sound(t, "ogg")
	put(t, real, "english/.store/kept.ogg", ogg)
	put(t, real, "english/a.ogg", ogg)
	put(t, outside, "x.ogg", ogg)
	link(t, real, base, "media")
	link(t, ".store/kept.ogg", real, "english/shown.ogg")
	link(t, "..", real, "english/up") // loops
	link(t, ".", real, "english/self")
	link(t, real, real, "all")
	link(t, "../english", real, "jingles/copy")
	link(t, "../sfx", real, "shorts/x") // a tangle that leads on for ever
	link(t, "../shorts", real, "sfx/y")
	put(t, real, "sfx/t.ogg", ogg)
	link(t, outside, real, "news/out")
	link(t, filepath.Join(outside, "x.ogg"), real, "news/out.ogg")
	link(t, "nowhere.ogg", real, "news/broken.ogg")

	f := open(t, root)
	scan(t, f.Library)
	if got, want := paths(f.Snapshot()), []string{"english/a.ogg", "english/shown.ogg", "jingles/copy/a.ogg", "jingles/copy/shown.ogg", "sfx/t.ogg", "shorts/x/t.ogg"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	why := reasons(f.Snapshot())
	if !strings.Contains(why["news/out"], "links out of the media folder") || strings.Contains(why["news/out"], base) || !strings.Contains(why["news/out.ogg"], "out of the media folder") ||
		!strings.Contains(why["news/broken.ogg"], "broken link") || len(why) != 3 {
		t.Errorf("quarantined: %q", why)
	}
	follow := open(t, root, func(o *media.Options) { o.FollowLinks = true })
	scan(t, follow.Library)
	for _, path := range []string{"news/out.ogg", "news/out/x.ogg"} {
		if _, ok := follow.Snapshot().Find(path); !ok {
			t.Errorf("%s was not followed", path)
		}
	}
}

func TestCreditsBesideTheFilesWinOverTags(t *testing.T) {
	f := open(t, t.TempDir())
	mp3 := sound(t, "mp3")
	put(t, f.root, "music/english/a.mp3", mp3)
	put(t, f.root, "music/english/b.mp3", mp3)
	put(t, f.root, "music/english/c.mp3", mp3)
	put(t, f.root, "ATTRIBUTION.tsv", []byte("# path\tartist\ttitle\tlicence\tsource\nmusic/english/a.mp3\tRoot\tRow\tCC BY 4.0\thttps://example.org\n"))
	put(t, f.root, "music/ATTRIBUTION.tsv", []byte("\ufeffenglish/b.mp3\tNearer\t\t\t\r\n"))
	put(t, f.root, "music/english/c.mp3.license", []byte("SPDX-FileCopyrightText: 2026 X\nSPDX-License-Identifier: CC-BY-SA-4.0\n"))
	scan(t, f.Library)
	check := func(path, artist, title, license string) {
		t.Helper()
		got, ok := f.Snapshot().Find(path)
		if !ok || got.Artist != artist || got.Title != title || got.License != license {
			t.Errorf("%+v", got)
		}
	}
	check("music/english/a.mp3", "Root", "Row", "CC BY 4.0 (https://example.org)")
	check("music/english/b.mp3", "Nearer", "يا مسهرني", "CC0")
	check("music/english/c.mp3", "أم كلثوم", "يا مسهرني", "CC-BY-SA-4.0")
	// What is said beside the files may change while they do not.
	put(t, f.root, "music/ATTRIBUTION.tsv", []byte("english/b.mp3\tCorrected\n"))
	if err := os.Remove(filepath.Join(f.root, "music/english/c.mp3.license")); err != nil {
		t.Fatal(err)
	}
	if report := scan(t, f.Library); report.Updated != 2 || report.Opened != 2 {
		t.Errorf("%+v", report)
	}
	check("music/english/b.mp3", "Corrected", "يا مسهرني", "CC0")
	check("music/english/c.mp3", "أم كلثوم", "يا مسهرني", "CC0")
	if content(openOn(t, f.db, f.root).Snapshot()) != content(f.Snapshot()) {
		t.Error("the database kept the old credits")
	}
}

func TestVanishedRootKeepsTheRegistry(t *testing.T) {
	base := t.TempDir()
	f := open(t, filepath.Join(base, "media"))
	put(t, f.root, "english/a.ogg", sound(t, "ogg"))
	scan(t, f.Library)
	away := filepath.Join(base, "away")
	if err := os.Rename(f.root, away); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		prepare func() error
		want    string
	}{
		{func() error { return nil }, "does not exist: create it, or mount its disk"},
		{func() error { return os.Mkdir(f.root, 0o750) }, "is empty, but 1 tracks are registered: is its disk mounted?"},
		{func() error { return errors.Join(os.Remove(f.root), os.WriteFile(f.root, nil, 0o600)) }, "is a file: set the folder"},
	} {
		if err := c.prepare(); err != nil {
			t.Fatal(err)
		}
		_, err := f.Scan(t.Context(), nil)
		s := f.Snapshot()
		if err == nil || !errors.Is(err, station.ErrUnavailable) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), f.root) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if len(s.Tracks) != 1 || !strings.Contains(s.Problem, c.want) || s.Scanning {
			t.Errorf("%+v", s)
		}
	}
	if err := errors.Join(os.Remove(f.root), os.Rename(away, f.root)); err != nil {
		t.Fatal(err)
	}
	if report := scan(t, f.Library); report.Opened != 0 || f.Snapshot().Problem != "" {
		t.Errorf("after its return: %+v, problem %q", report, f.Snapshot().Problem)
	}
}

func TestEmptyLibraryIsNoError(t *testing.T) {
	f := open(t, t.TempDir())
	if report := scan(t, f.Library); report.Seen != 0 || f.Snapshot().Problem != "" {
		t.Errorf("%+v", report)
	}
}

// The sums are those of the tracks, whenever they change.
func TestDecksSumUpTheTracks(t *testing.T) {
	f := open(t, t.TempDir())
	check := func(when string, english, jingles int) {
		t.Helper()
		scan(t, f.Library)
		s := f.Snapshot()
		var length time.Duration
		for _, tr := range s.Tracks {
			length += tr.Duration
		}
		got := s.Decks[station.English].Duration + s.Decks[station.Jingles].Duration
		if s.Decks[station.English].Tracks != english || s.Decks[station.Jingles].Tracks != jingles || got != length {
			t.Errorf("%s: %+v, tracks last %s", when, s.Decks, length)
		}
	}
	check("empty", 0, 0)
	put(t, f.root, "english/a.ogg", sound(t, "ogg"))
	put(t, f.root, "english/b.ogg", sound(t, "ogg"))
	put(t, f.root, "jingles/c.ogg", sound(t, "ogg"))
	check("filled", 2, 1)
	check("unchanged", 2, 1)
	if err := os.Remove(filepath.Join(f.root, "english/a.ogg")); err != nil {
		t.Fatal(err)
	}
	check("one less", 1, 1)
}

// A library that moves as a whole is not read again, and nothing of the old
// place is offered before it has been found in the new one.
func TestMovedLibraryIsRecognisedFileByFile(t *testing.T) {
	base := t.TempDir()
	f := open(t, filepath.Join(base, "one"))
	put(t, f.root, "english/a.ogg", sound(t, "ogg"))
	put(t, f.root, "english/b.ogg", sound(t, "ogg"))
	scan(t, f.Library)
	two := filepath.Join(base, "two")
	if err := errors.Join(os.Rename(f.root, two), os.Remove(filepath.Join(two, "english/b.ogg"))); err != nil {
		t.Fatal(err)
	}
	moved := openOn(t, f.db, two)
	if got := moved.Snapshot().Tracks; len(got) != 0 {
		t.Errorf("offered unseen: %+v", got)
	}
	if report := scan(t, moved); report.Opened != 0 || report.Removed != 1 || !slices.Equal(paths(moved.Snapshot()), []string{"english/a.ogg"}) {
		t.Errorf("%+v %q", report, paths(moved.Snapshot()))
	}
}

// heldProbe keeps ffprobe from what is called bad until let go, so that a scan is not over
// before the test has seen it run. The scan needs a worker for each bad file and one more.
func heldProbe(t *testing.T) (letGo func()) {
	t.Helper()
	real, err := exec.LookPath("ffprobe")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(gate, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() })
	testkit.Executable(t, filepath.Join(dir, "ffprobe"), fmt.Appendf(nil, "#!/bin/sh\ncase \"$*\" in */bad*) [ -p '%[1]s' ] && read -r line < '%[1]s';; esac\nexec '%[2]s' \"$@\"\n", gate, real))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return sync.OnceFunc(func() {
		_, err := held.WriteString(strings.Repeat("\n", 8)) // one for each that waits
		if err := errors.Join(err, os.Remove(gate)); err != nil {
			t.Error(err)
		}
	})
}

// The station must be able to start while most of a first scan is still to do.
func TestFirstScanPublishesWhileItRuns(t *testing.T) {
	letGo := heldProbe(t)
	f := open(t, t.TempDir(), func(o *media.Options) { o.Workers = 7 })
	for i := range 6 {
		put(t, f.root, "ads/bad"+string(rune('a'+i))+".mp3", []byte(strings.Repeat("not music", 200)))
	}
	for _, deck := range []string{"english", "jingles", "news"} {
		put(t, f.root, deck+"/a.ogg", sound(t, "ogg"))
	}
	changed, cancel := f.Subscribe()
	defer cancel()
	early := 0
	_, err := f.Scan(t.Context(), func(p media.Progress) { // on the scan's own goroutine: it goes on only then
		if p.Done > p.Total || p.Seen > p.Total || p.Added > 3 {
			t.Errorf("progress %+v", p)
		}
		select {
		case <-changed:
			if s := f.Snapshot(); s.Scanning && p.Done < p.Total {
				early = max(early, len(s.Tracks))
			}
		default:
		}
		if early == 3 {
			letGo()
		}
	})
	if err != nil || early != 3 || len(f.Snapshot().Quarantined) != 6 || f.Snapshot().Scanning {
		t.Errorf("%d tracks while scanning, %v", early, err)
	}
}

func TestCancelledScanEndsAndKeepsWhatItRegistered(t *testing.T) {
	letGo := heldProbe(t)
	f := open(t, t.TempDir(), func(o *media.Options) { o.Workers = 7 })
	put(t, f.root, "english/a.ogg", sound(t, "ogg"))
	for i := range 6 {
		put(t, f.root, "ads/bad"+string(rune('a'+i))+".mp3", []byte(strings.Repeat("not music", 200)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	report, err := f.Scan(ctx, func(media.Progress) {
		if len(f.Snapshot().Tracks) > 0 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || report.Done >= 7 {
		t.Fatalf("%+v, %v", report, err)
	}
	if s := f.Snapshot(); s.Scanning || s.Problem != "" || !s.ScannedAt.IsZero() {
		t.Errorf("%+v", s)
	}
	letGo()
	if report := scan(t, f.Library); report.Seen != 7 || len(f.Snapshot().Quarantined) != 6 || len(f.Snapshot().Tracks) != 1 {
		t.Errorf("%+v", report)
	}
}

// A file that is being written when a one-shot scan comes by is waited for.
func TestScanWaitsForFilesBeingWritten(t *testing.T) {
	f := open(t, t.TempDir())
	put(t, f.root, "english/a.ogg", sound(t, "ogg"))
	now := time.Now()
	if err := os.Chtimes(filepath.Join(f.root, "english/a.ogg"), now, now); err != nil {
		t.Fatal(err)
	}
	if report := scan(t, f.Library); report.Added != 1 || report.Unsettled != 0 || len(f.Snapshot().Tracks) != 1 {
		t.Errorf("%+v", report)
	}
}
