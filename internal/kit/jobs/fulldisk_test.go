package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

const fullDiskEnv = "JOBS_TEST_FULL_DISK"

// Work that cannot be recorded is refused, not begun: an operator would hear of its fate
// from nobody. With room again the next is taken.
func TestNoWorkIsTakenOnAFullDisk(t *testing.T) { testkit.InOwnMounts(t, fullDiskEnv) }

func fullDiskStory(ctx context.Context, dir string) error {
	if err := testkit.SmallDisk(dir, 4<<10); err != nil {
		return err
	}
	db, err := store.Open(ctx, filepath.Join(dir, "a.db"))
	if err != nil {
		return err
	}
	b, err := Open(ctx, Options{DB: db, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	begun := 0
	work := func(context.Context, *Task) (any, error) { begun++; return nil, nil }
	order := func() error {
		j, err := b.Start("lane", "work", work)
		if err == nil {
			_, err = b.Wait(ctx, j.ID)
		}
		return err
	}
	unfill, err := testkit.Fill(dir)
	if err != nil {
		return err
	}
	taken := 0
	for err = order(); err == nil; err = order() { // what room the log still has
		if taken++; taken > 1000 {
			return errors.New("a full disk takes a thousand jobs")
		}
	}
	if !errors.Is(err, store.ErrDiskFull) || begun != taken {
		return fmt.Errorf("%d taken, %d begun, then %w", taken, begun, err)
	}
	unfill()
	if err := order(); err != nil || begun != taken+1 {
		return fmt.Errorf("with room again: %d begun, %w", begun, err)
	}
	return nil
}
