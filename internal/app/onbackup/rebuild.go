package onbackup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/archive"
	"github.com/athir-radio/athir/internal/kit/mirror"
	"github.com/athir-radio/athir/internal/kit/store"
)

// The folders of a continuous copy beside those of the database: single files, and what is
// in folders.
const copiedState, copiedFiles = "state", "files"

// rebuild makes the newest state of a continuous copy that is whole, in e.keep. What cannot be
// used of it is left out, and named.
func rebuild(ctx context.Context, dir string, e examination) (m archive.Manifest, left []string, err error) {
	from, err := os.OpenRoot(dir)
	if err != nil {
		return m, nil, fmt.Errorf("%w: mount it, or name the folder of backup.continuous", err)
	}
	defer from.Close() //nolint:errcheck // only read
	if _, bytes, err := store.Reach(dir); err == nil && bytes > e.most {
		return m, nil, fmt.Errorf("%w: its database has %d MiB", archive.ErrTooLarge, bytes>>20)
	}
	r, err := store.Rebuild(ctx, dir, filepath.Join(e.keep.Name(), databaseName))
	if err != nil {
		return m, nil, err
	}
	if r.Left != "" {
		left = append(left, r.Left)
	}
	size := sizeOf(filepath.Join(e.keep.Name(), databaseName))
	e.show(size)
	e.most -= size
	m = archive.Manifest{Made: r.Until.UTC(), Why: "continuous", Schema: r.Schema}
	for _, folder := range []string{copiedState, copiedFiles} {
		stored, err := mirror.Stored(from, folder)
		if err != nil {
			return m, left, err
		}
		for name, path := range stored {
			if name == databaseName {
				continue
			}
			if err := e.recover(ctx, from, name, path); errors.Is(err, mirror.ErrDamaged) {
				left = append(left, fmt.Sprintf("%s: %v", filepath.Join(dir, path), err))
			} else if err != nil {
				return m, left, err
			}
		}
	}
	slices.Sort(left)
	m.Station = stationOf(e)
	return m, left, nil
}

// recover copies one file of a continuous copy, if it is what was copied.
func (e *examination) recover(ctx context.Context, from *os.Root, name, path string) error {
	if err := e.hold(ctx); err != nil {
		return err
	}
	in, err := mirror.Open(from, path)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	if e.most -= in.Info.Size(); e.most < 0 {
		return archive.ErrTooLarge
	}
	defer e.show(in.Info.Size())
	f := archive.File{Name: name, Bytes: in.Info.Size(), Mode: in.Info.Mode().Perm() & 0o755, Modified: in.Info.ModTime()}
	if name == settingsName {
		f.Mode = 0o600
	}
	if err := keep(e.keep, f, &paced{ctx: ctx, from: in, hold: e.hold, show: func(int64) {}}); err != nil && in.Unread() == nil {
		return err
	}
	err = in.Whole()
	if err == nil {
		if wrong := e.text(f, func() ([]byte, error) { return e.keep.ReadFile(name) }); wrong != nil {
			err = fmt.Errorf("%w: %w", mirror.ErrDamaged, wrong)
		}
	}
	if err != nil {
		err = errors.Join(err, e.keep.Remove(name))
	}
	return err
}

// stationOf is the name in the settings that were recovered.
func stationOf(e examination) string {
	text, err := e.keep.ReadFile(settingsName)
	if err != nil {
		return ""
	}
	cfg, err := config.Parse(text, nil, e.env)
	if err != nil {
		return ""
	}
	return cfg.Name
}
