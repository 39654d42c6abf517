package media

import (
	"encoding/binary"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// The kernel's limits cannot be lowered for one process, so here the real watch
// answers as it does at the limit.
func TestWatchLimitFallsBackToPollingAndRecovers(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"english", "jingles", "news"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	log, lines := testkit.Log(t)
	l, err := Open(t.Context(), db, Options{
		Root: root, Log: log, Settle: time.Millisecond, Rescan: 300 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	limit, failures := 2, 0
	l.notifier = func() (*notifier, error) {
		n, err := inotify()
		if err != nil {
			return nil, err
		}
		add := n.add
		n.add = func(dir string) error {
			mu.Lock()
			defer mu.Unlock()
			if len(n.list()) >= limit {
				failures++
				return syscall.ENOSPC
			}
			return add(dir)
		}
		return n, nil
	}
	defer testkit.Background(t, l.Run)()
	until := func(what string, ok func() bool) {
		t.Helper()
		testkit.Eventually(t, what, ok)
	}
	until("the limit is told", func() bool { return strings.Contains(lines.String(), "fs.inotify.max_user_watches") })
	for _, dir := range []string{"english", "jingles", "news"} { // two of them unwatched
		if err := os.WriteFile(filepath.Join(root, dir, "empty.mp3"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	until("files in unwatched folders are found", func() bool { return len(l.Snapshot().Quarantined) == 3 })
	mu.Lock()
	limit = 100
	mu.Unlock()
	until("the raised limit is noticed", func() bool { return strings.Contains(lines.String(), "watching all media folders again") })
	if n := lines.Count("max_user_watches"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	if failures == 0 {
		t.Error("the limit was never hit")
	}
}

// A queue overflow means lost events: everything must be looked at.
func TestLostEventsLeadToAWholeScan(t *testing.T) {
	events, errs := make(chan fsnotify.Event), make(chan error)
	w := newWatch("/media", &notifier{events: events, errors: errs})
	go func() {
		errs <- fsnotify.ErrEventOverflow
		events <- fsnotify.Event{Name: "/media/english/a.mp3", Op: fsnotify.Write}
		close(events)
		close(errs)
	}()
	w.pump()
	if scopes, _ := w.due(time.Now().Add(time.Hour), false); len(scopes) != 1 || scopes[0] != overview {
		t.Errorf("scopes %q", scopes)
	}
}

func TestPathsAreLookedAtOnceTheyAreQuiet(t *testing.T) {
	w := newWatch("/media", nil)
	now := time.Now()
	for i := range 100 { // a copy writes for 10 s
		w.event(fsnotify.Event{Name: "/media/a/b.mp3", Op: fsnotify.Write}, now.Add(time.Duration(i)*100*time.Millisecond))
	}
	for _, name := range []string{"/media/a/b.mp3.part", "/media/a/.x.mp3", "/media/a/cover.jpg"} {
		w.event(fsnotify.Event{Name: name, Op: fsnotify.Write}, now)
	}
	if at := w.next(); at.Sub(now) != longest {
		t.Errorf("a busy file is looked at after %v", at.Sub(now))
	}
	w.event(fsnotify.Event{Name: "/media/a", Op: fsnotify.Rename}, now)
	w.event(fsnotify.Event{Name: "/media/a b", Op: fsnotify.Create}, now)
	w.event(fsnotify.Event{Name: "/media/c/x.mp3.license", Op: fsnotify.Write}, now)
	w.event(fsnotify.Event{Name: "/media/d/ATTRIBUTION.tsv", Op: fsnotify.Write}, now)
	scopes, moved := w.due(now.Add(longest), false)
	if strings.Join(scopes, ",") != "a,a b,c/x.mp3,d" || strings.Join(moved, ",") != "a" {
		t.Errorf("scopes %q, moved %q", scopes, moved)
	}
}

// A walk under the new name would take up the watches of the old one, which end
// when that is looked at.
func TestMovedFolderIsForgottenBeforeItsNewNameIsWalked(t *testing.T) {
	w := newWatch("/media", nil)
	now := time.Now()
	w.event(fsnotify.Event{Name: "/media/old", Op: fsnotify.Rename}, now)
	w.event(fsnotify.Event{Name: "/media/new", Op: fsnotify.Create}, now)
	w.event(fsnotify.Event{Name: "/media/old", Op: fsnotify.Rename}, now.Add(quiet/2)) // the folder's own, which comes last
	for _, c := range []struct {
		after         time.Duration
		whole         bool
		scopes, moved string
	}{{quiet / 2, false, "", ""}, {quiet / 2, true, "", "old"}, {quiet, false, "new", "old"}, {2 * quiet, false, "old", "old"}} {
		scopes, moved := w.due(now.Add(c.after), c.whole)
		if strings.Join(scopes, ",") != c.scopes || strings.Join(moved, ",") != c.moved {
			t.Errorf("after %s, everything %v: scopes %q, moved %q", c.after, c.whole, scopes, moved)
		}
	}
}

// A copy that takes its time, with pauses shorter than a file must rest, is
// registered once, whole, and never quarantined as truncated on the way.
func TestSlowCopyIsRegisteredOnceWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		events := make(chan fsnotify.Event)
		db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close() //nolint:errcheck // a test's
		log, _ := testkit.Log(t)
		l, err := Open(t.Context(), db, Options{Root: root, Log: log, Settle: time.Second, Rescan: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		nothing := func(string) error { return nil }
		l.notifier = func() (*notifier, error) {
			errs := make(chan error)
			closed := sync.OnceFunc(func() { close(events); close(errs) })
			return &notifier{nothing, nothing, func() []string { return nil }, func() error { closed(); return nil }, events, errs}, nil
		}
		defer testkit.Background(t, l.Run)()
		time.Sleep(10 * time.Second)
		if err := os.Mkdir(filepath.Join(root, "english"), 0o750); err != nil {
			t.Fatal(err)
		}
		generation := l.Snapshot().Generation
		wav := wav(5)
		name := filepath.Join(root, "english", "slow.wav")
		file, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		for part := range slices.Chunk(wav, len(wav)/10) {
			_, err := file.Write(part)
			if err = errors.Join(err, os.Chtimes(name, time.Now(), time.Now())); err != nil { // the bubble's time
				t.Fatal(err)
			}
			events <- fsnotify.Event{Name: name, Op: fsnotify.Write}
			time.Sleep(900 * time.Millisecond)
			if s := l.Snapshot(); s.Generation != generation {
				t.Fatalf("registered half: %+v, quarantined %+v", s.Tracks, s.Quarantined)
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "the whole copy", func() bool { return l.Snapshot().Generation != generation })
		time.Sleep(time.Minute)
		s := l.Snapshot()
		if got, ok := s.Find("english/slow.wav"); !ok || got.Size != int64(len(wav)) || s.Generation != generation+1 || len(s.Quarantined) > 0 {
			t.Errorf("%+v, generation %d after %d", got, s.Generation, generation)
		}
	})
}

// wav is seconds of a tone that never repeats, 8 kHz, 16 bit.
func wav(seconds int) []byte {
	n := uint32(16000 * seconds) //nolint:gosec // small
	b := []byte("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data....")
	binary.LittleEndian.PutUint32(b[4:], 36+n)
	binary.LittleEndian.PutUint32(b[40:], n)
	for i := range n {
		b = append(b, byte(i*i)) //nolint:gosec // any sound will do
	}
	return b
}

// A disk that is pulled out while it is scanned looks like a folder whose files
// were all deleted.
func TestRootTakenAwayDuringAScanRemovesNothing(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "media")
	if err := os.MkdirAll(filepath.Join(root, "english"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "english", "empty.mp3"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(base, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	l, err := Open(t.Context(), db, Options{Root: root, Log: slog.New(slog.DiscardHandler), Settle: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Scan(t.Context(), nil); err != nil || len(l.Snapshot().Quarantined) != 1 {
		t.Fatal(err, l.Snapshot())
	}
	_, _, err = l.scanAll(t.Context(), nil, nil, func(string) {
		_ = os.Rename(root, filepath.Join(base, "away"))
		_ = os.Mkdir(root, 0o750) // the bare mount point
	})
	if err == nil || !strings.Contains(err.Error(), "replaced or unmounted") || len(l.Snapshot().Quarantined) != 1 {
		t.Errorf("%v, %+v", err, l.Snapshot())
	}
}
