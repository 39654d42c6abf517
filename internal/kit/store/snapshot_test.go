package store_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/athir-radio/athir/internal/kit/store"
)

// While another process commits row after row, each of which is told once it is on disk: a
// copy has all that were told before it was begun, and is whole.
func TestASnapshotHasEveryRowThatWasAcknowledgedBeforeIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_ROLE=writer", "STORE_TEST_PATH="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	last := 0
	next := func() {
		if !lines.Scan() {
			t.Fatal("the writer ended")
		}
		if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 4 {
		for range 100 {
			next()
		}
		told, pieces := last, 0
		copied := filepath.Join(t.TempDir(), "copy.db")
		if err := store.Snapshot(t.Context(), path, copied, func(context.Context) error {
			pieces++
			next() // commits go on between its pieces
			return nil
		}, nil); err != nil {
			t.Fatal(err)
		}
		copyHolds(t, copied, told, round)
		if pieces == 0 {
			t.Error("it was copied in one go, and could not have made way")
		}
	}
}

func copyHolds(t *testing.T, path string, told, round int) {
	t.Helper()
	if _, err := store.Check(t.Context(), path); err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	db, err := store.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	var n, highest int
	if err := db.QueryRow("SELECT count(*), max(n) FROM a").Scan(&n, &highest); err != nil || n != highest || n < told {
		t.Errorf("round %d: %d rows up to %d, %d were told before: %v", round, n, highest, told, err)
	}
}

// Two tables that are always changed together are never apart in a copy.
func TestASnapshotIsOneMoment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	if err := exec1(db, `CREATE TABLE a (n INTEGER, fill BLOB); CREATE TABLE b (n INTEGER, fill BLOB)`); err != nil {
		t.Fatal(err)
	}
	both := func() error {
		return db.Write(context.Background(), func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO a SELECT count(*), zeroblob(9000) FROM a; INSERT INTO b SELECT count(*), zeroblob(9000) FROM b`)
			return err
		})
	}
	for range 50 {
		if err := both(); err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := store.Snapshot(t.Context(), path, copied, func(context.Context) error { return errors.Join(both(), both()) }, nil); err != nil {
		t.Fatal(err)
	}
	got := open(t, copied)
	if a, b := count(t, got, "a"), count(t, got, "b"); a != b || a != 50 {
		t.Errorf("%d and %d rows: want the 50 from before it", a, b)
	}
}

func TestASnapshotThatIsStoppedIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := exec1(open(t, path), `CREATE TABLE a (n INTEGER)`); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if err := store.Snapshot(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"), func(context.Context) error { return stop }, nil); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestADamagedPageAndARowWithoutItsParentAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		db.Migrate(t.Context(), "t", migration(3, "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p INTEGER REFERENCES p(id), fill TEXT)")),
		exec1(db, `INSERT INTO p VALUES (1)`), exec1(db, `INSERT INTO c SELECT 1, hex(randomblob(500)) FROM (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10),(11),(12))`),
		db.Close()); err != nil {
		t.Fatal(err)
	}
	if versions, err := store.Check(t.Context(), path); err != nil || versions["t"] != 3 {
		t.Errorf("a whole one: %v, %v", versions, err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), whole...)
	for i := len(damaged) - 4096; i < len(damaged); i++ {
		damaged[i] = 0xff
	}
	orphans := filepath.Join(t.TempDir(), "orphans.db")
	if err := os.WriteFile(orphans, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", orphans) // does not enforce them
	if err == nil {
		_, err = raw.Exec(`DELETE FROM p`)
	}
	if err = errors.Join(err, raw.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{path, orphans} {
		if _, err := store.Check(t.Context(), bad); !errors.Is(err, store.ErrNotDatabase) {
			t.Errorf("%s: %v", filepath.Base(bad), err)
		}
	}
}

func TestVersionsAreComparedWithTheProgram(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "state.db"))
	for slice, version := range map[string]int{"old": 1, "same": 2, "newer": 3} {
		if err := db.Migrate(t.Context(), slice, migration(version, "CREATE TABLE "+slice+" (n INTEGER)")); err != nil {
			t.Fatal(err)
		}
	}
	versions, err := db.Versions(t.Context())
	if err != nil || len(versions) != 3 {
		t.Fatal(versions, err)
	}
	two := fstest.MapFS{"0001_a.sql": {}, "00002_b.sql": {}}
	pending, newer, err := store.Ahead(versions, []store.Schema{{Slice: "old", Files: two}, {Slice: "same", Files: two}, {Slice: "newer", Files: two}, {Slice: "none", Files: two}})
	if err != nil || len(pending) != 1 || pending[0] != (store.Step{Slice: "old", Have: 1, To: 2}) || len(newer) != 1 || newer[0].Slice != "newer" {
		t.Errorf("%v, %v, %v", pending, newer, err)
	}
	if beside, err := store.VersionsOf(t.Context(), db.Path()); err != nil || beside["newer"] != 3 {
		t.Errorf("beside its owner: %v, %v", beside, err)
	}
}
