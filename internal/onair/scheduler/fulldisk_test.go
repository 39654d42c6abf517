package scheduler_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

const fullDiskEnv = "SCHEDULER_TEST_FULL_DISK"

// The disk is full after a push and before its commit, and the process is killed: it comes
// back on the full disk, with the rotation that the engine has.
func TestARotationThatIsNotSavedStopsNoStart(t *testing.T) { testkit.InOwnMounts(t, fullDiskEnv) }

func fullDiskStory(ctx context.Context, dir string) error {
	if err := testkit.SmallDisk(dir, 8<<10); err != nil {
		return err
	}
	db, err := store.Open(ctx, filepath.Join(dir, "a.db"))
	if err != nil {
		return err
	}
	n := &node{}
	opt := options(os.Stdout, db, newShelf(songs(90)), n)
	if err := pushedNotCommitted(ctx, opt, n); err != nil {
		return err
	}
	unfill, err := testkit.Fill(dir)
	if err != nil {
		return err
	}
	for err = nil; err == nil; { // what room the log still has
		err = db.Write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO plays (at, engine, seq, path, artist, title, category, round) SELECT 1, 'e', count(*), 'a', 'b', 'c', 'd', 1 FROM plays`)
			return err
		})
	}
	if !errors.Is(err, store.ErrDiskFull) {
		return err
	}
	for _, disk := range []string{"full", "not full"} {
		s, err := scheduler.Open(ctx, opt)
		if err != nil {
			return fmt.Errorf("on a disk that is %s: %w", disk, err)
		}
		if have := s.View().Rotation.Entries; len(have) != len(n.list) || root+have[0].Track.Path != n.list[0].Path || root+have[9].Track.Path != n.list[9].Path {
			return fmt.Errorf("on a disk that is %s: not the rotation that the engine has", disk)
		}
		unfill()
	}
	v, err := scheduler.Committed(ctx, db.Read())
	if err != nil || root+v.Rotation.Entries[0].Track.Path != n.list[0].Path {
		return fmt.Errorf("with room again it is not committed, %w", err)
	}
	return nil
}

// pushedNotCommitted is a life that ends between a push and its commit.
func pushedNotCommitted(ctx context.Context, opt scheduler.Options, n *node) error {
	s, err := scheduler.Open(ctx, opt)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	changed, end := s.Subscribe()
	defer end()
	for len(s.View().Rotation.Entries) == 0 {
		<-changed
	}
	first := n.list[0].Path
	n.set(func(n *node) { n.after = errors.New("killed here") })
	_ = s.Rebuild(ctx)
	cancel()
	if err := <-ended; err != nil {
		return err
	}
	if n.list[0].Path == first && n.list[9].Path == root+s.View().Rotation.Entries[9].Track.Path {
		return errors.New("the second rotation is the first")
	}
	return nil
}
