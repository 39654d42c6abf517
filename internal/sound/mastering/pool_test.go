package mastering_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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

// TestMain doubles as the child that a test kills in the middle of a run: with
// one file mastered and recorded and another being encoded it says so, and goes
// no further.
func TestMain(m *testing.M) {
	dir := os.Getenv("MASTERING_TEST_DIR")
	if dir == "" {
		testkit.Main(m)
		return
	}
	recorded := false // each and show are called one at a time
	fmt.Fprintln(os.Stderr, masterAll(context.Background(), dir,
		func(r mastering.Result) { recorded = r.Err == nil }, func() {
			if making, _ := filepath.Glob(filepath.Join(dir, "out", ".athir-master-*")); recorded && len(making) > 0 {
				fmt.Println("here")
				select {}
			}
		}))
	os.Exit(1)
}

// masterAll masters dir/in into dir/out with a ledger, two files at a time.
func masterAll(ctx context.Context, dir string, each func(mastering.Result), show func()) error {
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
	return mastering.New(mastering.Options{Ledger: ledger}).All(ctx, jobs, 2, each, func(mastering.Progress) { show() })
}

func inputs(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o750); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		sound(t, filepath.Join(dir, "in", fmt.Sprintf("%02d.wav", i)), music(2, 0.05+0.05*float64(i)))
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
		if err != nil || (info.Duration-2*time.Second).Abs() > 60*time.Millisecond {
			t.Errorf("%s is not whole: %v, %v", e.Name(), info.Duration, err)
		}
		names = append(names, e.Name())
	}
	return names, leftovers
}

// killedRun is a folder of n files whose mastering was killed, what was made of
// them, and how many were in the making.
func killedRun(t *testing.T, n int) (dir string, made []string, making int) {
	t.Helper()
	dir = inputs(t, n)
	// Every process of the run holds this pipe: its end says that all are gone,
	// those too that the kill met between fork and exec, with a lock in hand.
	alive, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close() //nolint:errcheck // test
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "MASTERING_TEST_DIR="+dir)
	cmd.ExtraFiles, cmd.Stderr = []*os.File{held}, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = held.Close()
	line, _ := bufio.NewReader(out).ReadString('\n') // what it said before it ended
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if _, err := io.Copy(io.Discard, alive); err != nil || line != "here\n" {
		t.Fatalf("the run said %q: %v", line, err)
	}
	made, making = whole(t, dir)
	if len(made) == 0 || len(made) == n {
		t.Fatalf("killed with %v made and %d in the making", made, making)
	}
	return dir, made, making
}

func TestKilledRunLeavesNoHalfFileAndGoesOn(t *testing.T) {
	const files = 4
	dir, made, making := killedRun(t, files)
	for making == 0 { // the kill came when the other worker's file was in place
		dir, made, making = killedRun(t, files)
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
	}, func() {}); err != nil {
		t.Fatal(err)
	}
	// The other worker's file may have come into place without its record: it is
	// made again.
	names, left := whole(t, dir)
	if len(names) != files || left != 0 || all != files || resumed == 0 || resumed < len(made)-1 || resumed > len(made) {
		t.Errorf("%v and %d leftovers; %d results, %d resumed of %v", names, left, all, resumed, made)
	}
}

func TestCancelledRunStopsAndLeavesNothingBehind(t *testing.T) {
	dir := inputs(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	making := 0
	err := masterAll(ctx, dir, nil, func() {
		if _, left := whole(t, dir); left > 0 {
			making = left
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || making == 0 {
		t.Errorf("got %v with %d files in the making", err, making)
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
