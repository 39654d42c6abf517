package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/record"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/station"
)

func TestABroadcastIsRecordedToTheSample(t *testing.T) {
	dir := t.TempDir()
	r, _ := open(t, record.Options{Dir: dir, Now: at("2026-03-01 21:30:05")})
	testkit.Background(t, r.Run)
	r.Write(ladder(0)) // nobody records
	r.Begin(sara)
	if c := r.Current(); c == nil || c.Name != "LIVE_20260301-213005_سهرة-مع-سارة-night-show.mp3" {
		t.Fatalf("under way: %+v", c)
	}
	say(t, r, 0, 601)
	r.End("stopped by the studio")
	rec := ended(t, r)
	if r.Current() != nil {
		t.Error("it is still under way")
	}
	if !rec.Complete || rec.Parts != 1 || rec.LostMS != 0 || rec.Problem != "" || rec.Title != sara.Title ||
		rec.Presenter != "Sara" || rec.StreamID != sara.Stream || rec.Mode != live.Replace || rec.Why != "stopped by the studio" {
		t.Errorf("%+v", rec)
	}
	left, err := decoded(t.Context(), path(dir, rec.Name))
	if err != nil || len(left) != 601*live.FrameSamples {
		t.Errorf("%d samples instead of %d, %v", len(left), 601*live.FrameSamples, err)
	}
	if err := inOrder(climbed(left), 121, 1); err != nil {
		t.Error(err)
	}
	if first, _ := pitch(left[100:2000]); first < 499 || first > 501 {
		t.Errorf("it begins with %.1f Hz", first)
	}
	if info, err := os.Stat(path(dir, rec.Name)); err != nil || info.Size() != rec.Bytes {
		t.Errorf("%v, %v; listed %d", info.Size(), err, rec.Bytes)
	}
	f, got, err := r.Open(rec.Name)
	if err != nil || got.Name != rec.Name {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	whole, err := io.ReadAll(f)
	if err != nil || int64(len(whole)) != rec.Bytes {
		t.Errorf("%d bytes read, %v", len(whole), err)
	}
	// What others make of the file: a length without decoding, and the names in it.
	info, err := audiofile.Read(bytes.NewReader(whole), rec.Bytes)
	if err != nil || info.Title != sara.Title || info.Artist != "Sara" || (info.Duration-601*live.Tick).Abs() > 50*time.Millisecond {
		t.Errorf("%+v, %v", info, err)
	}
}

// An encoder that is killed costs what it held; the rest is there, in order, in one file.
func TestAKilledEncoderCostsLittle(t *testing.T) {
	dir := t.TempDir()
	r, _ := open(t, record.Options{Dir: dir})
	testkit.Background(t, r.Run)
	r.Begin(sara)
	for n := range 3 {
		say(t, r, n*200, n*200+150)
		pid := r.Encoder()
		testkit.Eventually(t, "the encoder has taken most of it", func() bool {
			return r.List()[0].DurationMS > int64(n)*4000+1000-int64(n)*2000 && r.Queued() == 0
		})
		if n < 2 {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		say(t, r, n*200+150, n*200+200)
	}
	r.End("stopped")
	rec := ended(t, r)
	if rec.Parts != 3 || rec.Complete || !strings.Contains(rec.Problem, "encoder was restarted") {
		t.Errorf("%+v", rec)
	}
	left, err := decoded(t.Context(), path(dir, rec.Name))
	if err != nil {
		t.Fatal(err)
	}
	if err := inOrder(climbed(left), 120, 40); err != nil { // two seconds a kill
		t.Error(err)
	}
}

// An encoder that stands still is replaced; the caller does not notice, and what did not
// fit meanwhile is counted.
func TestAHungEncoderIsReplacedAndHoldsNobodyUp(t *testing.T) {
	dir := t.TempDir()
	r, lines := open(t, record.Options{Dir: dir})
	r.Stall(10 * time.Second) // longer than a busy machine stands still
	testkit.Background(t, r.Run)
	r.Begin(sara)
	say(t, r, 0, 50)
	testkit.Eventually(t, "it records", func() bool { return r.List()[0].DurationMS > 0 })
	hung := r.Encoder()
	if err := syscall.Kill(hung, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for n := 50; n < 300; n++ { // five seconds at once: two fit, and a third of one in the pipe
		r.Write(ladder(n))
	}
	testkit.Eventually(t, "another encoder", func() bool { return r.Encoder() != hung })
	say(t, r, 300, 400)
	r.End("stopped")
	rec := ended(t, r)
	if rec.LostMS < 2000 || rec.LostMS > 4500 || rec.Parts != 2 || rec.Complete {
		t.Errorf("%+v", rec)
	}
	if lines.Count("the encoder is behind") != 1 {
		t.Error("the log does not say that audio was lost, once")
	}
	left, err := decoded(t.Context(), path(dir, rec.Name))
	if heard := climbed(left); err != nil || len(heard) < 30 || heard[len(heard)-1] != 79 {
		t.Errorf("%v, %v", heard, err)
	}
}

// Whoever ends the desk does not wait for an encoder that stands still.
func TestTheEndDoesNotWaitForAHungEncoder(t *testing.T) {
	dir := t.TempDir()
	r, _ := open(t, record.Options{Dir: dir})
	r.Stall(time.Hour)
	stop := testkit.Background(t, r.Run)
	r.Begin(sara)
	say(t, r, 0, 100)
	testkit.Eventually(t, "it records", func() bool { return r.List()[0].DurationMS > 0 })
	if err := syscall.Kill(r.Encoder(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for n := 100; n < 200; n++ {
		r.Write(ladder(n))
	}
	stop()
	if rec := r.List()[0]; !rec.Interrupted || rec.DurationMS == 0 {
		t.Errorf("%+v", rec)
	}
}

// One that alone takes all that recordings may stops there, and says so.
func TestTheOneUnderWayIsBoundedToo(t *testing.T) {
	dir := t.TempDir()
	old := made(t, dir, sara, 2)
	r, _ := open(t, record.Options{Dir: dir, MaxBytes: 256 << 10})
	testkit.Background(t, r.Run)
	r.Begin(record.Meta{Stream: "LIVE00000002", Title: "long"})
	say(t, r, 0, 600) // 384 KiB
	// What is encoded is written a little later.
	testkit.EventuallyNil(t, "it says why it stopped", func() error {
		if c := r.Current(); c == nil || !strings.Contains(c.Problem, "MaxBytes") {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
	r.End("stopped")
	testkit.Eventually(t, "the old one is gone", func() bool { l := r.List(); return len(l) == 1 && l[0].Ended != 0 })
	rec := r.List()[0]
	if rec.Bytes > 256<<10 || rec.Bytes < 200<<10 || rec.Complete || rec.LostMS < 3000 || rec.Name == old.Name {
		t.Errorf("%+v", rec)
	}
}

// Broadcasts one after another, in the same second, are files of their own; the one under
// way is not deleted, and everybody may ask at any time.
func TestManyAskWhileBroadcastsFollowEachOther(t *testing.T) {
	dir := t.TempDir()
	r, _ := open(t, record.Options{Dir: dir, Now: at("2026-03-01 20:00:00")})
	testkit.Background(t, r.Run)
	over := make(chan struct{})
	var askers sync.WaitGroup
	for range 4 {
		askers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				for _, rec := range r.List() {
					_ = r.SetListeners(rec.Name, 3, 4)
					if f, _, err := r.Open(rec.Name); err == nil {
						_ = f.Close()
					}
				}
				r.Current()
			}
		})
	}
	for n := range 3 {
		r.Begin(sara)
		say(t, r, 0, 50)
		if err := r.Delete(r.Current().Name); !errors.Is(err, station.ErrConflict) {
			t.Errorf("deleted while under way: %v", err)
		}
		if n < 2 {
			continue // the next Begin ends it
		}
		r.End("stopped")
	}
	testkit.Eventually(t, "three have ended", func() bool {
		n := 0
		for _, rec := range r.List() {
			if rec.Ended != 0 {
				n++
			}
		}
		return n == 3
	})
	close(over)
	askers.Wait()
	for _, rec := range r.List() {
		left, err := decoded(t.Context(), path(dir, rec.Name))
		if err != nil || len(left) != 50*live.FrameSamples || !rec.Complete {
			t.Errorf("%+v: %d samples, %v", rec, len(left), err)
		}
	}
	r.Begin(sara)
	r.End("at once")
	testkit.Eventually(t, "what has no audio is gone", func() bool { return len(r.List()) == 3 })
}
