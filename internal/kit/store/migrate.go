package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"regexp"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"golang.org/x/sys/unix"
)

// ErrNewer says that the file was written by a later version of the program.
var ErrNewer = errors.New("the database was written by a newer version: upgrade the program, or restore the backup taken before its upgrade")

var sliceName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Migrate brings the tables of one slice up to date with the numbered .sql
// files at the top of fsys (goose's format). Each slice has a version table of
// its own, so slices neither see nor order each other's migrations. Two
// processes may call it at once. A file ahead of fsys gives ErrNewer.
func (db *DB) Migrate(ctx context.Context, slice string, fsys fs.FS) error {
	if !sliceName.MatchString(slice) {
		return fmt.Errorf("migrate %q: a slice name is lower case letters, digits and _", slice)
	}
	unlock, err := db.lockMigrations()
	if err != nil {
		return fmt.Errorf("migrate %s in %s: %w", slice, db.path, explain(err))
	}
	defer unlock()
	if err := db.migrate(ctx, slice, fsys); err != nil {
		return fmt.Errorf("migrate %s in %s: %w", slice, db.path, explain(err))
	}
	return nil
}

func (db *DB) migrate(ctx context.Context, slice string, fsys fs.FS) error {
	versions, err := database.NewStore(database.DialectSQLite3, migrationsPrefix+slice)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider("", db.writer, fsys,
		goose.WithStore(versions),
		goose.WithDisableGlobalRegistry(true),
		goose.WithSlog(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	have, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	if newest := sources[len(sources)-1].Version; have > newest {
		return fmt.Errorf("schema version %d, this program knows %d: %w", have, newest, ErrNewer)
	}
	_, err = provider.Up(ctx)
	return err
}

// lockSuffix names the lock file beside the database. It stays for ever.
const lockSuffix = ".lock"

// lockMigrations keeps two processes from applying one migration twice. The
// lock is on a file of its own: locks on the database file belong to SQLite.
func (db *DB) lockMigrations() (unlock func(), err error) {
	f, err := os.OpenFile(db.path+lockSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
	}
}
