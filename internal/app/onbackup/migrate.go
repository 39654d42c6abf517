package onbackup

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/archive"
	"github.com/athir-radio/athir/internal/kit/store"
)

// CopyFirst looks at the tables of all slices before any of them is migrated. Where
// one is about to be, the database is copied first. A database of a newer program gives
// store.ErrNewer with the backup that fits this one.
func CopyFirst(ctx context.Context, cfg *config.Config, log *slog.Logger, version string, db *store.DB) error {
	versions, err := db.Versions(ctx)
	if err != nil {
		return err
	}
	pending, newer, err := store.Ahead(versions, Schemas())
	switch {
	case err != nil:
		return err
	case len(newer) > 0:
		s := newer[0]
		return fmt.Errorf("open database %s: schema version %d of %s, this program knows %d: %w%s", db.Path(), s.Have, s.Slice, s.To, store.ErrNewer, remedy(cfg))
	case len(pending) == 0:
		return nil
	}
	names := make([]string, len(pending))
	for i, s := range pending {
		names[i] = fmt.Sprintf("%s %d→%d", s.Slice, s.Have, s.To)
	}
	if !cfg.Backup.BeforeMigration {
		log.Warn("the database is migrated without a copy: backup.before_migration is false", "tables", strings.Join(names, ", "))
		return nil
	}
	r, err := Make(ctx, Options{Config: cfg, Version: version, Why: BeforeMigration, Choice: Choice{DatabaseOnly: true}})
	if err != nil {
		return refused(err)
	}
	log.Info("the database is copied before it is migrated", "file", r.File, "tables", strings.Join(names, ", "))
	if _, err := prune(cfg, cfg.Backup.Keep); err != nil {
		log.Warn("old backups cannot be removed", "err", err)
	}
	return nil
}

// remedy names the newest backup that this program can use; empty where there is none.
func remedy(cfg *config.Config) string {
	b, ok := Fitting(cfg)
	if !ok {
		return ""
	}
	return fmt.Sprintf(": %s fits this program (%s)", b.File, Command(cfg, b.File, false))
}

// Command is what restores a backup on a shell: beside a running node, or as a whole.
func Command(cfg *config.Config, file string, control bool) string {
	flag := ""
	if control {
		flag = "--control "
	}
	return fmt.Sprintf("athir restore %s--data %s %s", flag, quoted(cfg.DataDir), quoted(file))
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if !strings.ContainsAny(path, " \t\n'\"\\$`!*?[](){}<>|&;#~") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// Fitting is the newest backup in the station's folder whose database this program knows.
func Fitting(cfg *config.Config) (Found, bool) {
	all, _ := List(cfg)
	for _, b := range all {
		m, err := manifestOf(b.File)
		if err != nil || len(m.Schema) == 0 {
			continue
		}
		if _, newer, err := store.Ahead(m.Schema, Schemas()); err == nil && len(newer) == 0 {
			return b, true
		}
	}
	return Found{}, false
}

func manifestOf(path string) (archive.Manifest, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's own folder
	if err != nil {
		return archive.Manifest{}, err
	}
	defer f.Close() //nolint:errcheck // only read
	r, err := archive.NewReader(f)
	if err != nil {
		return archive.Manifest{}, err
	}
	defer r.Close()
	return r.Manifest(), nil
}
