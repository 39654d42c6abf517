package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// TestMain doubles as the process that fills a disk of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv(fullDiskEnv); dir != "" {
		testkit.Told(func() error { return fullDiskStory(context.Background(), dir) })
	}
	testkit.Main(m)
}

// board opens a Board that runs until the test ends, or until stop.
func board(t *testing.T, db *store.DB, opt Options) (b *Board, stop func()) {
	t.Helper()
	opt.DB, opt.Log = db, slog.New(slog.DiscardHandler)
	b, err := Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = b.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return b, stop
}

func open(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// result ends at once.
func result(v any, err error) Work {
	return func(context.Context, *Task) (any, error) { return v, err }
}

// untilCancelled works until it is told to end.
func untilCancelled(began chan<- struct{}) Work {
	return func(ctx context.Context, t *Task) (any, error) {
		t.Say("begun")
		close(began)
		<-ctx.Done()
		return map[string]int{"made": 3}, ctx.Err()
	}
}

func start(t *testing.T, b *Board, lane, kind string, w Work) Job {
	t.Helper()
	j, err := b.Start(lane, kind, w)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestJobsOfALaneNeverOverlapAndOthersDo(t *testing.T) {
	b, _ := board(t, open(t), Options{Wait: 20})
	var inside, most atomic.Int32
	work := func(context.Context, *Task) (any, error) {
		if n := inside.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer inside.Add(-1)
		return nil, nil
	}
	var ids []string
	for i := range 20 {
		ids = append(ids, start(t, b, "content", fmt.Sprint("kind", i), work).ID)
	}
	began := make(chan struct{})
	other := start(t, b, "other", "k", untilCancelled(began))
	<-began // while the first lane may still be at work
	for _, id := range ids {
		if j, err := b.Wait(t.Context(), id); err != nil || j.State != Done {
			t.Fatalf("%+v: %v", j, err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d at a time in one lane", most.Load())
	}
	if _, err := b.Cancel(other.ID); err != nil {
		t.Fatal(err)
	}
}

func TestCancelKeepsWhatWasMadeAndLetsTheNextBegin(t *testing.T) {
	b, _ := board(t, open(t), Options{})
	began := make(chan struct{})
	first := start(t, b, "l", "a", untilCancelled(began))
	waits := start(t, b, "l", "b", result(1, nil))
	last := start(t, b, "l", "c", result(2, nil))
	<-began
	if j, err := b.Cancel(waits.ID); err != nil || j.State != Cancelled || j.Ended == 0 {
		t.Errorf("cancel of one that waits: %+v, %v", j, err)
	}
	if _, err := b.Cancel(first.ID); err != nil {
		t.Fatal(err)
	}
	j, err := b.Wait(t.Context(), first.ID)
	if !errors.Is(err, context.Canceled) || j.State != Cancelled || string(j.Result) != `{"made":3}` || len(j.Log) != 1 {
		t.Errorf("%+v, %v", j, err)
	}
	if j, err := b.Wait(t.Context(), last.ID); err != nil || string(j.Result) != "2" {
		t.Errorf("the next did not run: %+v, %v", j, err)
	}
	if _, err := b.Cancel(first.ID); !errors.Is(err, station.ErrConflict) {
		t.Errorf("cancel again: %v", err)
	}
	if _, err := b.Cancel("nonsense"); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("cancel of nothing: %v", err)
	}
}

func TestAFullLaneIsRefused(t *testing.T) {
	b, _ := board(t, open(t), Options{Wait: 2})
	began := make(chan struct{})
	start(t, b, "l", "long", untilCancelled(began))
	start(t, b, "l", "a", result(nil, nil))
	start(t, b, "l", "b", result(nil, nil))
	if _, err := b.Start("l", "c", result(nil, nil)); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "long") {
		t.Errorf("%v", err)
	}
	<-began
}

func TestEveryJobIsAccountedForAfterTheEnd(t *testing.T) {
	db := open(t)
	b, stop := board(t, db, Options{})
	done := start(t, b, "x", "done", result(map[string]string{"file": "نشرة.mp3"}, nil))
	failed := start(t, b, "x", "failed", result(nil, errors.New("no voice")))
	began := make(chan struct{})
	for _, id := range []string{done.ID, failed.ID} {
		_, _ = b.Wait(t.Context(), id)
	}
	running := start(t, b, "l", "running", untilCancelled(began))
	waiting := start(t, b, "l", "waiting", result(nil, nil))
	<-began
	stop()
	if _, err := b.Start("l", "late", result(nil, nil)); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("start after the end: %v", err)
	}
	want := map[string]State{done.ID: Done, failed.ID: Failed, running.ID: Interrupted, waiting.ID: Interrupted}
	for id, state := range want {
		if j, _ := b.Wait(t.Context(), id); j.State != state {
			t.Errorf("%s is %s, want %s", j.Kind, j.State, state)
		}
	}
	again, _ := board(t, db, Options{})
	for _, id := range []string{done.ID, failed.ID, running.ID, waiting.ID} {
		j, err := again.Find(id)
		if err != nil || j.State != want[id] || (j.Error == "") != (want[id] == Done) {
			t.Errorf("after a restart: %+v, %v", j, err)
		}
	}
	if j, _ := again.Find(done.ID); string(j.Result) != `{"file":"نشرة.mp3"}` {
		t.Errorf("result %s", j.Result)
	}
}

// A program that is killed leaves a job that is neither done nor failed.
func TestAJobCutShortByAKillSaysSo(t *testing.T) {
	db := open(t)
	b, _ := board(t, db, Options{})
	began := make(chan struct{})
	j := start(t, b, "l", "long", untilCancelled(began))
	<-began
	for { // it is on disk as running
		var state string
		if db.Read().QueryRowContext(t.Context(), `SELECT state FROM jobs WHERE id = ?`, j.ID).Scan(&state) == nil && state == "running" {
			break
		}
	}
	again, _ := board(t, db, Options{})
	got, err := again.Wait(t.Context(), j.ID)
	if got.State != Interrupted || err == nil || got.Ended == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAPanicFailsTheJobOnly(t *testing.T) {
	b, _ := board(t, open(t), Options{})
	j := start(t, b, "l", "a", func(context.Context, *Task) (any, error) { panic("oops") })
	next := start(t, b, "l", "b", result(nil, nil))
	if j, err := b.Wait(t.Context(), j.ID); err == nil || j.State != Failed || !strings.Contains(j.Error, "oops") {
		t.Errorf("%+v, %v", j, err)
	}
	if j, err := b.Wait(t.Context(), next.ID); err != nil || j.State != Done {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestHistoryAndLogAreBounded(t *testing.T) {
	db := open(t)
	b, stop := board(t, db, Options{Keep: 5})
	var last Job
	for i := range 12 {
		last = start(t, b, "l", fmt.Sprint(i), func(_ context.Context, task *Task) (any, error) {
			for n := range 1000 {
				task.Say("line %d", n)
			}
			return nil, nil
		})
		if _, err := b.Wait(t.Context(), last.ID); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if n := len(b.List()); n != 5 {
		t.Errorf("%d jobs in memory", n)
	}
	var rows int
	if err := db.Read().QueryRowContext(t.Context(), `SELECT count(*) FROM jobs`).Scan(&rows); err != nil || rows != 5 {
		t.Errorf("%d jobs on disk, %v", rows, err)
	}
	j, _ := b.Find(last.ID)
	if len(j.Log) != logKept || j.Log[0].Text != "line 0" || j.Log[logKept-1].Text != "line 999" {
		t.Errorf("%d lines, from %q to %q", len(j.Log), j.Log[0].Text, j.Log[len(j.Log)-1].Text)
	}
}

func TestWaitReturnsWhenItsOwnPatienceEnds(t *testing.T) {
	b, _ := board(t, open(t), Options{})
	began := make(chan struct{})
	j := start(t, b, "l", "long", untilCancelled(began))
	<-began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if j, err := b.Wait(ctx, j.ID); !errors.Is(err, context.Canceled) || j.State != Running {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestProgressIsSeenWhileItRuns(t *testing.T) {
	b, _ := board(t, open(t), Options{})
	shown, goOn := make(chan struct{}), make(chan struct{})
	j := start(t, b, "l", "a", func(_ context.Context, task *Task) (any, error) {
		task.Show(Progress{Step: "fetch", Detail: "أغنية", Done: 3, Total: 20})
		close(shown)
		<-goOn
		return nil, nil
	})
	<-shown
	if j, _ := b.Find(j.ID); j.Progress.Done != 3 || j.Progress.Detail != "أغنية" || j.State != Running {
		t.Errorf("%+v", j)
	}
	close(goOn)
	_, _ = b.Wait(t.Context(), j.ID)
}
