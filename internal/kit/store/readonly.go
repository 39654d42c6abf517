package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
)

// OpenReadOnly opens the database at path for reading only, beside the process
// that owns it or without one. It makes no file and runs no migration: a file
// that does not exist is an error.
func OpenReadOnly(ctx context.Context, path string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(abs)
	}
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, explain(err))
	}
	db, err := sql.Open("sqlite", dsn(abs, "mode=ro", pragma("busy_timeout", fmt.Sprint(busyMillis)), pragma("query_only", "ON")))
	if err == nil {
		if err = db.PingContext(ctx); err == nil {
			return db, nil
		}
		_ = db.Close()
	}
	return nil, fmt.Errorf("open database %s: %w", abs, explain(err))
}
