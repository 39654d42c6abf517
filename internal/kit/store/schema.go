package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Schema is what a slice gives to Migrate: its name and its numbered .sql files.
type Schema struct {
	Slice string
	Files fs.FS
}

// Newest is the version that the program's files lead to.
func (s Schema) Newest() (newest int64, err error) {
	files, err := fs.Glob(s.Files, "*.sql")
	if err != nil {
		return 0, err
	}
	for _, name := range files {
		number, _, _ := strings.Cut(name, "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("migration %s of %s: its name must begin with its number", name, s.Slice)
		}
		newest = max(newest, n)
	}
	return newest, nil
}

// migrationsPrefix begins the name of a slice's version table.
const migrationsPrefix = "migrations_"

// Versions are the versions of all slices in the file; empty for a new one.
func (db *DB) Versions(ctx context.Context) (map[string]int64, error) {
	return versionsOf(ctx, db.reader)
}

// VersionsOf is Versions of a database that is not open, beside its owner or without.
func VersionsOf(ctx context.Context, path string) (map[string]int64, error) {
	db, err := OpenReadOnly(ctx, path)
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // only read
	return versionsOf(ctx, db)
}

func versionsOf(ctx context.Context, db *sql.DB) (map[string]int64, error) {
	out := map[string]int64{}
	tables, err := texts(ctx, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 11) = '`+migrationsPrefix+`' ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("read the versions of the tables: %w", explain(err))
	}
	for _, table := range tables {
		slice := strings.TrimPrefix(table, migrationsPrefix)
		if !sliceName.MatchString(slice) {
			continue // none of ours, and no name to put into a statement
		}
		var v int64
		if err := db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+table+" WHERE is_applied").Scan(&v); err != nil {
			return nil, fmt.Errorf("read the version of %s: %w", slice, explain(err))
		}
		out[slice] = v
	}
	return out, nil
}

// Step is a slice whose tables are not at the version of the program.
type Step struct {
	Slice    string
	Have, To int64
}

// Ahead compares versions with what the program knows: what it would migrate, and where
// the file is newer than the program. A slice that is not in the file yet is neither, as
// nothing of it can be lost.
func Ahead(versions map[string]int64, schemas []Schema) (pending, newer []Step, err error) {
	for _, s := range schemas {
		have := versions[s.Slice]
		newest, err := s.Newest()
		switch {
		case err != nil:
			return nil, nil, err
		case have > 0 && have < newest:
			pending = append(pending, Step{s.Slice, have, newest})
		case have > newest:
			newer = append(newer, Step{s.Slice, have, newest})
		}
	}
	return pending, newer, nil
}

// SchemaOf is the schema whose files are in the folder migrations of an embedded tree.
func SchemaOf(slice string, tree embed.FS) Schema {
	files, _ := fs.Sub(tree, "migrations") // only a name that is no path is refused
	return Schema{slice, files}
}

// Upgrade is Migrate for a schema.
func (db *DB) Upgrade(ctx context.Context, s Schema) error { return db.Migrate(ctx, s.Slice, s.Files) }
