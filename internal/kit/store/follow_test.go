package store_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func follower(db *store.DB, to string) *store.Follower {
	return (&store.Follower{DB: db, To: to, Every: time.Second, Log: slog.New(slog.DiscardHandler)}).Small()
}

// told is a database in a line: two tables that every commit changes alike.
func told(db *sql.DB) (s string, err error) {
	var n, m, bytes int
	err = db.QueryRow("SELECT (SELECT n FROM c), (SELECT m FROM d), (SELECT coalesce(sum(length(x) + n), 0) FROM e)").Scan(&n, &m, &bytes)
	if err == nil && n != m {
		err = fmt.Errorf("a mixture: %d and %d", n, m)
	}
	return fmt.Sprint(n, " ", bytes), err
}

func counted(t testing.TB, db *store.DB) {
	t.Helper()
	if err := exec1(db, "CREATE TABLE IF NOT EXISTS c (n INTEGER); CREATE TABLE IF NOT EXISTS d (m INTEGER); CREATE TABLE IF NOT EXISTS e (n INTEGER, x BLOB); INSERT INTO c VALUES (0); INSERT INTO d VALUES (0)"); err != nil {
		t.Fatal(err)
	}
}

func commit(db *store.DB, size int) error {
	return exec1(db, "UPDATE c SET n = n + 1; INSERT INTO e SELECT n, randomblob(?) FROM c; UPDATE d SET m = m + 1", size)
}

// rebuilt is what a continuous copy has.
func rebuilt(t testing.TB, dir string) (string, store.Rebuilt) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rebuilt.db")
	r, err := store.Rebuild(t.Context(), dir, path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	s, err := told(db)
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

// Whatever is committed, by whom, and whoever folds the log or reads meanwhile: after a step
// the copy is the database.
func TestAContinuousCopyIsTheDatabaseAfterEachStep(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		path, to := filepath.Join(t.TempDir(), "state.db"), t.TempDir()
		db, err := store.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		counted(t, db)
		f := follower(db, to)
		var reader *sql.Tx
		for i := range 40 {
			switch r.IntN(12) {
			case 0:
				err = commit(db, 30_000)
			case 1:
				err = exec1(db, "DELETE FROM e WHERE n % 2 = 0")
			case 2: // its log is folded by SQLite itself, and another process may do so
				var other *store.DB
				if other, err = store.Open(t.Context(), path); err == nil {
					for range 3 {
						err = errors.Join(err, commit(other, 30_000))
					}
					err = errors.Join(err, other.Close())
				}
			case 3:
				if reader == nil {
					reader, err = db.Read().Begin()
					if err == nil {
						err = reader.QueryRow("SELECT n FROM c").Scan(new(int))
					}
				} else {
					err, reader = reader.Rollback(), nil
				}
			case 4:
				_ = db.Write(t.Context(), func(tx *sql.Tx) error {
					_, err := tx.Exec("INSERT INTO e VALUES (1, zeroblob(2500000))") // more than the cache
					return errors.Join(err, errors.New("no"))
				})
			case 5:
				if reader == nil {
					err = db.Close()
					if err == nil {
						db, err = store.Open(t.Context(), path)
						f = follower(db, to)
					}
				}
			case 6:
				if reader == nil {
					_, err = db.Read().Exec("SELECT 1")
					err = errors.Join(err, vacuum(db))
				}
			default:
				err = commit(db, r.IntN(20_000))
			}
			if err != nil {
				t.Fatal(i, err)
			}
			if r.IntN(3) == 0 {
				continue
			}
			if err := f.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			want, err := told(db.Read())
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := rebuilt(t, to); got != want {
				t.Fatalf("seed %d, step %d: the copy has %s, the database %s: %+v", seed, i, got, want, f.Status())
			}
		}
		if reader != nil {
			_ = reader.Rollback()
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func vacuum(db *store.DB) error {
	other, err := sql.Open("sqlite", db.Path())
	if err == nil {
		_, err = other.Exec("VACUUM")
		err = errors.Join(err, other.Close())
	}
	return err
}

// Cut or changed anywhere, a piece is not used, and the copy is as it was before it.
func TestADamagedPieceIsNotUsed(t *testing.T) {
	db, to := open(t, filepath.Join(t.TempDir(), "state.db")), t.TempDir()
	counted(t, db)
	f := follower(db, to)
	var states []string
	for range 4 {
		if err := errors.Join(commit(db, 10), f.Step(t.Context())); err != nil {
			t.Fatal(err)
		}
		s, _ := told(db.Read())
		states = append(states, s)
	}
	folder := filepath.Join(to, f.Status().Generation)
	for number, want := range states[:3] {
		path := filepath.Join(folder, fmt.Sprintf("%08d", number+1))
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += 29 {
			changed := append([]byte{}, whole...)
			changed[at] ^= 1 << (at % 8)
			for _, text := range [][]byte{changed, whole[:at]} {
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
				got, r := rebuilt(t, to)
				if got != want || r.Pieces != number || r.Left == "" {
					t.Fatalf("piece %d at byte %d: %s, want %s: %+v", number+1, at, got, want, r)
				}
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, r := rebuilt(t, to); got != states[3] || r.Pieces != 3 || r.Left != "" {
		t.Errorf("whole again: %s: %+v", got, r)
	}
	base := filepath.Join(folder, "base")
	whole, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(base, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Rebuild(t.Context(), to, filepath.Join(t.TempDir(), "x")); !errors.Is(err, store.ErrNoCopy) {
		t.Errorf("a whole copy that is cut: %v", err)
	}
	if _, err := store.Rebuild(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "x")); !errors.Is(err, store.ErrNoCopy) {
		t.Errorf("an empty folder: %v", err)
	}
}

// A folder that goes away keeps nobody from writing, and the log small; when it is back,
// so is the copy.
func TestATargetThatIsAwayIsCaughtUpWith(t *testing.T) {
	db, to := open(t, filepath.Join(t.TempDir(), "state.db")), filepath.Join(t.TempDir(), "nas")
	counted(t, db)
	f := follower(db, to)
	if err := f.Step(t.Context()); err == nil || !strings.Contains(err.Error(), "mount its disk") {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Step(t.Context()), commit(db, 10), f.Step(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, times := range []int{1, 90} {
		before := f.Status()
		if err := os.Rename(to, to+"-away"); err != nil {
			t.Fatal(err)
		}
		for range times {
			if err := commit(db, 1<<14); err != nil {
				t.Fatal(err)
			}
			if err := f.Step(t.Context()); err == nil {
				t.Fatal("copied to a folder that is away")
			}
		}
		if now := f.Status(); now.Err == "" || !now.Until.Equal(before.Until) {
			t.Errorf("it tells %+v", now)
		}
		if info, err := os.Stat(db.Path() + "-wal"); err != nil || info.Size() > 2<<20 {
			t.Errorf("the log: %d bytes, %v", info.Size(), err)
		}
		if err := errors.Join(os.Rename(to+"-away", to), f.Step(t.Context())); err != nil {
			t.Fatal(err)
		}
		want, _ := told(db.Read())
		if got, _ := rebuilt(t, to); got != want {
			t.Errorf("the copy has %s, the database %s", got, want)
		}
		if again := f.Status().Generation != before.Generation; again != (times > 64) {
			t.Errorf("after %d commits a new generation: %v", times, again)
		}
	}
}

// Killed while it writes and copies: what it had said is copied is in the copy.
func TestAFollowerThatIsKilledLeavesAWholeCopy(t *testing.T) {
	path, to := filepath.Join(t.TempDir(), "state.db"), t.TempDir()
	for round := range 6 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "STORE_TEST_ROLE=follower", "STORE_TEST_PATH="+path, "STORE_TEST_TO="+to)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		copied, enough := 0, 1+rand.IntN(12)
		for lines := bufio.NewScanner(out); lines.Scan(); enough-- {
			if _, err := fmt.Sscan(lines.Text(), &copied); err != nil {
				t.Fatalf("child said %q", lines.Text())
			}
			if enough == 0 {
				_ = cmd.Process.Kill()
			}
		}
		_ = cmd.Wait()
		got, r := rebuilt(t, to)
		n := 0
		if _, err := fmt.Sscan(got, &n); err != nil || n < copied || r.Left != "" {
			t.Fatalf("round %d: %d were copied, the copy has %s: %+v", round, copied, got, r)
		}
	}
}

func followForEver(path, to string) error {
	db, err := store.Open(context.Background(), path)
	if err != nil {
		return err
	}
	if err := exec1(db, "CREATE TABLE IF NOT EXISTS c (n INTEGER); CREATE TABLE IF NOT EXISTS d (m INTEGER); CREATE TABLE IF NOT EXISTS e (n INTEGER, x BLOB); INSERT INTO c SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM c); INSERT INTO d SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM d)"); err != nil {
		return err
	}
	f := follower(db, to)
	go func() {
		for commit(db, 5_000) == nil {
		}
	}()
	for {
		var n int
		if err := db.Read().QueryRow("SELECT n FROM c").Scan(&n); err != nil {
			return err
		}
		if err := f.Step(context.Background()); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func TestAFullTargetIsNoHarm(t *testing.T) { testkit.InOwnMounts(t, "STORE_TEST_FULL") }

func ontoAFullDisk(dir string) error {
	if err := testkit.SmallDisk(dir, 4096); err != nil {
		return err
	}
	local, err := os.MkdirTemp("", "athir-store-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(local) //nolint:errcheck // a test's own
	db, err := store.Open(context.Background(), filepath.Join(local, "state.db"))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // a test's own
	if err := exec1(db, "CREATE TABLE c (n INTEGER); CREATE TABLE d (m INTEGER); CREATE TABLE e (n INTEGER, x BLOB); INSERT INTO c VALUES (0); INSERT INTO d VALUES (0)"); err != nil {
		return err
	}
	f, last, full := follower(db, dir), "", false
	for range 20 {
		if err := commit(db, 500_000); err != nil {
			return err
		}
		if err := f.Step(context.Background()); err != nil {
			full = true
		} else if last, err = told(db.Read()); err != nil {
			return err
		}
	}
	rebuilt := filepath.Join(local, "rebuilt.db")
	if _, err := store.Rebuild(context.Background(), dir, rebuilt); err != nil {
		return err
	}
	got, err := store.OpenReadOnly(context.Background(), rebuilt)
	if err != nil {
		return err
	}
	defer got.Close() //nolint:errcheck // only read
	if s, err := told(got); err != nil || s != last || !full {
		return fmt.Errorf("the copy has %s (%w), what was copied last was %s, full: %v", s, err, last, full)
	}
	return nil
}
