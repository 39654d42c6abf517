package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// snapshotPages are copied between two looks at hold: a MiB.
const snapshotPages = 256

// Snapshot copies the database at path into a new file of mode 0600, as it is at one
// moment soon after the call: everything committed before is in it, and nothing by half.
// Its owner goes on writing meanwhile; only the log grows until the copy is done. The file
// may have an owner or none, and nothing is written to it.
//
// The copy is not synced: it is for one that goes on to be packed, and a crash takes both.
//
// hold is asked before each piece and may wait; show is told how far it is. Both may be
// nil.
func Snapshot(ctx context.Context, path, to string, hold func(context.Context) error, show func(done, total int64)) error {
	return snapshot(ctx, path, to, hold, show, nil)
}

// snapshot calls begun, if any, when it is settled what the copy will have.
func snapshot(ctx context.Context, path, to string, hold func(context.Context) error, show func(done, total int64), begun func() error) (err error) {
	from, err := OpenReadOnly(ctx, path)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, from.Close()); err != nil {
			err = fmt.Errorf("copy the database %s to %s: %w", path, to, explain(err))
		}
	}()
	conn, err := from.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // only read
	// Without a transaction around it the copy would begin anew with every commit.
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // only read
	var tables int      // the transaction begins with what it reads first
	var size int64
	if err := tx.QueryRowContext(ctx, "SELECT count(*), (SELECT page_size FROM pragma_page_size) FROM sqlite_schema").Scan(&tables, &size); err != nil {
		return err
	}
	if begun != nil {
		if err := begun(); err != nil {
			return err
		}
	}
	if to, err = filepath.Abs(to); err != nil {
		return err
	}
	if err := create(to); err != nil {
		return err
	}
	return conn.Raw(func(driver any) error { return copyPages(ctx, driver, to, size, hold, show) })
}

func copyPages(ctx context.Context, driver any, to string, size int64, hold func(context.Context) error, show func(done, total int64)) (err error) {
	source, ok := driver.(interface {
		NewBackup(uri string) (*sqlite.Backup, error)
	})
	if !ok {
		return errors.New("the driver of the database cannot copy it")
	}
	b, err := source.NewBackup(dsn(to, pragma("synchronous", "OFF"), pragma("journal_mode", "OFF")))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Finish()) }()
	for more := true; more; {
		if hold != nil {
			if err := hold(ctx); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if more, err = b.Step(snapshotPages); err != nil {
			return err
		}
		if show != nil {
			show(int64(b.PageCount()-b.Remaining())*size, int64(b.PageCount())*size)
		}
	}
	return nil
}

// Check looks through the whole database in a file that nobody has open and returns the
// versions of its slices. A damaged one gives ErrNotDatabase with the first faults.
func Check(ctx context.Context, path string) (versions map[string]int64, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// Nobody has it open, so that no log is looked for, and none is made.
	db, err := sql.Open("sqlite", dsn(abs, "mode=ro", "immutable=1", pragma("query_only", "ON")))
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // only read
	for _, ask := range []string{
		"SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok' LIMIT 20",
		`SELECT "table" || ' row ' || coalesce(rowid, '') || ' names a row of ' || parent || ' that is not there' FROM pragma_foreign_key_check LIMIT 20`,
	} {
		faults, err := texts(ctx, db, ask)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", path, explain(err))
		}
		if len(faults) > 0 {
			return nil, fmt.Errorf("check %s: %w: %s", path, ErrNotDatabase, strings.Join(faults, "; "))
		}
	}
	return versionsOf(ctx, db)
}

func texts(ctx context.Context, db *sql.DB, query string) (out []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // the error of reading is returned
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
