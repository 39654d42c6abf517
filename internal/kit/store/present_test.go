package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// lostBy are the ways in which the file goes away under an open database.
func lostBy(path string) map[string]func() error {
	return map[string]func() error{
		"removed":                func() error { return errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm")) },
		"file removed, log left": func() error { return os.Remove(path) },
		"log removed":            func() error { return os.Remove(path + "-wal") },
		"moved away":             func() error { return os.Rename(path, path+".moved") },
		"another in its place": func() error {
			return errors.Join(os.WriteFile(path+".new", []byte("a backup"), 0o600), os.Rename(path+".new", path))
		},
		"folder removed": func() error { return os.RemoveAll(filepath.Dir(path)) },
	}
}

// What is written once the file is gone is refused, and all that was taken before can
// still be had.
func TestNothingIsAcknowledgedOnceTheFileIsGone(t *testing.T) {
	for name := range lostBy("") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "data", "athir.db")
			db := open(t, path)
			if err := errors.Join(db.Migrate(t.Context(), "t", migration(1, "CREATE TABLE t (n INTEGER)")), exec1(db, "INSERT INTO t VALUES (1)")); err != nil {
				t.Fatal(err)
			}
			told := make(chan error, 8)
			testkit.Background(t, func(ctx context.Context) error {
				db.Watch(ctx, func(err error) { told <- err })
				return nil
			})
			if err := lostBy(path)[name](); err != nil {
				t.Fatal(err)
			}
			if err := exec1(db, "INSERT INTO t VALUES (2)"); !errors.Is(err, store.ErrLost) {
				t.Errorf("written into the void: %v", err)
			}
			if err := <-told; !errors.Is(err, store.ErrLost) {
				t.Errorf("the watch says %v", err)
			}
			rescued := filepath.Join(t.TempDir(), "rescued.db")
			if err := db.Rescue(t.Context(), rescued); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(rescued); err != nil || info.Mode() != 0o600 {
				t.Errorf("the rescued file: %v, %v", info, err)
			}
			if n := count(t, open(t, rescued), "t"); n != 1 {
				t.Errorf("%d rows were rescued, want the one that was acknowledged", n)
			}
		})
	}
}

// A file that is put back is used again, at once.
func TestAFileThatIsPutBackIsWrittenAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "athir.db")
	db := open(t, path)
	if err := db.Migrate(t.Context(), "t", migration(1, "CREATE TABLE t (n INTEGER)")); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 8)
	testkit.Background(t, func(ctx context.Context) error {
		db.Watch(ctx, func(err error) { told <- err })
		return nil
	})
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := <-told; err == nil {
		t.Error("the watch says that all is well")
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if err := <-told; err != nil {
		t.Errorf("the watch says %v", err)
	}
	if err := exec1(db, "INSERT INTO t VALUES (1)"); err != nil {
		t.Error(err)
	}
}

// The log of a database that was closed and opened again is a new file, and no loss: not even
// when the next file this process makes is given the inode that the old log had.
func TestANewLogIsNoLoss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "athir.db")
	db := open(t, path)
	if err := db.Migrate(t.Context(), "t", migration(1, "CREATE TABLE t (n INTEGER)")); err != nil {
		t.Fatal(err)
	}
	db.CloseConnections(t.Context())
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the old log is still there: %v", err)
	}
	for n := range 16 {
		f, err := os.Create(fmt.Sprintf("%s.other%d", path, n))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
	}
	for n := range 3 {
		if err := exec1(db, "INSERT INTO t VALUES (?)", n); err != nil {
			t.Error(err)
		}
	}
}

func TestAnEmptyDatabaseWhereThereWasOneIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "athir.db")
	for _, c := range []struct {
		name   string
		before func() error
		want   bool
	}{
		{"the first start", func() error { return nil }, false},
		{"the second", func() error { return nil }, false},
		{"without its file", func() error { return os.Remove(path) }, true},
		{"the start after that", func() error { return nil }, false},
		{"with an emptied file", func() error { return os.Truncate(path, 0) }, true},
	} {
		if err := c.before(); err != nil {
			t.Fatal(err)
		}
		db, err := store.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if db.Began() != c.want {
			t.Errorf("%s: %v", c.name, db.Began())
		}
		if err := errors.Join(db.Migrate(t.Context(), "t", migration(1, "CREATE TABLE t (n INTEGER)")), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
