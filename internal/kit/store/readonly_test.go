package store_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/store"
)

// Beside its owner, after a clean end, and after one that left the log behind.
func TestReadOnlySeesEveryCommitAndChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "athir.db")
	if _, err := store.OpenReadOnly(t.Context(), path); err == nil {
		t.Error("opened what is not there")
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("made %v", files)
	}
	db := open(t, path)
	if err := exec1(db, `CREATE TABLE rows (n INTEGER)`); err != nil {
		t.Fatal(err)
	}
	if err := exec1(db, `INSERT INTO rows VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	rows := func(path string, want int) {
		t.Helper()
		ro, err := store.OpenReadOnly(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer ro.Close() //nolint:errcheck // only read
		var n int
		if err := ro.QueryRowContext(context.Background(), `SELECT count(*) FROM rows`).Scan(&n); err != nil || n != want {
			t.Errorf("%d rows, want %d: %v", n, want, err)
		}
		if _, err := ro.ExecContext(context.Background(), `INSERT INTO rows VALUES (2)`); err == nil {
			t.Error("a row was written")
		}
	}
	rows(path, 1)
	// As kill -9 leaves it: the row is in the log only.
	killed := filepath.Join(t.TempDir(), "athir.db")
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(killed+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows(killed, 1)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	rows(path, 1)
}
