package mastering_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/mastering"
)

// TestMain doubles as the child that a test kills in the middle of a run.
func TestMain(m *testing.M) {
	if dir := os.Getenv("MASTERING_TEST_DIR"); dir != "" {
		if err := masterAll(context.Background(), dir, func(r mastering.Result) { fmt.Println(filepath.Base(r.Job.Out)) }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testkit.Main(m)
}

// masterAll masters dir/in into dir/out with a ledger, two files at a time.
func masterAll(ctx context.Context, dir string, each func(mastering.Result)) error {
	db, err := store.Open(ctx, filepath.Join(dir, "state.db"))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // test
	ledger, err := mastering.OpenLedger(ctx, db)
	if err != nil {
		return err
	}
	profile, err := mastering.Named(mastering.Station)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "in", "*"))
	if err != nil {
		return err
	}
	var jobs []mastering.Job
	for _, f := range files {
		jobs = append(jobs, mastering.Job{In: f, Out: filepath.Join(dir, "out", mastering.OutName(f)), Profile: profile})
	}
	return mastering.New(mastering.Options{Ledger: ledger}).All(ctx, jobs, 2, each, nil)
}

func inputs(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o750); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		sound(t, filepath.Join(dir, "in", fmt.Sprintf("%02d.wav", i)), music(6, 0.05+0.05*float64(i)))
	}
	return dir
}

// whole checks that what is in out is whole, and lists it.
func whole(t *testing.T, dir string) (names []string, leftovers int) {
	t.Helper()
	entries, _ := os.ReadDir(filepath.Join(dir, "out"))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".athir-master-") {
			leftovers++
			continue
		}
		f, err := os.Open(filepath.Join(dir, "out", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		stat, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		info, err := audiofile.Read(f, stat.Size())
		_ = f.Close()
		if err != nil || (info.Duration-6*time.Second).Abs() > 60*time.Millisecond {
			t.Errorf("%s is not whole: %v, %v", e.Name(), info.Duration, err)
		}
		names = append(names, e.Name())
	}
	return names, leftovers
}

func TestKilledRunLeavesNoHalfFileAndGoesOn(t *testing.T) {
	const files = 10
	dir := inputs(t, files)
	made := 0
	for round := 0; round < 3 && made < files; round++ { // a slow watcher may come when all is done
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "MASTERING_TEST_DIR="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; n <= made && lines.Scan(); n++ { // those made before come first, as resumed
		}
		if round == 1 { // in the middle of the next file
			testkit.Eventually(t, "a file is in the making", func() bool { names, left := whole(t, dir); return left > 0 || len(names) == files })
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		names, _ := whole(t, dir)
		if len(names) <= made {
			t.Fatalf("round %d made nothing: %v", round, names)
		}
		made = len(names)
	}
	resumed, all := 0, 0
	if err := masterAll(t.Context(), dir, func(r mastering.Result) {
		all++
		if r.Err != nil {
			t.Errorf("%s: %v", r.Job.In, r.Err)
		}
		if r.Record.Resumed {
			resumed++
			if r.Record.SHA256 == "" || r.Record.Integrated > -13.5 || r.Record.Integrated < -14.5 {
				t.Errorf("the record of %s is lost: %+v", r.Job.Out, r.Record)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	// A kill between a file and its record costs making that one again, for each worker.
	names, left := whole(t, dir)
	if len(names) != files || left != 0 || all != files || resumed < made-6 || resumed > made {
		t.Errorf("%v and %d leftovers; %d results, %d resumed of %d", names, left, all, resumed, made)
	}
}

func TestCancelledRunStopsAndLeavesNothingBehind(t *testing.T) {
	dir := inputs(t, 4)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- masterAll(ctx, dir, nil) }()
	testkit.Eventually(t, "a file is in the making", func() bool { _, left := whole(t, dir); return left > 0 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, left := whole(t, dir); left != 0 {
		t.Errorf("%d files in the making are left", left)
	}
}

func TestLedgerKnowsWhatIsStillTrue(t *testing.T) {
	dir := t.TempDir()
	in, out := sound(t, filepath.Join(dir, "a.wav"), music(1.5, 0.2)), filepath.Join(dir, "out", "a.mp3")
	db, err := store.Open(t.Context(), filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // test
	ledger, err := mastering.OpenLedger(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	job := mastering.Job{In: in, Out: out, Profile: station(t)}
	resumed := func(kbps int) bool {
		t.Helper()
		rec, err := mastering.New(mastering.Options{Ledger: ledger, Kbps: kbps}).Do(t.Context(), job, nil)
		if err != nil {
			t.Fatal(err)
		}
		return rec.Resumed
	}
	if resumed(128) || !resumed(128) {
		t.Error("the same again is not resumed")
	}
	if resumed(160) {
		t.Error("another bit rate is resumed")
	}
	if job.Profile, err = mastering.Named("-16"); err != nil {
		t.Fatal(err)
	}
	if resumed(160) {
		t.Error("another profile is resumed")
	}
	sound(t, in, music(2, 0.2))
	if resumed(160) {
		t.Error("another source is resumed")
	}
	rec, ok, err := ledger.Record(t.Context(), out)
	if err != nil || !ok || rec.In != in || rec.Profile != "-16" || rec.SourceCodec != "pcm_s16le" || rec.Kbps != 160 {
		t.Errorf("%+v, %v, %v", rec, ok, err)
	}
	if err := os.WriteFile(out, []byte("someone else's"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = mastering.New(mastering.Options{Ledger: ledger, Kbps: 160}).Do(t.Context(), job, nil)
	var refused *mastering.RefusedError
	if !errors.As(err, &refused) || refused.Reason != mastering.InTheWay {
		t.Errorf("over a stranger's file: %v", err)
	}
	job.Replace = true
	if resumed(160) {
		t.Error("a stranger's file is resumed")
	}
	job.Out = in
	_, err = mastering.New(mastering.Options{}).Do(t.Context(), job, nil)
	if !errors.As(err, &refused) || refused.Reason != mastering.InTheWay {
		t.Errorf("over its own source: %v", err)
	}
}
