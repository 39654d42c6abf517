// Package store keeps rows in one SQLite file: one writer at a time, readers
// that never wait for it (WAL), and a commit that survives kill -9 and power
// loss (synchronous=FULL). Slices bring their own migrations and share nothing.
//
// store knows no tables, offers no query language of its own, and never
// repairs or replaces a damaged file by itself.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	_ "modernc.org/sqlite" // the pure Go driver
)

// busyMillis is how long a connection waits for another process's write lock.
const busyMillis = 10_000

// DB is one open database file.
type DB struct {
	path   string
	writer *sql.DB
	reader *sql.DB
	began  bool

	mu        sync.Mutex
	file, log opened
	held      *os.File // the log, so that its inode stays its own
}

// Open opens the database at path, creating it (mode 0600) and its directory
// (mode 0700) when missing. Errors name the file and the remedy.
func Open(ctx context.Context, path string) (*DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	began := wasThere(abs)
	if err := create(abs); err != nil {
		return nil, fmt.Errorf("open database %s: %w", abs, explain(err))
	}
	db := &DB{path: abs, began: began}
	if err := db.connect(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("open database %s: %w", abs, explain(err))
	}
	return db, nil
}

// create makes an empty file of mode 0600, which SQLite's own -wal and -shm
// inherit. O_EXCL matters: closing a descriptor of a database this process
// already has open would drop SQLite's POSIX locks on it.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func (db *DB) connect(ctx context.Context) error {
	var err error
	if db.writer, err = sql.Open("sqlite", dsn(db.path, "_txlock=immediate",
		pragma("busy_timeout", fmt.Sprint(busyMillis)),
		pragma("journal_mode", "WAL"),
		pragma("synchronous", "FULL"),
		pragma("foreign_keys", "ON"),
		// A long reader lets the log grow; give the disk back afterwards.
		pragma("journal_size_limit", "67108864"),
	)); err != nil {
		return err
	}
	db.writer.SetMaxOpenConns(1)
	if err := db.writer.PingContext(ctx); err != nil {
		return err
	}
	// journal_mode answers with the mode it got, not with an error.
	var mode string
	if err := db.writer.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if !strings.EqualFold(mode, "wal") {
		return fmt.Errorf("journal mode is %q, not WAL: the folder must be on a local disk, not a network share", mode)
	}
	if db.reader, err = sql.Open("sqlite", dsn(db.path,
		pragma("busy_timeout", fmt.Sprint(busyMillis)),
		pragma("query_only", "ON"),
	)); err != nil {
		return err
	}
	readers := max(4, runtime.NumCPU())
	db.reader.SetMaxOpenConns(readers)
	db.reader.SetMaxIdleConns(readers)
	if err := db.reader.PingContext(ctx); err != nil {
		return err
	}
	var tables int // reading opens the log
	if err := db.writer.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	return db.identify()
}

// dsn writes a file: URI, in which SQLite itself undoes the percent escapes.
func dsn(path string, params ...string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: path}
	return u.String() + "?" + strings.Join(params, "&")
}

func pragma(name, value string) string {
	return "_pragma=" + url.QueryEscape(name+"("+value+")")
}

// Path is the absolute path of the database file.
func (db *DB) Path() string { return db.path }

// Write runs fn in one transaction that holds the write lock from its start.
// When Write returns nil the rows are on disk, in the file at Path. When fn fails or
// panics, or ctx ends first, nothing of it is. While the file is lost it is ErrLost.
func (db *DB) Write(ctx context.Context, fn func(*sql.Tx) error) (err error) {
	if err := db.Present(); err != nil {
		return err
	}
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin transaction in %s: %w", db.path, explain(err))
	}
	// After a commit this answers ErrTxDone and does nothing; before it, it
	// also frees the only write connection when fn panics.
	defer func() { _ = tx.Rollback() }()
	if err := fn(tx); err != nil {
		return explain(err)
	}
	err = tx.Commit()
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		// The end of ctx rolled it back before Commit could look at ctx itself.
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("commit transaction to %s: %w", db.path, explain(err))
	}
	// Whoever is told of success must find the rows after the next start.
	return db.Present()
}

// Read returns the pool of read-only connections. Each statement sees the last
// commit; for several statements over one state, begin a transaction.
func (db *DB) Read() *sql.DB { return db.reader }

// Close folds the log into the file and closes it. Running calls must have ended.
func (db *DB) Close() error {
	var errs []error
	for _, pool := range []*sql.DB{db.reader, db.writer} { // the writer last: it checkpoints
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.letGo()
	return errors.Join(errs...)
}
