package onbackup

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// undoWithin is how old a copy may be that the failed upgrade made: longer than that takes.
const undoWithin = 15 * time.Minute

// GoBack puts the database back as it was before an upgrade that was not well migrated it.
// It is for the program that such an upgrade gave way to.
//
//	belief    this process was the newer program a moment ago, and nobody wrote but that
//	evidence  the newest copy that this program knows was made before a migration, just now
//	price     what the newer program wrote in its minute; it is kept in before-restore-TIME
//
// An error leaves everything as it is.
func (f *Fault) GoBack(ctx context.Context, log *slog.Logger) error {
	if !f.Newer || f.Backup.Why != BeforeMigration || time.Since(f.Backup.Made).Abs() > undoWithin {
		return fmt.Errorf("no copy of just before the upgrade: %w", f.Err)
	}
	backup, err := os.Open(f.Backup.File)
	if err != nil {
		return err
	}
	defer backup.Close() //nolint:errcheck // only read
	plan, err := Restore(ctx, Restoring{
		Data: f.cfg.DataDir, Env: f.cfg.Env, From: backup, Control: true, Confirm: func(Plan) error { return nil },
	})
	if err != nil {
		return err
	}
	log.Warn("the upgrade was not well: the database is as it was before it", "from", f.Backup.File, "kept", plan.Undo)
	return nil
}
