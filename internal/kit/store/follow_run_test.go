package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// A folder that hangs keeps nobody from writing, and does not keep the program from ending.
func TestATargetThatHangsIsLeftToItself(t *testing.T) {
	db, to := open(t, filepath.Join(t.TempDir(), "state.db")), t.TempDir()
	counted(t, db)
	log, lines := testkit.Log(t)
	f := follower(db, to)
	f.Log, f.Every = log, time.Millisecond
	if err := f.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Opened for writing, a pipe hangs until somebody reads it.
	pipe := filepath.Join(to, f.Status().Generation, "00000001.new")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	before := f.Status()
	if err := commit(db, 10); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		f.Run(ctx)
		close(ended)
	}()
	for range 50 {
		if err := commit(db, 10_000); err != nil {
			t.Fatal(err)
		}
	}
	if s := f.Status(); s.Pieces != before.Pieces {
		t.Errorf("it wrote into a folder that hangs: %+v", s)
	}
	stop()
	<-ended
	if lines.Count("its folder does not answer") != 1 {
		t.Error("it does not say that the folder hangs")
	}
	reader, err := os.Open(pipe) // it goes on
	if err != nil {
		t.Fatal(err)
	}
	_ = reader.Close()
	// Or the folder would be removed under its last step, which has nobody else to wait for it.
	testkit.Eventually(t, "the last step", func() bool { return f.Status().Until.After(before.Until) })
}

// Where the folder is away it is looked for at every step, and where a whole copy fails it is
// tried ever later; either is said once.
func TestFailedStepsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close() //nolint:errcheck // a test's
		counted(t, db)
		log, lines := testkit.Log(t)
		to := filepath.Join(t.TempDir(), "nas")
		var asked atomic.Int64
		var room atomic.Bool
		f := &store.Follower{DB: db, To: to, Every: 2 * time.Second, Log: log, Room: func(int64) error {
			if asked.Add(1); !room.Load() {
				return errors.New("no room")
			}
			return nil
		}}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			f.Run(ctx)
			close(ended)
		}()
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() } // of the virtual clock
		wait(time.Hour)
		if asked.Load() != 0 || !strings.Contains(f.Status().Err, "mount its disk") {
			t.Errorf("%d whole copies for a folder that is away: %+v", asked.Load(), f.Status())
		}
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		if wait(2 * time.Second); asked.Load() != 1 {
			t.Errorf("the folder is there: %d tries", asked.Load())
		}
		if wait(2 * time.Hour); asked.Load() < 120 || asked.Load() > 126 {
			t.Errorf("%d tries in two hours, of which the first five are nearer", asked.Load())
		}
		room.Store(true)
		if wait(time.Minute); f.Status().Err != "" || f.Status().Until.IsZero() {
			t.Errorf("there is room: %+v", f.Status())
		}
		asked.Store(0)
		for range 5 {
			if err := os.Rename(to, to+"-away"); err != nil {
				t.Fatal(err)
			}
			if wait(4 * time.Second); !strings.Contains(f.Status().Err, "mount its disk") {
				t.Errorf("a folder that is away: %+v", f.Status())
			}
			if err := errors.Join(commit(db, 10), os.Rename(to+"-away", to)); err != nil {
				t.Fatal(err)
			}
			if wait(2 * time.Second); f.Status().Err != "" || time.Since(f.Status().Until) > 2*time.Second {
				t.Errorf("two seconds after it is back: %+v", f.Status())
			}
		}
		if asked.Load() != 0 || lines.Count("the continuous copy fails") != 6 || lines.Count("works again") != 6 {
			t.Errorf("%d whole copies; %d faults and %d ends of them are said", asked.Load(), lines.Count("the continuous copy fails"), lines.Count("works again"))
		}
		stop()
		<-ended
	})
}

// A generation that cannot be used gives way to the one before.
func TestADamagedGenerationGivesWayToTheOneBefore(t *testing.T) {
	path, to := filepath.Join(t.TempDir(), "state.db"), t.TempDir()
	db := open(t, path)
	counted(t, db)
	first := follower(db, to)
	if err := errors.Join(first.Step(t.Context()), commit(db, 10), first.Step(t.Context())); err != nil {
		t.Fatal(err)
	}
	want, _ := told(db.Read())
	second := follower(db, to)
	if err := errors.Join(commit(db, 10), second.Step(t.Context()), commit(db, 10), second.Step(t.Context())); err != nil {
		t.Fatal(err)
	}
	until, bytes, err := store.Reach(to)
	if info, _ := os.Stat(path); err != nil || until.UnixMilli() != second.Status().Until.UnixMilli() || bytes < info.Size() {
		t.Errorf("it reaches until %s (%d bytes), %v", until, bytes, err)
	}
	if now, _ := told(db.Read()); now == want {
		t.Fatal("nothing was committed")
	}
	newest := filepath.Join(to, second.Status().Generation)
	taken := filepath.Join(t.TempDir(), "athir.db")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Where the new file cannot be made or written, an older state is no way out.
	if r, err := store.Rebuild(t.Context(), to, taken); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Truncate(filepath.Join(newest, "base"), 100); err != nil {
		t.Fatal(err)
	}
	got, r := rebuilt(t, to)
	if got != want || r.Folder != filepath.Join(to, first.Status().Generation) || !strings.Contains(r.Left, newest) || r.Until.UnixMilli() != first.Status().Until.UnixMilli() {
		t.Errorf("%s, want %s: %+v", got, want, r)
	}
}

// A station that was started before its copy was restored does not take the copy's place.
func TestAnotherDatabaseDoesNotTakeTheCopysPlace(t *testing.T) {
	db, to := open(t, filepath.Join(t.TempDir(), "state.db")), t.TempDir()
	counted(t, db)
	f := follower(db, to)
	if err := errors.Join(commit(db, 10), f.Step(t.Context())); err != nil {
		t.Fatal(err)
	}
	want, _ := told(db.Read())
	other := open(t, filepath.Join(t.TempDir(), "state.db"))
	counted(t, other)
	for range 3 {
		err := follower(other, to).Step(t.Context())
		if err == nil || !strings.Contains(err.Error(), "restore that, or choose an empty folder") {
			t.Errorf("%v", err)
		}
	}
	if got, _ := rebuilt(t, to); got != want {
		t.Errorf("the copy has %s, want %s", got, want)
	}
	again := filepath.Join(t.TempDir(), "state.db") // on a new machine
	if _, err := store.Rebuild(t.Context(), to, again); err != nil {
		t.Fatal(err)
	}
	restored := open(t, again)
	if err := errors.Join(commit(restored, 10), follower(restored, to).Step(t.Context())); err != nil {
		t.Fatal(err)
	}
	want, _ = told(restored.Read())
	if got, _ := rebuilt(t, to); got != want {
		t.Errorf("the copy has %s, the restored database %s", got, want)
	}
}

// What is damaged here takes no good copy's place.
func TestADamagedDatabaseIsNotCopied(t *testing.T) {
	path, to := filepath.Join(t.TempDir(), "state.db"), t.TempDir()
	db := open(t, path)
	counted(t, db)
	for range 20 {
		if err := commit(db, 20_000); err != nil {
			t.Fatal(err)
		}
	}
	if err := follower(db, to).Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	want, _ := told(db.Read())
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 5 * 4096; i < 8*4096; i++ {
		text[i] = 0xee
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := open(t, path)
	for range 3 {
		if err := follower(damaged, to).Step(t.Context()); !errors.Is(err, store.ErrNotDatabase) {
			t.Errorf("%v", err)
		}
	}
	if got, _ := rebuilt(t, to); got != want {
		t.Errorf("the copy has %s, want %s", got, want)
	}
}
