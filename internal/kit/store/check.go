package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
)

// ErrUnfinished means that a database was not closed well, and holds commits that only a
// process that may write can read.
var ErrUnfinished = errors.New("the database was not closed well")

// QuickCheck reads a database through (PRAGMA quick_check) and returns what is wrong with it;
// empty: nothing. It writes nothing. Where no process has it open, open is false: then the file
// alone is read, and where a log of commits lies beside it the error is ErrUnfinished.
func QuickCheck(ctx context.Context, path string, open bool) (problem string, err error) {
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	var db *sql.DB
	if open {
		db, err = OpenReadOnly(ctx, path)
	} else {
		if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
			return "", ErrUnfinished
		}
		db, err = sql.Open("sqlite", dsn(path, "mode=ro", "immutable=1"))
	}
	if err != nil {
		return "", err
	}
	defer db.Close() //nolint:errcheck // only read
	rows, err := db.QueryContext(ctx, "PRAGMA quick_check(5)")
	if err != nil {
		return "", within(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var said []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return "", within(ctx, err)
		}
		said = append(said, line)
	}
	if err := rows.Err(); err != nil {
		return "", within(ctx, err)
	}
	if len(said) == 1 && said[0] == "ok" {
		return "", nil
	}
	return strings.Join(said, "; "), nil
}

// within is the error of a query, or that of its context where that ended it.
func within(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
