package onbackup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/archive"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/policy"
)

// examination is how a backup is looked through.
type examination struct {
	scratch string   // folder for the database
	env     []string // settings beside those of the file
	most    int64    // bytes
	hold    func(ctx context.Context) error
	show    func(n int64) // bytes more
	keep    *os.Root      // where the files are kept; nil: nowhere
}

// mostText is how many bytes settings may have.
const mostText = 16 << 20

// examine reads a backup to its end. It returns an error unless every sum is right, the
// database is whole and of the versions that the manifest says, and the settings can be
// read.
func examine(ctx context.Context, from io.Reader, e examination) (archive.Manifest, error) {
	r, err := archive.NewReader(from)
	if err != nil {
		return archive.Manifest{}, err
	}
	defer r.Close()
	database := ""
	if err := r.Each(e.most, func(f archive.File, contents io.Reader) error {
		if err := e.hold(ctx); err != nil {
			return err
		}
		contents = &paced{ctx: ctx, from: contents, hold: e.hold, show: func(int64) {}}
		defer e.show(f.Bytes)
		if e.keep != nil {
			if err := keep(e.keep, f, contents); err != nil {
				return err
			}
			if f.Name == databaseName {
				database = filepath.Join(e.keep.Name(), databaseName)
			}
			return e.text(f, func() ([]byte, error) { return e.keep.ReadFile(f.Name) })
		}
		if f.Name == databaseName {
			database = filepath.Join(e.scratch, "verify.db")
			return copyTo(database, contents)
		}
		return e.text(f, func() ([]byte, error) { return io.ReadAll(contents) })
	}); err != nil {
		return r.Manifest(), err
	}
	return r.Manifest(), e.database(ctx, database, r.Manifest())
}

// text parses what is to be read by people and by us.
func (e examination) text(f archive.File, read func() ([]byte, error)) error {
	if f.Name != settingsName && f.Name != stationName {
		return nil
	}
	if f.Bytes > mostText {
		return fmt.Errorf("%s: %w: %d bytes", f.Name, archive.ErrTooLarge, f.Bytes)
	}
	text, err := read()
	if err != nil {
		return err
	}
	if f.Name == stationName {
		err = policy.Check(text)
	} else {
		_, err = config.Parse(text, nil, e.env)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read: mend it first:\n%w", f.Name, err)
	}
	return nil
}

func (e examination) database(ctx context.Context, path string, m archive.Manifest) error {
	if path == "" {
		return nil
	}
	versions, err := store.Check(ctx, path)
	if err != nil {
		return err
	}
	if !maps.Equal(versions, m.Schema) {
		return fmt.Errorf("%w: its database has other versions than it says", archive.ErrDamaged)
	}
	return nil
}

func copyTo(path string, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // our own folder
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// keep writes a file of an archive under root, which no name and no link leads out of.
// It is on disk only once the file system is synced.
func keep(root *os.Root, f archive.File, from io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
		return err
	}
	out, err := root.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	err = errors.Join(err, out.Chmod(f.Mode.Perm()|0o600), out.Close())
	if err == nil && !f.Modified.IsZero() {
		err = root.Chtimes(f.Name, f.Modified, f.Modified)
	}
	return err
}
