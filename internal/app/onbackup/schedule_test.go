package onbackup_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/api"
)

func TestWhenABackupIsDue(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		newest, tried time.Time
		failures      int
		want          time.Time
	}{
		"none yet":                        {want: at(2 * time.Minute)},
		"overdue":                         {newest: at(-3 * day), want: at(2 * time.Minute)},
		"of an hour ago":                  {newest: at(-time.Hour), want: at(23 * time.Hour)},
		"of tomorrow, by a wrong clock":   {newest: at(3 * day), want: at(day)},
		"just made":                       {newest: at(time.Hour), tried: at(time.Hour - time.Second), want: at(25*time.Hour - time.Second)},
		"made, and one of tomorrow there": {newest: at(9 * day), tried: at(time.Hour), want: at(25 * time.Hour)},
		"failed":                          {newest: at(-3 * day), tried: at(time.Hour), failures: 1, want: at(time.Hour + 5*time.Minute)},
		"failed thrice":                   {newest: at(-3 * day), tried: at(time.Hour), failures: 3, want: at(time.Hour + 20*time.Minute)},
		"failed for days":                 {newest: at(-3 * day), tried: at(time.Hour), failures: 99, want: at(7 * time.Hour)},
	} {
		if got := onbackup.Due(c.newest, start, c.tried, day, c.failures); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestOldBackupsGoAndThoseOfPeopleStay(t *testing.T) {
	cfg := station(t)
	names := []string{
		"20260101T000000Z", "20260102T000000Z-scheduled", "20260103T000000Z-scheduled", "20260104T000000Z-scheduled",
		"20260101T000001Z-before-migration", "20260101T000002Z-before-migration", "20260101T000003Z-before-migration", "20260101T000004Z-before-migration",
	}
	for _, n := range names {
		write(t, filepath.Join(cfg.BackupDir(), "athir-أثير-"+n+".tar.zst"), "x")
	}
	for _, other := range []string{"athir-other-20260102T000000Z-scheduled.tar.zst", "athir-أثير-notes.txt", ".athir-أثير-20260101T000000Z.tar.zst.part"} {
		write(t, filepath.Join(cfg.BackupDir(), other), "x")
	}
	if b, err := onbackup.Latest(cfg); err != nil || filepath.Base(b.File) != "athir-أثير-20260104T000000Z-scheduled.tar.zst" || b.Why != onbackup.Scheduled || b.Bytes != 1 {
		t.Errorf("the latest: %+v, %v", b, err)
	}
	removed, err := onbackup.Prune(cfg, 2)
	must(t, err)
	if len(removed) != 2 || !strings.Contains(removed[0], "20260102T000000Z-scheduled") || !strings.Contains(removed[1], "20260101T000001Z-before-migration") {
		t.Errorf("removed %v", removed)
	}
	if left, _ := os.ReadDir(cfg.BackupDir()); len(left) != 9 {
		t.Errorf("%d files are left", len(left))
	}
}

// Two days of a station: a backup a day, one that fails in between and is made good, and no
// more than are to be kept.
func TestBackupsAreMadeByTheClock(t *testing.T) {
	cfg := station(t)
	cfg.Backup.Keep = 2
	log, lines := testkit.Log(t)
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), cfg.Database())
		must(t, err)
		defer db.Close() //nolint:errcheck // a test's
		board, err := jobs.Open(t.Context(), jobs.Options{DB: db, Log: slog.New(slog.DiscardHandler)})
		must(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- board.Run(ctx) }()
		k := &onbackup.Keeper{Config: cfg, Log: log, Hold: func(ctx context.Context) error { return ctx.Err() }}
		go func() { ended <- k.Run(ctx, board) }()
		made := func() (n int) {
			list, err := onbackup.List(cfg)
			must(t, err)
			return len(list)
		}
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() } // of the virtual clock
		if s := k.Status(); s != (api.Backup{}) {
			t.Errorf("before the first: %+v", s)
		}
		if wait(time.Minute); made() != 0 {
			t.Error("a station that has just started is not left alone")
		}
		if wait(2 * time.Minute); made() != 1 {
			t.Errorf("%d backups of a station that had none", made())
		}
		first := k.Status()
		if info, err := os.Stat(first.File); err != nil || first.Bytes != info.Size() || first.Made == 0 || !first.Verified || first.Why != "scheduled" || first.TriedAt == 0 || first.Error != "" {
			t.Errorf("the first: %+v, %v", first, err)
		}
		whole, err := os.ReadFile(cfg.StationFile())
		must(t, err)
		write(t, cfg.StationFile(), "{")
		if wait(24 * time.Hour); made() != 1 || lines.Count("backup failed") == 0 {
			t.Errorf("%d backups, and %d failures", made(), lines.Count("backup failed"))
		}
		if s := k.Status(); k.Failing() == "" || s.Error != k.Failing() || s.Failures != 1 || s.File != first.File || s.TriedAt <= first.TriedAt {
			t.Errorf("nobody is told that backups fail: %+v", s)
		}
		must(t, os.WriteFile(cfg.StationFile(), whole, 0o600))
		if wait(6 * time.Hour); made() != 2 {
			t.Errorf("%d backups after the fault was mended", made())
		}
		if s := k.Status(); k.Failing() != "" || s.Error != "" || s.Failures != 0 || s.Made <= first.Made {
			t.Errorf("after the fault was mended: %+v", s)
		}
		if wait(48 * time.Hour); made() != 2 || lines.Count("backup made", "removed=1") != 2 {
			t.Errorf("%d backups are kept: %d", made(), lines.Count("backup made", "removed=1"))
		}
		list := board.List()
		if len(list) == 0 || list[0].Kind != "backup" || list[0].State != jobs.Done {
			t.Errorf("the jobs: %+v", list)
		}
		stop()
		for range 2 {
			must(t, <-ended)
		}
	})
}

// A database that is about to be migrated is copied first, once; where there is no room
// the tables stay as they are.
func TestTheDatabaseIsCopiedBeforeItIsMigrated(t *testing.T) {
	cfg := station(t)
	log, lines := testkit.Log(t)
	old := func() *store.DB {
		db, err := store.Open(t.Context(), cfg.Database())
		must(t, err)
		return db
	}
	db := old()
	defer db.Close() //nolint:errcheck // a test's
	must(t, onbackup.CopyFirst(t.Context(), cfg, log, "test", db))
	if list, _ := onbackup.List(cfg); len(list) != 0 {
		t.Errorf("nothing is to be migrated, and there is %v", list)
	}
	must(t, sqlIn(db, `DELETE FROM migrations_chat WHERE version_id = 2`))
	must(t, onbackup.CopyFirst(t.Context(), cfg, log, "test", db))
	list, err := onbackup.List(cfg)
	if err != nil || len(list) != 1 || list[0].Why != onbackup.BeforeMigration || lines.Count("copied before it is migrated", "chat 1→2") != 1 {
		t.Fatalf("%v, %v", list, err)
	}

	// A newer program was here: the copy that it made before is named.
	must(t, sqlIn(db, `INSERT INTO migrations_chat (version_id, is_applied) VALUES (99, 1)`))
	err = onbackup.CopyFirst(t.Context(), cfg, log, "test", db)
	if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), list[0].File) || !strings.Contains(err.Error(), "athir restore --data ") {
		t.Errorf("%v", err)
	}

	must(t, sqlIn(db, `DELETE FROM migrations_chat WHERE version_id = 99`))
	blocked := filepath.Join(t.TempDir(), "file")
	write(t, blocked, "")
	cfg.Backup.To = filepath.Join(blocked, "backups")
	if err := onbackup.CopyFirst(t.Context(), cfg, log, "test", db); err == nil || !strings.Contains(err.Error(), "backup.before_migration: false") {
		t.Errorf("without a place for a copy: %v", err)
	}
	cfg.Backup.BeforeMigration = false
	must(t, onbackup.CopyFirst(t.Context(), cfg, log, "test", db))
}

// No slice is missing in the list that is asked before anything is migrated.
func TestEverySliceIsAskedBeforeAMigration(t *testing.T) {
	listed := map[string]bool{}
	for _, s := range onbackup.Schemas() {
		listed[s.Slice] = true
		if n, err := s.Newest(); err != nil || n == 0 {
			t.Errorf("%s: %d, %v", s.Slice, n, err)
		}
	}
	folders := 0
	must(t, filepath.WalkDir(filepath.Join("..", ".."), func(_ string, d os.DirEntry, err error) error { // of the sources alone: others come and go
		if err == nil && d.IsDir() && d.Name() == "migrations" {
			folders++
		}
		return err
	}))
	if folders != len(listed) {
		t.Errorf("%d slices are listed, and %d have migrations", len(listed), folders)
	}
	if _, err := (store.Schema{Slice: "x", Files: fstest.MapFS{"first.sql": {}}}).Newest(); err == nil {
		t.Error("a migration without a number")
	}
}

func TestSeveralBackupsOfASecondHaveNamesOfTheirOwn(t *testing.T) {
	cfg := station(t)
	for n := range 4 {
		r, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg, Version: "test", Why: onbackup.Scheduled})
		must(t, err)
		if all, err := onbackup.List(cfg); err != nil || len(all) != n+1 || all[0].File != r.File {
			t.Fatalf("%s is not the newest of %+v, %v", r.File, all, err)
		}
	}
}
