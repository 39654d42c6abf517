package production

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/content"
)

// runningBoard is a board with a database of its own, until the test ends.
func runningBoard(t *testing.T) *jobs.Board {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	board, err := jobs.Open(t.Context(), jobs.Options{DB: db, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Background(t, board.Run)
	return board
}

// A refresh that is due by itself is among the jobs, shows how far it is, and
// can be cancelled there.
func TestARefreshThatIsDueIsAJob(t *testing.T) {
	board := runningBoard(t)
	err := (&Production{board: board}).refreshDue(t.Context(), func(ctx context.Context, show func(content.Progress)) (content.Result, error) {
		show(content.Progress{Step: content.StepSongs, Done: 3, Total: 20})
		list := board.List()
		if len(list) != 1 || list[0].Progress.Done != 3 || list[0].Progress.Step != "songs" {
			t.Errorf("%+v", list)
		}
		_, err := board.Cancel(list[0].ID)
		if err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return content.Result{Trigger: "schedule"}, ctx.Err()
	})
	if j := board.List(); !errors.Is(err, context.Canceled) || j[0].State != jobs.Cancelled {
		t.Errorf("%v, %+v", err, j)
	}
}

// A refresh that is due by itself and held up lets an order that waits behind it through.
func TestAnOrderIsNotHeldUpBehindARefresh(t *testing.T) {
	board := runningBoard(t)
	p := &Production{board: board}
	hold := p.unlessOrdered(func(ctx context.Context) error { // the machine is short for good
		<-ctx.Done()
		return ctx.Err()
	})
	held := make(chan struct{})
	refresh, err := board.Start(ContentLane, "content refresh", func(ctx context.Context, _ *jobs.Task) (any, error) {
		close(held)
		return nil, hold(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	<-held
	order, err := board.Start(ContentLane, "restore", func(context.Context, *jobs.Task) (any, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range []jobs.Job{refresh, order} {
		if j, err := board.Wait(t.Context(), j.ID); err != nil || j.State != jobs.Done {
			t.Errorf("%s: %s, %v", j.Kind, j.State, err)
		}
	}
	if p.unlessOrdered(nil) != nil {
		t.Error("without a gate there is a wait")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := hold(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the station: %v", err)
	}
}
