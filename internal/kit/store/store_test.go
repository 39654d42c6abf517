package store_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// TestMain doubles as the child that a test kills and as the child that runs
// without root's power over permissions.
func TestMain(m *testing.M) {
	if dir := os.Getenv("STORE_TEST_FULL"); dir != "" {
		testkit.Told(func() error { return ontoAFullDisk(dir) })
	}
	switch path := os.Getenv("STORE_TEST_PATH"); os.Getenv("STORE_TEST_ROLE") {
	case "writer":
		commitForEver(path)
	case "follower":
		fmt.Println(followForEver(path, os.Getenv("STORE_TEST_TO")))
	case "open":
		_, err := store.Open(context.Background(), path)
		fmt.Println(err)
	default:
		testkit.Main(m)
	}
}

func migration(version int, up string) fstest.MapFS {
	return fstest.MapFS{
		fmt.Sprintf("%05d_x.sql", version): {Data: []byte("-- +goose Up\n" + up + ";\n")},
	}
}

func open(t *testing.T, path string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func exec1(db *store.DB, query string, args ...any) error {
	return db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}

func count(t *testing.T, db *store.DB, table string) (n int) {
	t.Helper()
	if err := db.Read().QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOpenSetsWhatDurabilityNeedsUnderAnyFileName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "أثير 100% #1?", "state.db")
	db := open(t, path)
	if err := db.Write(t.Context(), func(tx *sql.Tx) error {
		for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} {
			var got string
			if err := tx.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
				t.Errorf("%s = %q (%v), want %q", pragma, got, err, want)
			}
		}
		_, err := tx.Exec("CREATE TABLE a (n INTEGER)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", info.Name(), info.Mode().Perm())
		}
	}
	if _, err := db.Read().Exec("INSERT INTO a VALUES (1)"); err == nil {
		t.Error("the read pool can write")
	}
}

func TestWriteIsAllOrNothing(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "state.db"))
	if err := exec1(db, "CREATE TABLE a (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	insert := func(then func() error) func(*sql.Tx) error {
		return func(tx *sql.Tx) error {
			if _, err := tx.Exec("INSERT INTO a VALUES (1)"); err != nil {
				return err
			}
			return then()
		}
	}
	if err := db.Write(t.Context(), insert(func() error { return stop })); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = db.Write(t.Context(), insert(func() error { panic("x") }))
	}()
	ctx, cancel := context.WithCancel(t.Context())
	if err := db.Write(ctx, insert(func() error { cancel(); return nil })); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled write answered %v", err)
	}
	if n := count(t, db, "a"); n != 0 {
		t.Errorf("%d rows of failed writes", n)
	}
	if err := db.Write(t.Context(), insert(func() error { return nil })); err != nil || count(t, db, "a") != 1 {
		t.Errorf("the write connection is lost after failures: %v", err)
	}
}

// A transaction that read before another one wrote must not overwrite it.
func TestConcurrentReadModifyWritesOfTwoProcessesLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	a, b := open(t, path), open(t, path)
	if err := exec1(a, "CREATE TABLE c (n INTEGER); INSERT INTO c VALUES (0)"); err != nil {
		t.Fatal(err)
	}
	const each = 50
	var wg sync.WaitGroup
	for _, db := range []*store.DB{a, b, a, b} {
		wg.Go(func() {
			for range each {
				if err := db.Write(t.Context(), func(tx *sql.Tx) error {
					var n int
					if err := tx.QueryRow("SELECT n FROM c").Scan(&n); err != nil {
						return err
					}
					_, err := tx.Exec("UPDATE c SET n = ?", n+1)
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var n int
	if err := b.Read().QueryRow("SELECT n FROM c").Scan(&n); err != nil || n != 4*each {
		t.Errorf("counted %d (%v), want %d", n, err, 4*each)
	}
}

func TestSlicesMigrateApartAndTwoProcessesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	a, b := open(t, path), open(t, path)
	var wg sync.WaitGroup
	for _, db := range []*store.DB{a, b} {
		wg.Go(func() {
			for slice, up := range map[string]string{"one": "CREATE TABLE one (n INTEGER)", "two": "CREATE TABLE two (n INTEGER)"} {
				if err := db.Migrate(t.Context(), slice, migration(1, up)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if count(t, a, "one")+count(t, b, "two") != 0 {
		t.Error("tables are not empty")
	}
	// Each slice goes on by its own numbers.
	next := migration(1, "CREATE TABLE one (n INTEGER)")
	next["00002_x.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nALTER TABLE one ADD COLUMN m INTEGER;\n")}
	if err := a.Migrate(t.Context(), "one", next); err != nil {
		t.Fatal(err)
	}
	if err := a.Migrate(t.Context(), "two", migration(1, "CREATE TABLE two (n INTEGER)")); err != nil {
		t.Fatal(err)
	}
	err := a.Migrate(t.Context(), "one", migration(1, "CREATE TABLE one (n INTEGER)"))
	if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "upgrade the program") {
		t.Errorf("a newer schema: %v", err)
	}
}

func TestFailedMigrationLeavesTheSchemaAsItWas(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "state.db"))
	err := db.Migrate(t.Context(), "one", migration(1, "CREATE TABLE one (n INTEGER);\nCREATE TABLE nonsense ("))
	if err == nil {
		t.Fatal("no error")
	}
	if err := db.Migrate(t.Context(), "one", migration(1, "CREATE TABLE one (n INTEGER)")); err != nil {
		t.Fatal(err)
	}
}

func TestErrorsNameTheReasonAndTheRemedy(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(t.Context(), text)
	if !errors.Is(err, store.ErrNotDatabase) || !strings.Contains(err.Error(), text) {
		t.Errorf("a text file: %v", err)
	}
	if _, err := store.Open(t.Context(), filepath.Join(text, "state.db")); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a file as folder: %v", err)
	}

	db := open(t, filepath.Join(dir, "state.db"))
	err = db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec("PRAGMA max_page_count = 3; CREATE TABLE a (b BLOB); INSERT INTO a VALUES (zeroblob(100000))")
		return err
	})
	if !errors.Is(err, store.ErrDiskFull) || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("a full disk: %v", err)
	}
}

func TestUnwritableFolderNamesTheUser(t *testing.T) {
	dir := publicDir(t)
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	if os.Getuid() == 0 { // permissions do not bind root
		program, err := os.ReadFile(self)
		if err != nil {
			t.Fatal(err)
		}
		cmd = exec.Command(filepath.Join(dir, "test"))
		testkit.Executable(t, cmd.Path, program)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	path := filepath.Join(closed, "state.db")
	cmd.Env = append(os.Environ(), "STORE_TEST_ROLE=open", "STORE_TEST_PATH="+path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{path, "cannot be written", "by user ", "change its owner"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q lacks %q", out, want)
		}
	}
}

// publicDir is a temporary folder that other users may enter.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "athir-store-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // readable on purpose
		t.Fatal(err)
	}
	return dir
}

// commitForEver commits one row after another and prints each number once its
// commit has been acknowledged.
func commitForEver(path string) {
	db, err := store.Open(context.Background(), path)
	if err != nil {
		panic(err)
	}
	if err := exec1(db, "CREATE TABLE IF NOT EXISTS a (n INTEGER PRIMARY KEY, b BLOB)"); err != nil {
		panic(err)
	}
	var n int
	if err := db.Read().QueryRow("SELECT coalesce(max(n), 0) FROM a").Scan(&n); err != nil {
		panic(err)
	}
	for {
		n++
		if err := exec1(db, "INSERT INTO a VALUES (?, zeroblob(2000))", n); err != nil {
			panic(err)
		}
		fmt.Println(n)
	}
}

func TestEveryAcknowledgedRowSurvivesKill9(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	last := 0
	for round := range 8 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "STORE_TEST_ROLE=writer", "STORE_TEST_PATH="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		killed := false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
				t.Fatalf("child said %q", lines.Text())
			}
			if !killed {
				killed = true
				time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait()
		if !killed {
			t.Fatal("the child committed nothing")
		}
		checkRows(t, path, last, round)
	}
	t.Logf("%d acknowledged commits, none lost", last)
}

func checkRows(t *testing.T, path string, last, round int) {
	t.Helper()
	db, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var n, highest int
	var check string
	if err := errors.Join(
		db.Read().QueryRow("SELECT count(*), max(n) FROM a").Scan(&n, &highest),
		db.Read().QueryRow("PRAGMA integrity_check").Scan(&check),
	); err != nil {
		t.Fatal(err)
	}
	// The last commit may have been made but not yet told.
	if n != highest || highest < last || highest > last+1 || check != "ok" {
		t.Fatalf("round %d: %d rows up to %d, acknowledged %d, integrity %s", round, n, highest, last, check)
	}
}
