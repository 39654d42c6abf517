package media

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/athir-radio/athir/internal/kit/store"
)

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

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
	var log lockedBuffer
	l, err := Open(t.Context(), db, Options{
		Root: root, Log: slog.New(slog.NewTextHandler(&log, nil)), Settle: time.Millisecond, Rescan: 300 * time.Millisecond,
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
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = l.Run(ctx) }()
	defer func() { cancel(); <-done }()

	until := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s\n%s", what, log.String())
			}
		}
	}
	until("the limit was not told", func() bool { return strings.Contains(log.String(), "fs.inotify.max_user_watches") })
	for _, dir := range []string{"english", "jingles", "news"} { // two of them unwatched
		if err := os.WriteFile(filepath.Join(root, dir, "empty.mp3"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	until("files in unwatched folders were not found", func() bool { return len(l.Snapshot().Quarantined) == 3 })
	mu.Lock()
	limit = 100
	mu.Unlock()
	until("the raised limit was not noticed", func() bool { return strings.Contains(log.String(), "watched again") })
	if n := strings.Count(log.String(), "max_user_watches"); n != 1 {
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
	if scopes, _ := w.due(time.Now().Add(time.Hour)); len(scopes) != 1 || scopes[0] != overview {
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
	scopes, moved := w.due(now.Add(longest))
	if strings.Join(scopes, ",") != "a,a b,c/x.mp3,d" || strings.Join(moved, ",") != "a" {
		t.Errorf("scopes %q, moved %q", scopes, moved)
	}
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
	if err == nil || !strings.Contains(err.Error(), "taken away") || len(l.Snapshot().Quarantined) != 1 {
		t.Errorf("%v, %+v", err, l.Snapshot())
	}
}
