package store

import (
	"context"
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
	for i, path := range []string{db.path, db.path + "-wal"} {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		db.files[i] = opened{path, info}
	}
	return nil
}

// Present returns ErrLost while the files at the database's path are not those that are
// open. It costs two stat calls.
func (db *DB) Present() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	for i, f := range db.files {
		now, err := os.Stat(f.path)
		if err == nil && os.SameFile(f.info, now) {
			continue
		}
		// SQLite removes the log when the last connection closes, and makes a new one.
		if log := i == 1; log && !inUse(f.info) {
			if err == nil {
				db.files[i].info = now
			}
			continue
		}
		return ErrLost
	}
	return nil
}

// inUse reports whether this process has a file open.
func inUse(file fs.FileInfo) bool {
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(open) == 0 {
		return true
	}
	for _, fd := range open {
		if info, err := os.Stat(fd); err == nil && os.SameFile(info, file) {
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
