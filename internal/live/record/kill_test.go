package record_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/record"
)

// recordForEver is the child: it records, never more than a second and a half ahead of what
// is in the file, and says how much that is.
func recordForEver(dir string) {
	r, err := record.Open(record.Options{Dir: dir, Log: quiet(), Now: time.Now})
	if err != nil {
		panic(err)
	}
	go func() { _ = r.Run(context.Background()) }()
	r.Begin(sara)
	for n := 0; ; n++ {
		for {
			done := r.List()[0].DurationMS
			fmt.Println(n, done)
			if int64(n)*20-done < 1500 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		r.Write(ladder(n))
	}
}

// The recorder is killed as it writes: all that it said was recorded is there, and at most
// a second and a half of what it was given is not. Back within the minute, it goes on in the
// same file, which plays as one.
func TestAKilledRecorderLosesAtMostTheLastTwoSeconds(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "RECORD_TEST_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	given, done := 0, int64(0)
	take := func() bool {
		return in.Scan() && func() bool { _, err := fmt.Sscan(in.Text(), &given, &done); return err == nil }()
	}
	for done < 4000 && take() {
	}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	for take() {
	}
	_ = cmd.Wait()
	if done < 4000 {
		t.Fatalf("the child recorded only %d ms", done)
	}

	r, _ := open(t, record.Options{Dir: dir})
	rec := r.List()[0]
	if rec.DurationMS < done || rec.Ended == 0 || !rec.Interrupted || rec.Complete || rec.Title != sara.Title {
		t.Fatalf("it said %d ms were recorded; %+v", done, rec)
	}
	left, err := decoded(t.Context(), path(dir, rec.Name))
	if err != nil {
		t.Fatal(err)
	}
	if err := inOrder(climbed(left), given/5, 20); err != nil {
		t.Errorf("%d ticks were given: %v", given, err)
	}

	// Half a minute later, however long the look at the file took.
	clock := func() time.Time { return time.UnixMilli(rec.Ended).Add(30 * time.Second) }
	r, _ = open(t, record.Options{Dir: dir, Now: clock})
	stop := testkit.Background(t, r.Run)
	r.Begin(record.Meta{Stream: sara.Stream, Title: "said anew", Mode: live.Replace})
	first := (given/5 + 5) * 5 // the next rung but some
	say(t, r, first, first+100)
	stop() // the desk is asked to end, and is back once more
	if got := r.List(); len(got) != 1 || !got[0].Interrupted || got[0].Parts != 2 {
		t.Fatalf("%+v", got)
	}
	r, _ = open(t, record.Options{Dir: dir, Now: clock})
	testkit.Background(t, r.Run)
	r.Begin(sara)
	say(t, r, first+100, first+200)
	r.End("stopped by the studio")
	testkit.Eventually(t, "it has ended", func() bool { return r.List()[0].Ended != 0 })
	all := r.List()
	if len(all) != 1 || all[0].Parts != 3 || all[0].Name != rec.Name || all[0].Title != sara.Title || all[0].Interrupted {
		t.Fatalf("%+v", all)
	}
	left, err = decoded(t.Context(), path(dir, rec.Name))
	if err != nil {
		t.Fatal(err)
	}
	if err := inOrder(climbed(left), first/5+40, 40); err != nil {
		t.Error(err)
	}
	if played := time.Duration(len(left)) * time.Second / live.Rate; (played - time.Duration(all[0].DurationMS)*time.Millisecond).Abs() > 50*time.Millisecond {
		t.Errorf("plays %s, listed with %d ms", played, all[0].DurationMS)
	}

	// Another stream, or the same after an hour, is a recording of its own.
	r.Begin(record.Meta{Stream: "LIVE99999999", Title: "other"})
	say(t, r, 0, 50)
	r.End("stopped")
	testkit.Eventually(t, "the other has ended", func() bool { l := r.List(); return len(l) == 2 && l[0].Ended != 0 })
}

func TestAnInterruptedRecordingIsOverAfterAWhile(t *testing.T) {
	dir := t.TempDir()
	now := at("2026-03-01 20:00:00")()
	clock := func() time.Time { return now }
	r, _ := open(t, record.Options{Dir: dir, Now: clock})
	stop := testkit.Background(t, r.Run)
	r.Begin(sara)
	say(t, r, 0, 50)
	stop()
	now = now.Add(2 * time.Minute)
	r, _ = open(t, record.Options{Dir: dir, Now: clock})
	testkit.Background(t, r.Run)
	r.Begin(sara)
	say(t, r, 0, 50)
	r.End("stopped")
	testkit.Eventually(t, "both have ended for good", func() bool {
		l := r.List()
		return len(l) == 2 && l[0].Ended != 0 && !l[1].Interrupted
	})
	if all := r.List(); !all[0].Complete || all[1].Complete || all[1].Problem == "" {
		t.Errorf("%+v", all)
	}
}

func TestAFullDiskStopsTheRecordingOnly(t *testing.T) {
	testkit.InOwnMounts(t, "RECORD_TEST_FULL_DISK")
}

// onAFullDisk fills the disk under a recording, twice: by others, and up to the reserve.
func onAFullDisk(dir string) error {
	const reserve = 256 << 10
	if err := testkit.SmallDisk(dir, 3<<10); err != nil {
		return err
	}
	r, err := record.Open(record.Options{Dir: dir, Log: quiet(), Now: time.Now, ReserveBytes: reserve})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.Begin(sara)
	n := 0
	until := func(what string, ok func() bool) error {
		for end := time.Now().Add(2 * time.Minute); !ok(); {
			if time.Now().After(end) {
				return fmt.Errorf("never: %s: %+v", what, r.List())
			}
			if r.Queued() < live.Rate {
				r.Write(ladder(n))
				n++
			} else {
				time.Sleep(time.Millisecond)
			}
		}
		return nil
	}
	problem := func() string { return r.List()[0].Problem }
	err = until("it records", func() bool { return r.List()[0].DurationMS > 3000 })
	unfill, ferr := testkit.Fill(dir)
	if err = errors.Join(err, ferr); err != nil {
		return err
	}
	err = until("it stops", func() bool { return strings.Contains(problem(), "the disk is full") })
	stopped := r.List()[0].Bytes
	if err != nil {
		return err
	}
	unfill()
	if err := until("it goes on", func() bool { return r.List()[0].Bytes > stopped+100<<10 }); err != nil {
		return err
	}
	// Now up to the reserve by itself.
	if err := until("it stops at the reserve", func() bool { return strings.Count(problem(), "the disk is full") == 2 }); err != nil {
		return err
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil || st.Bavail*uint64(st.Bsize) < reserve {
		return fmt.Errorf("%d bytes are left of the reserve: %w", st.Bavail*uint64(st.Bsize), err)
	}
	r.End("stopped")
	if err := until("it ends", func() bool { return r.List()[0].Ended != 0 }); err != nil {
		return err
	}
	cancel()
	if err := <-ended; err != nil {
		return err
	}
	rec := r.List()[0]
	if rec.Parts != 2 || rec.Complete || rec.LostMS == 0 {
		return fmt.Errorf("%+v", rec)
	}
	left, err := decoded(context.Background(), path(dir, rec.Name))
	if err != nil {
		return err
	}
	heard := climbed(left)
	fmt.Println(rec.Problem, len(heard), "rungs of", n/5)
	for i := 1; i < len(heard); i++ {
		if heard[i] <= heard[i-1] {
			return fmt.Errorf("out of order: %v", heard)
		}
	}
	if played := int64(len(left)) * 1000 / live.Rate; played < rec.DurationMS-50 || played > rec.DurationMS+50 || int64(len(heard)) < rec.DurationMS/100-5 {
		return fmt.Errorf("plays %d ms, listed with %d, %d rungs", played, rec.DurationMS, len(heard))
	}
	return nil
}
