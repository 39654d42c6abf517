package onbackup_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/api"
)

// follow copies a station continuously until the test ends.
func follow(t testing.TB, cfg *config.Config, log *slog.Logger) (*onbackup.Keeper, *store.DB) {
	t.Helper()
	db, err := store.Open(t.Context(), cfg.Database())
	must(t, err)
	cfg.Backup.Every = "0"
	k := &onbackup.Keeper{Config: cfg, Log: log, Database: db}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx, nil) }()
	t.Cleanup(func() {
		stop()
		must(t, errors.Join(<-ended, db.Close()))
	})
	return k, db
}

func recover(t testing.TB, dir, data string, change ...func(*onbackup.Restoring)) (onbackup.Plan, error) {
	t.Helper()
	r := onbackup.Restoring{Data: data, Copy: dir, Confirm: func(onbackup.Plan) error { return nil }}
	for _, c := range change {
		c(&r)
	}
	return onbackup.Restore(t.Context(), r)
}

// nas is a folder for the copy, which the test may take away.
func nas(t testing.TB, cfg *config.Config) string {
	cfg.Backup.Continuous = filepath.Join(t.TempDir(), "nas")
	must(t, os.Mkdir(cfg.Backup.Continuous, 0o700))
	return cfg.Backup.Continuous
}

// copies are the stored copies of a file.
func copies(t testing.TB, to, name string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(to, "[sf]*", name) + "~*")
	must(t, err)
	return found
}

// always are the files of state that a backup and a continuous copy have without a choice.
func always(yield func(name, text string) bool) {
	for name, text := range state() {
		if !strings.HasPrefix(name, "mastered") && !strings.HasPrefix(name, "recordings") && !strings.HasPrefix(name, "podcasts") && !strings.HasPrefix(name, "archive") && !yield(name, text) {
			return
		}
	}
}

// What the station writes is in the copy within two steps: on a new machine it is all there.
func TestAStationIsCopiedContinuously(t *testing.T) {
	cfg := station(t)
	to := nas(t, cfg)
	log, lines := testkit.Log(t)
	synctest.Test(t, func(t *testing.T) {
		k, db := follow(t, cfg, log)
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() } // of the virtual clock
		if s := k.Status().Continuous; s == nil || s.Until != 0 || s.To != to {
			t.Errorf("before the first step: %+v", s)
		}
		wait(4 * time.Second)
		must(t, comment(db, "after"))
		write(t, cfg.StationFile(), `{"MOOD":"chill"}`)
		write(t, filepath.Join(cfg.DataDir, "chat/media/ab/cd/later"), "later")
		write(t, filepath.Join(cfg.DataDir, "social/tus/1.part"), "half of an upl")
		whole, err := os.ReadFile(cfg.File())
		must(t, err)
		write(t, cfg.File(), "name: [\n") // half of an edit
		wait(4 * time.Second)
		if s := k.Status().Continuous; s.Error != "" || s.Waiting != 0 || s.Bytes == 0 || time.Since(time.UnixMilli(s.Until)) > 2*time.Second {
			t.Errorf("%+v", s)
		}

		data := filepath.Join(t.TempDir(), "new")
		plan, err := recover(t, to, data)
		must(t, err)
		if !plan.Done || !plan.Continuous || len(plan.Left) != 0 || plan.Station != cfg.Name || time.Since(plan.Made) > 4*time.Second {
			t.Errorf("%+v", plan)
		}
		if got := said(t, data); !slices.Equal(got, []string{"before", "after"}) {
			t.Errorf("the database says %v", got)
		}
		for name, text := range always {
			if name == "station.json" {
				text = `{"MOOD":"chill"}`
			}
			holds(t, filepath.Join(data, name), text)
		}
		holds(t, filepath.Join(data, "chat/media/ab/cd/later"), "later")
		holds(t, filepath.Join(data, "social/tus/1.part"), "")
		holds(t, filepath.Join(data, "mastered/a.mp3"), "")
		holds(t, filepath.Join(data, "athir.yaml"), string(whole))
		if info, err := os.Stat(filepath.Join(data, "athir.yaml")); err != nil || info.Mode() != 0o600 {
			t.Errorf("the settings with every key: %v, %v", info.Mode(), err)
		}
		for _, f := range []string{"athir.yaml", "station.json"} {
			found := copies(t, to, f)
			if info, err := os.Stat(strings.Join(found, " and ")); err != nil || info.Mode() != 0o600 {
				t.Errorf("copies of %s: %v, %v", f, info, err)
			}
		}

		// Files go an hour after they have gone here, and not with their whole folder.
		must(t, errors.Join(os.Remove(filepath.Join(cfg.DataDir, "chat/media/ab/cd/later")), os.RemoveAll(filepath.Join(cfg.DataDir, "social"))))
		if wait(50 * time.Minute); len(copies(t, to, "chat/media/ab/cd/later")) != 1 {
			t.Error("a file that an older state knows is gone")
		}
		if wait(20 * time.Minute); len(copies(t, to, "chat/media/ab/cd/later")) != 0 || len(copies(t, to, "chat/media/ab/cd/abcd")) != 1 || len(copies(t, to, "social/covers/1")) != 1 {
			t.Error("an hour later")
		}
		if lines.Count("level=WARN") != 1 {
			t.Error("it warns of more than that there are no other backups")
		}
	})
}

// A folder that goes away is told of, and caught up with; nothing is made where it was.
func TestAFolderThatGoesAwayIsCaughtUpWith(t *testing.T) {
	cfg := station(t)
	to := nas(t, cfg)
	log, _ := testkit.Log(t)
	synctest.Test(t, func(t *testing.T) {
		k, db := follow(t, cfg, log)
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() } // of the virtual clock
		wait(4 * time.Second)
		must(t, os.Rename(to, to+"-unmounted"))
		wait(4 * time.Second)
		if why := k.Failing(); why != "" {
			t.Errorf("within ten seconds: %s", why)
		}
		must(t, comment(db, "while it was away"))
		write(t, cfg.StationFile(), `{"MOOD":"chill"}`)
		write(t, filepath.Join(cfg.DataDir, "chat/media/ab/cd/later"), "later")
		wait(time.Minute)
		if s := k.Status(); !strings.Contains(k.Failing(), "mount its disk") || s.Continuous.Error != k.Failing() || s.Error != "" || lag(k) < 60 {
			t.Errorf("%+v, %+v, %v s", s, s.Continuous, lag(k))
		}
		if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("something is made where nothing is mounted: %v", err)
		}
		must(t, os.Rename(to+"-unmounted", to))
		wait(6 * time.Second)
		if s := k.Status().Continuous; s.Error != "" || k.Failing() != "" || lag(k) > 2 {
			t.Errorf("it is back: %+v, %v s", s, lag(k))
		}
		data := filepath.Join(t.TempDir(), "new")
		_, err := recover(t, to, data)
		must(t, err)
		if got := said(t, data); !slices.Equal(got, []string{"before", "while it was away"}) {
			t.Errorf("the database says %v", got)
		}
		holds(t, filepath.Join(data, "station.json"), `{"MOOD":"chill"}`)
		holds(t, filepath.Join(data, "chat/media/ab/cd/later"), "later")

		// Another disk is there: all of it comes anew.
		must(t, errors.Join(os.Rename(to, to+"-old"), os.Mkdir(to, 0o700)))
		wait(6 * time.Second)
		data = filepath.Join(t.TempDir(), "new")
		_, err = recover(t, to, data)
		must(t, err)
		holds(t, filepath.Join(data, "chat/media/ab/cd/abcd"), "voice")
		holds(t, filepath.Join(data, "headlines.txt"), "خبر\n")
	})
}

func lag(k *onbackup.Keeper) (seconds float64) {
	i := slices.IndexFunc(k.Metrics(), func(m api.Metric) bool { return m.Name == "backup_continuous_lag_seconds" })
	k.Metrics()[i].Read(func(v float64, _ string) { seconds = v })
	return seconds
}

// While the copy of the database is behind, files wait.
func TestFilesWaitForTheDatabase(t *testing.T) {
	cfg := station(t)
	to := nas(t, cfg)
	log, _ := testkit.Log(t)
	synctest.Test(t, func(t *testing.T) {
		_, _ = follow(t, cfg, log)
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() } // of the virtual clock
		wait(4 * time.Second)
		newest, err := filepath.Glob(filepath.Join(to, "0*"))
		if err != nil || len(newest) != 1 {
			t.Fatalf("%v, %v", newest, err)
		}
		must(t, os.Rename(newest[0], newest[0]+".aside"))
		must(t, os.Mkdir(filepath.Join(to, "0000000009-"+strings.Repeat("0", 32)), 0o700)) // of another database
		wait(10 * time.Second)
		write(t, filepath.Join(cfg.DataDir, "chat/media/ab/cd/later"), "later")
		if wait(time.Minute); len(copies(t, to, "chat/media/ab/cd/later")) != 0 {
			t.Error("a file is copied while the database is not")
		}
		must(t, errors.Join(os.RemoveAll(filepath.Join(to, "0000000009-"+strings.Repeat("0", 32))), os.Rename(newest[0]+".aside", newest[0])))
		if wait(time.Minute); len(copies(t, to, "chat/media/ab/cd/later")) != 1 {
			t.Error("a file is not copied after the database is")
		}
	})
}

// What is damaged of a copy is left out and named, and what is whole is restored.
func TestWhatIsDamagedOfAContinuousCopyIsNamed(t *testing.T) {
	cfg := station(t)
	to := nas(t, cfg)
	log, _ := testkit.Log(t)
	synctest.Test(t, func(t *testing.T) {
		_, db := follow(t, cfg, log)
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() } // of the virtual clock
		wait(4 * time.Second)
		must(t, comment(db, "second"))
		wait(2 * time.Second)
		must(t, comment(db, "third"))
		wait(4 * time.Second)
	})
	must(t, os.Truncate(copies(t, to, "chat/media/ab/cd/abcd")[0], 3))
	write(t, copies(t, to, "station.json")[0], "{")
	pieces, err := filepath.Glob(filepath.Join(to, "0*", "0*"))
	must(t, err)
	must(t, os.Truncate(pieces[len(pieces)-1], 100))
	data := filepath.Join(t.TempDir(), "new")
	plan, err := recover(t, to, data)
	must(t, err)
	if got := strings.Join(plan.Left, "\n"); len(plan.Left) != 3 || !strings.Contains(got, "abcd") || !strings.Contains(got, "station.json") || !strings.Contains(got, pieces[len(pieces)-1]) {
		t.Errorf("%d: %s", len(plan.Left), got)
	}
	if got := said(t, data); !slices.Equal(got, []string{"before", "second"}) {
		t.Errorf("the database says %v", got)
	}
	holds(t, filepath.Join(data, "chat/media/ab/cd/abcd"), "")
	holds(t, filepath.Join(data, "station.json"), "")
	holds(t, filepath.Join(data, "social/covers/1"), "cover")

	dry := filepath.Join(t.TempDir(), "none")
	if plan, err := recover(t, to, dry, func(r *onbackup.Restoring) { r.DryRun = true }); err != nil || plan.Done || len(plan.Left) != 3 {
		t.Errorf("a dry run: %+v, %v", plan, err)
	}
	if _, err := os.Stat(dry); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a dry run makes %s: %v", dry, err)
	}
	if _, err := recover(t, filepath.Join(to, "away"), data); err == nil || !strings.Contains(err.Error(), "nothing was changed") || !strings.Contains(err.Error(), "mount it") {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := recover(t, t.TempDir(), data); !errors.Is(err, store.ErrNoCopy) {
		t.Errorf("an empty folder: %v", err)
	}
	if got := said(t, data); len(got) != 2 {
		t.Errorf("the database says %v", got)
	}
}

// A station is killed while it is written to and copied. On a new machine all is there that was
// acknowledged before the moment until which the copy says it reaches.
func TestAStationThatIsKilledIsOnANewMachine(t *testing.T) {
	t.Parallel()
	cfg := station(t)
	to := nas(t, cfg)
	for round := range 2 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleEnv+"=follow", dataEnv+"="+cfg.DataDir, fileEnv+"="+to)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		acknowledged, ended := map[string]int64{}, make(chan error, 1)
		go func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				name, at, _ := strings.Cut(lines.Text(), " ")
				var ms int64
				if _, err := fmt.Sscan(at, &ms); err != nil {
					ended <- fmt.Errorf("the child said %q", lines.Text())
					return
				}
				acknowledged[name] = ms
			}
			ended <- nil
		}()
		last := time.Now()
		for range 2 { // steps of this process that had something
			testkit.Eventually(t, "a step", func() bool {
				until, _, err := store.Reach(to)
				if err != nil || !until.After(last) {
					return false
				}
				last = until
				return true
			})
		}
		must(t, cmd.Process.Kill())
		killed := time.Now()
		must(t, <-ended)
		_ = cmd.Wait()
		data := filepath.Join(t.TempDir(), "new")
		plan, err := recover(t, to, data)
		must(t, err)
		got, lost := map[string]bool{}, 0
		for _, s := range said(t, data) {
			got[s] = true
		}
		for name, at := range acknowledged {
			if !got[name] {
				if lost++; at < plan.Made.UnixMilli() {
					t.Errorf("%s was acknowledged at %d, the copy reaches until %d, and it is not there", name, at, plan.Made.UnixMilli())
				}
			}
		}
		text, err := os.ReadFile(filepath.Join(data, "station.json"))
		if err != nil || !strings.Contains(string(text), "MOOD") || len(acknowledged) == 0 || len(plan.Left) != 0 {
			t.Errorf("%q, %v, %d acknowledged, %v", text, err, len(acknowledged), plan.Left)
		}
		t.Logf("round %d: of %d commits %d are lost, those of the last %d ms", round, len(acknowledged), lost, killed.Sub(plan.Made).Milliseconds())
	}
}

// followUntilKilled writes for as long as it lives, and says what is acknowledged.
func followUntilKilled(data, to string) error {
	cfg, _, err := config.Load(config.Source{DataDir: data})
	if err != nil {
		return err
	}
	cfg.Backup.Continuous, cfg.Backup.Every = to, "0"
	db, err := store.Open(context.Background(), cfg.Database())
	if err != nil {
		return err
	}
	k := &onbackup.Keeper{Config: cfg, Log: slog.New(slog.DiscardHandler), Database: db}
	go func() { _ = k.Run(context.Background(), nil) }()
	for n := 0; ; n++ {
		name := fmt.Sprintf("%d-%d", os.Getpid(), n)
		if err := comment(db, name); err != nil {
			return err
		}
		fmt.Println(name, time.Now().UnixMilli())
	}
}

func TestAFullTargetIsTold(t *testing.T) {
	t.Parallel()
	testkit.InOwnMounts(t, fullTargetEnv)
}

// ontoAFullTarget has a station copy to a disk that its database fills: the station goes on,
// the error is told, and the copy has what it had.
func ontoAFullTarget(dir string) error {
	if err := testkit.SmallDisk(dir, 2048); err != nil {
		return err
	}
	data, err := os.MkdirTemp("", "athir-onbackup-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data) //nolint:errcheck // a test's own
	cfg, _, err := config.Load(config.Source{DataDir: data})
	if err != nil {
		return err
	}
	text, err := migrated()
	if err != nil {
		return err
	}
	if err := os.WriteFile(cfg.Database(), text, 0o600); err != nil {
		return err
	}
	cfg.Backup.Continuous, cfg.Backup.Every = dir, "0"
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	db, err := store.Open(ctx, cfg.Database())
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // a test's own
	k := &onbackup.Keeper{Config: cfg, Log: slog.New(slog.DiscardHandler), Database: db}
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx, nil) }()
	for !strings.Contains(k.Failing(), "no space left") { // on a busy machine it is slow first
		if err := sqlIn(db, `INSERT INTO said VALUES (hex(randomblob(20000)))`); err != nil {
			return fmt.Errorf("the station is kept from writing: %w", err)
		}
	}
	if why := k.Failing(); !strings.Contains(why, dir) {
		return fmt.Errorf("it is told that %s", why)
	}
	stop()
	if err := <-ended; err != nil {
		return err
	}
	_, err = onbackup.Restore(context.Background(), onbackup.Restoring{Data: filepath.Join(data, "new"), Copy: dir, Confirm: func(onbackup.Plan) error { return nil }})
	return err
}
