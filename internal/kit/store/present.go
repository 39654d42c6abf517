package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// ErrLost means that the database's file or its log was removed or replaced while it is
// open: what is written then is gone with the process. It names no path, for it may be
// shown to anybody, and is of the kind station.ErrUnavailable.
var ErrLost = fmt.Errorf("the database file was removed or replaced, nothing can be written: %w", station.ErrUnavailable)

// opened is a file of the database as it was opened.
type opened struct {
	path string
	info fs.FileInfo
}

// identify notes which files the connections use.
func (db *DB) identify() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	info, err := os.Stat(db.path)
	if err != nil {
		return err
	}
	db.file = opened{db.path, info}
	return db.hold()
}

// hold notes the log at its path, and keeps it open: the inode of a log that SQLite has
// removed would else be given to the next file made, and that file be taken for the log.
// SQLite locks the database and its -shm, never the log, so closing it drops no lock.
func (db *DB) hold() error {
	f, err := os.Open(db.path + "-wal")
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	db.letGo()
	db.log, db.held = opened{f.Name(), info}, f
	return nil
}

// letGo closes the log that hold keeps open.
func (db *DB) letGo() {
	if db.held != nil {
		_ = db.held.Close()
		db.held = nil
	}
}

// Present returns ErrLost while the files at the database's path are not those that are
// open. It costs two stat calls.
func (db *DB) Present() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if !db.file.there() {
		return ErrLost
	}
	if db.log.there() {
		return nil
	}
	if db.held == nil { // closed: the pools say so themselves
		return nil
	}
	// SQLite removes the log when the last connection closes, and makes a new one.
	if inUse(db.held, db.log.info) {
		return ErrLost
	}
	if err := db.hold(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look at the log of %s: %w", db.path, explain(err))
	}
	return nil
}

// there reports whether the file is at its path.
func (f opened) there() bool {
	now, err := os.Stat(f.path)
	return err == nil && os.SameFile(f.info, now)
}

// inUse reports whether this process has a file open beside held.
func inUse(held *os.File, file fs.FileInfo) bool {
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(open) == 0 {
		return true
	}
	own := fmt.Sprintf("/proc/self/fd/%d", held.Fd())
	for _, fd := range open {
		if info, err := os.Stat(fd); err == nil && fd != own && os.SameFile(info, file) {
			return true
		}
	}
	return false
}

// watchEvery is how often Watch looks.
const watchEvery = time.Second

// Watch calls tell with ErrLost when the files are lost, and with nil when they are back
// in place, until ctx ends. It looks every second.
func (db *DB) Watch(ctx context.Context, tell func(error)) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	lost := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := db.Present(); (err != nil) != lost {
			lost = err != nil
			tell(err)
		}
	}
}

// Rescue writes all that is committed to a new file of mode 0600, from the open files,
// wherever they are now. The file may not exist before.
func (db *DB) Rescue(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = f.Close() // SQLite fills an empty file
	}
	if err == nil {
		_, err = db.writer.ExecContext(ctx, "VACUUM INTO ?", path)
	}
	if err != nil {
		return fmt.Errorf("copy the open database to %s: %w", path, explain(err))
	}
	return nil
}

// Began reports that Open made an empty database where there had been one: its lock file
// was there.
func (db *DB) Began() bool { return db.began }

// wasThere reports whether a database that is not there now, or is empty, once was.
func wasThere(path string) bool {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return false
	}
	_, err := os.Stat(path + lockSuffix)
	return err == nil
}
