package guard

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

const fullDiskEnv = "GUARD_TEST_FULL_DISK"

// A process that was killed in the middle of an alarm comes back on a full disk, and shows
// that alarm as over.
func TestAnAlarmOnAFullDiskStopsNoStart(t *testing.T) { testkit.InOwnMounts(t, fullDiskEnv) }

func fullDiskStory(ctx context.Context, dir string) error {
	if err := testkit.SmallDisk(dir, 4<<10); err != nil {
		return err
	}
	db, err := store.Open(ctx, filepath.Join(dir, "a.db"))
	if err != nil {
		return err
	}
	opt := Options{Log: slog.New(slog.DiscardHandler), DB: db}
	g, err := Open(ctx, opt)
	if err != nil {
		return err
	}
	if _, err := g.history.add(ctx, Alarm{Kind: Gone, Began: 1, Raised: 2}); err != nil {
		return err
	}
	unfill, err := testkit.Fill(dir)
	if err != nil {
		return err
	}
	for err = nil; err == nil; { // what room the log still has
		err = db.Write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE guard_alarms SET cause = cause || 'x'`)
			return err
		})
	}
	if !errors.Is(err, store.ErrDiskFull) {
		return err
	}
	for _, disk := range []string{"full", "not full"} {
		g, err := Open(ctx, opt)
		if err != nil {
			return fmt.Errorf("on a disk that is %s: %w", disk, err)
		}
		if last := g.Status().LastAlarm; last == nil || last.Cleared != 2 {
			return fmt.Errorf("on a disk that is %s: the alarm is %+v", disk, last)
		}
		unfill()
	}
	var on int
	if err := db.Read().QueryRowContext(ctx, `SELECT count(*) FROM guard_alarms WHERE cleared = 0`).Scan(&on); err != nil || on > 0 {
		return fmt.Errorf("with room again %d alarms are on, %w", on, err)
	}
	return nil
}
