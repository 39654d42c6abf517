package onbackup_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// Others fill the disk while a backup is made: it ends, and leaves the rest of the disk to
// the station, whose writes go on. The backups before it stay.
func TestADiskThatFillsWhileABackupIsMade(t *testing.T) {
	testkit.InOwnMounts(t, fillingDiskEnv)
}

// onADiskThatFills has the data, the backups and a database in use on a disk of 64 MiB, of
// which a backup leaves 5 % free.
func onADiskThatFills(dir string) error {
	if err := testkit.SmallDisk(dir, 64<<10); err != nil {
		return err
	}
	ctx := context.Background()
	cfg, _, err := config.Load(config.Source{DataDir: filepath.Join(dir, "data")})
	if err != nil {
		return err
	}
	text, err := migrated()
	if err != nil {
		return err
	}
	noise := make([]byte, 8<<20)
	_, _ = rand.Read(noise)
	if err := errors.Join(
		os.MkdirAll(cfg.SocialDir(), 0o700), os.WriteFile(filepath.Join(cfg.SocialDir(), "a"), noise, 0o600), os.WriteFile(cfg.Database(), text, 0o600),
	); err != nil {
		return err
	}
	db, err := store.Open(ctx, cfg.Database())
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // a test's
	if err := comment(db, "first"); err != nil {
		return err
	}
	attempt := func(show func(onbackup.Progress)) error {
		_, err := onbackup.Make(ctx, onbackup.Options{Config: cfg, Why: onbackup.Scheduled, Show: show})
		return err
	}
	if err := attempt(nil); err != nil {
		return fmt.Errorf("the first: %w", err)
	}
	before, err := onbackup.List(cfg)
	if err != nil || len(before) != 1 {
		return fmt.Errorf("there are %v, %w", before, err)
	}

	// Some room is left, but less than what is the air's.
	filler := filepath.Join(dir, "others")
	var others, writes error
	filled := false
	err = attempt(func(p onbackup.Progress) {
		if !filled && p.Step == "files" && p.Done > 2<<20 {
			filled = true
			others = fillTo(filler, 1<<20)
			writes = comment(db, "while it is full")
		}
	})
	if err := errors.Join(others, writes, ended(cfg, before, err)); err != nil {
		return fmt.Errorf("a disk below its reserve: %w", err)
	}
	if err := errors.Join(comment(db, "after it"), os.Remove(filler)); err != nil {
		return fmt.Errorf("the station: %w", err)
	}

	// Nothing is left when the last bytes are written.
	filled = false
	err = attempt(func(p onbackup.Progress) {
		if !filled && p.Step == "files" && p.Done == p.Total {
			filled = true
			others = fillTo(filler, 0)
		}
	})
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the write that failed is not told: %w", err)
	}
	if err := errors.Join(others, ended(cfg, before, err), os.Remove(filler)); err != nil {
		return fmt.Errorf("a full disk: %w", err)
	}

	if err := attempt(nil); err != nil {
		return fmt.Errorf("after there is room: %w", err)
	}
	after, err := onbackup.List(cfg)
	if err != nil || len(after) != 2 || after[1] != before[0] {
		return fmt.Errorf("there are %v, %w", after, err)
	}
	return nil
}

// ended judges how a backup ended that found its disk full.
func ended(cfg *config.Config, before []onbackup.Found, err error) error {
	if !errors.Is(err, onbackup.ErrNoRoom) || !strings.Contains(err.Error(), "filled up") || !strings.Contains(err.Error(), "MiB of it, or choose another disk with backup.to") {
		return fmt.Errorf("it ended with: %w", err)
	}
	fmt.Println(err)
	now, lerr := os.ReadDir(cfg.BackupDir())
	if lerr != nil || len(now) != 1 || now[0].Name() != filepath.Base(before[0].File) {
		return fmt.Errorf("in the folder are %v, %w", now, lerr)
	}
	if _, err := os.Stat(filepath.Join(cfg.DataDir, ".backup")); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("its scratch is left: %w", err)
	}
	return nil
}

// fillTo has a file take what a disk has free, less what is to be left.
func fillTo(path string, left uint64) error {
	f, err := os.Create(path) //nolint:gosec // a test's
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // a test's
	free, _, err := file.Space(filepath.Dir(path))
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, rand.Reader, int64(free-left)) //nolint:gosec // a size
	if left == 0 && errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}
