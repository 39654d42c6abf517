package media_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/media"
)

// child is this test program scanning root into the database at path.
func child(program, root, db string) *exec.Cmd {
	cmd := exec.Command(program) //nolint:gosec // this very program
	cmd.Env = append(os.Environ(), "MEDIA_TEST_ROOT="+root, "MEDIA_TEST_DB="+db)
	return cmd
}

// content is a registry without the times at which it was made.
func content(s *media.Snapshot) string {
	var out strings.Builder
	for _, t := range s.Tracks {
		t.AddedAt = time.Time{}
		fmt.Fprintf(&out, "%+v\n", t)
	}
	for _, q := range s.Quarantined {
		fmt.Fprintf(&out, "%q %s\n", q.Path, q.Reason)
	}
	return out.String()
}

func TestScanKilledAtAnyPointEndsWithTheSameRegistry(t *testing.T) {
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "state.db")
	const files = 1200
	for i := range files {
		ext := []string{"ogg", "mp3", "m4a"}[i%3]
		put(t, root, fmt.Sprintf("music/english/%d/%04d.%s", i%20, i, ext), sound(t, ext))
	}
	put(t, root, "english/empty.mp3", nil)
	fresh := open(t, root)
	scan(t, fresh.Library)
	want := content(fresh.Snapshot())

	for _, last := range []int{files / 2, files - 50} {
		stuckAt(t, path, root, last)
		before := registered(t, path)
		cmd := child(os.Args[0], root, path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "a part is committed", func() bool { return registered(t, path) > before })
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if n := registered(t, path); n <= before || n >= last {
			t.Errorf("a kill in the middle left %d of %d tracks, %d before", n, files, before)
		}
	}
	stuckAt(t, path, root, 0)
	db, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	l := openOn(t, db, root)
	scan(t, l)
	if got := content(l.Snapshot()); got != want {
		t.Errorf("the registry differs: %d bytes, want %d", len(got), len(want))
	}
	if got := content(openOn(t, db, root).Snapshot()); got != want {
		t.Error("the database holds something else")
	}
}

// stuckAt makes whoever registers so many tracks get no further, in the middle of
// a commit; 0 lets scans go on.
func stuckAt(t *testing.T, path, root string, tracks int) {
	t.Helper()
	db, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	openOn(t, db, root) // makes the tables
	order := "DROP TRIGGER IF EXISTS stuck;"
	if tracks > 0 {
		order += fmt.Sprintf(`CREATE TRIGGER stuck AFTER INSERT ON media_track WHEN (SELECT count(*) FROM media_track) >= %d BEGIN
			UPDATE media_track SET path = path WHERE (WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n) = 0; END;`, tracks)
	}
	if err := db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(order)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func registered(t *testing.T, path string) (n int) {
	t.Helper()
	db, err := store.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM media_track").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Folder and file permissions: what can be read is, the rest is named with the
// user and the remedy, and comes back by itself once it is mended.
func TestUnreadableFoldersAreNamedWithUserAndRemedy(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("", "athir-media-")
	if err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(base, "media", "ads")
	t.Cleanup(func() {
		_ = os.Chmod(closed, 0o750) //nolint:gosec // a folder
		_ = os.RemoveAll(base)
	})
	root := filepath.Join(base, "media")
	put(t, root, "english/a.ogg", sound(t, "ogg"))
	put(t, root, "english/secret.ogg", sound(t, "ogg"))
	put(t, root, "ads/b.ogg", sound(t, "ogg"))
	program := filepath.Join(base, "test")
	self, err := os.ReadFile(os.Args[0])
	must(t, err)
	testkit.Executable(t, program, self)
	for path, mode := range map[string]os.FileMode{base: 0o777, program: 0o755, root: 0o755, filepath.Join(root, "english"): 0o755,
		filepath.Join(root, "english/a.ogg"): 0o644, filepath.Join(root, "english/secret.ogg"): 0, closed: 0o755,
		filepath.Join(closed, "b.ogg"): 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	run := func() string {
		cmd := child(program, root, filepath.Join(base, "state.db"))
		if os.Getuid() == 0 { // permissions do not bind root
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if out := run(); !strings.Contains(out, "Added:2") || !strings.Contains(out, "Quarantined:1") {
		t.Errorf("before: %s", out)
	}
	must(t, os.Chmod(closed, 0))
	out := run() // what it cannot see is not deleted
	for _, want := range []string{"Seen:2", "Removed:0", "folder " + closed + " cannot be read by user ", "chown", "<nil>"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %q", out, want)
		}
	}
	must(t, os.Chmod(closed, 0o755), os.Chmod(filepath.Join(root, "english/secret.ogg"), 0o644)) //nolint:gosec // readable again
	if out := run(); !strings.Contains(out, "Added:1") || !strings.Contains(out, "Opened:1") {
		t.Errorf("after the remedy: %s", out)
	}
	if err := os.Chmod(root, 0); err != nil {
		t.Fatal(err)
	}
	if out := run(); !strings.Contains(out, "folder "+root+" cannot be read by user ") || !strings.Contains(out, "Removed:0") {
		t.Errorf("a closed root: %s", out)
	}
	if err := os.Chmod(root, 0o755); err != nil { //nolint:gosec // to be removed
		t.Fatal(err)
	}
}

// run starts the library and stops it with the test.
func run(t *testing.T, l *media.Library) {
	t.Helper()
	testkit.Background(t, l.Run)
}

// `athir scan` beside a running station: the station takes over what the other
// process registered without opening a file itself.
func TestAnotherProcessScansTheSameDatabase(t *testing.T) {
	t.Parallel()
	f := open(t, t.TempDir())
	put(t, f.root, "english/a.ogg", sound(t, "ogg"))
	run(t, f.Library)
	testkit.EventuallyNil(t, "first scan", func() error {
		if s := f.Snapshot(); len(s.Tracks) != 1 || s.Scanning {
			return fmt.Errorf("%q", paths(s))
		}
		return nil
	})
	// The station watches its own folder only, so a second one tells by which
	// way the news came: through the database.
	other := t.TempDir()
	put(t, other, "news/b.ogg", sound(t, "ogg"))
	if out, err := child(os.Args[0], other, f.db.Path()).CombinedOutput(); err != nil || !strings.Contains(string(out), "Added:1") {
		t.Fatalf("%v: %s", err, out)
	}
	testkit.EventuallyNil(t, "refresh", func() error {
		if _, ok := f.Snapshot().Find("news/b.ogg"); !ok {
			return fmt.Errorf("%q", paths(f.Snapshot()))
		}
		return nil
	})
}

func TestTwoScansOfOneDatabaseAtOnceAgree(t *testing.T) {
	t.Parallel()
	f := open(t, t.TempDir())
	for i := range 600 {
		put(t, f.root, fmt.Sprintf("english/%04d.ogg", i), sound(t, "ogg"))
	}
	second, err := store.Open(t.Context(), f.db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	other := openOn(t, second, f.root)
	var wg sync.WaitGroup
	var errs [2]error
	for i, l := range []*media.Library{f.Library, other} {
		wg.Go(func() { _, errs[i] = l.Scan(t.Context(), nil) })
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	if a, b := content(f.Snapshot()), content(other.Snapshot()); a != b || len(f.Snapshot().Tracks) != 600 {
		t.Errorf("they differ: %d and %d tracks", len(f.Snapshot().Tracks), len(other.Snapshot().Tracks))
	}
}

// A scan that commits between another process's commits must not lose sight of
// what that process wrote.
func TestMemoryNeverPartsFromTheDatabase(t *testing.T) {
	f := open(t, t.TempDir())
	put(t, f.root, "english/a.ogg", sound(t, "ogg"))
	scan(t, f.Library)
	put(t, f.root, "english/passing.ogg", sound(t, "ogg"))
	scan(t, openOn(t, f.db, f.root)) // which the first library is not told
	must(t, os.Remove(filepath.Join(f.root, "english/passing.ogg")))
	put(t, f.root, "english/c.ogg", sound(t, "ogg"))
	scan(t, f.Library)
	if got, want := content(f.Snapshot()), content(openOn(t, f.db, f.root).Snapshot()); got != want {
		t.Errorf("in memory:\n%s\nsaved:\n%s", got, want)
	}
	scan(t, f.Library)
	if got := paths(f.Snapshot()); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestFullDiskIsToldAndMadeUpForLater(t *testing.T) {
	f := open(t, t.TempDir())
	for i := range 1200 {
		put(t, f.root, fmt.Sprintf("english/%04d.ogg", i), sound(t, "ogg"))
	}
	pages := func(n int) {
		t.Helper()
		if err := f.db.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", n))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	pages(40)
	_, err := f.Scan(t.Context(), nil)
	if !errors.Is(err, store.ErrDiskFull) || !strings.Contains(f.Snapshot().Problem, "free some space") {
		t.Errorf("%v, problem %q", err, f.Snapshot().Problem)
	}
	pages(1 << 30)
	scan(t, f.Library)
	if s := f.Snapshot(); len(s.Tracks) != 1200 || s.Problem != "" || content(openOn(t, f.db, f.root).Snapshot()) != content(s) {
		t.Errorf("%d tracks, problem %q", len(s.Tracks), s.Problem)
	}
}
