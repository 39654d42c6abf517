package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os/user"
	"strconv"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Reasons a database cannot be used, for callers that decide by them.
var (
	ErrDiskFull    = errors.New("the disk is full: free some space")
	ErrNotDatabase = errors.New("the file is not a database, or it is damaged: restore a backup or move the file away")
	ErrBusy        = errors.New("another process holds the database for too long: stop it")
	ErrUnwritable  = errors.New("the file or its folder cannot be written")
)

// explain puts the remedy in front of what SQLite or the kernel said.
func explain(err error) error {
	if reason := reasonOf(err); reason != nil && !errors.Is(err, reason) {
		if reason == ErrUnwritable { //nolint:errorlint // our own value, just assigned
			return fmt.Errorf("%w by user %s: change its owner or its mode (%w)", reason, userName(), err)
		}
		return fmt.Errorf("%w (%w)", reason, err)
	}
	return err
}

func reasonOf(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ErrDiskFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ErrUnwritable
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return nil
	}
	if e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE { // the index beside the log did not fit
		return ErrDiskFull
	}
	switch e.Code() & 0xff { // the primary code; the rest is detail
	case sqlite3.SQLITE_FULL:
		return ErrDiskFull
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return ErrNotDatabase
	case sqlite3.SQLITE_BUSY:
		return ErrBusy
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return ErrUnwritable
	}
	return nil
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(syscall.Getuid())
}
