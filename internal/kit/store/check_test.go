package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A database is read through, open or not, and nothing is written; damage is found, and one
// that was killed is left to its next start.
func TestQuickCheckFindsDamageAndWritesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.db")
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(`CREATE TABLE t (a TEXT); CREATE INDEX i ON t (a)`); err != nil {
			return err
		}
		for range 500 {
			if _, err := tx.Exec(`INSERT INTO t VALUES (?)`, strings.Repeat("x", 200)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if problem, err := QuickCheck(t.Context(), path, true); problem != "" || err != nil {
		t.Errorf("open: %q, %v", problem, err)
	}
	if _, err := QuickCheck(t.Context(), path, false); !errors.Is(err, ErrUnfinished) {
		t.Errorf("with a log beside it: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	names := func() string {
		all, _ := filepath.Glob(filepath.Join(dir, "*"))
		return strings.Join(all, " ")
	}
	before := names()
	if problem, err := QuickCheck(t.Context(), path, false); problem != "" || err != nil {
		t.Errorf("closed: %q, %v", problem, err)
	}
	if after := names(); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := QuickCheck(ended, path, false); !errors.Is(err, context.Canceled) {
		t.Errorf("when it may not go on: %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(text) / 2; i < len(text)/2+8192; i++ {
		text[i] = 0xff
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if problem, err := QuickCheck(t.Context(), path, false); problem == "" && err == nil {
		t.Error("damage is not found")
	}
	if _, err := QuickCheck(t.Context(), filepath.Join(dir, "none"), false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no database: %v", err)
	}
}
