package record_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/record"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("RECORD_TEST_DIR"); dir != "" {
		recordForEver(dir)
	}
	if dir := os.Getenv("RECORD_TEST_FULL_DISK"); dir != "" {
		testkit.Told(func() error { return onAFullDisk(dir) })
	}
	testkit.Main(m)
}

// A ladder is a tone that climbs a rung each 100 ms, from 500 Hz in steps of 40 Hz, a
// hundred rungs high, and again: it tells what is missing and what is out of order.
const (
	rung     = 100 * time.Millisecond
	rungs    = 100
	perRung  = live.Rate / 10
	tickSize = live.FrameBytes
)

// ladder is tick n of it.
func ladder(n int) []byte {
	out := make([]byte, 0, tickSize)
	for i := n * live.FrameSamples; i < (n+1)*live.FrameSamples; i++ {
		hz := 500 + 40*float64(i/perRung%rungs)
		v := uint16(int16(12000 * math.Sin(2*math.Pi*hz*float64(i%perRung)/live.Rate)))
		out = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(out, v), v)
	}
	return out
}

// climbed are the rungs that can be heard in samples of the left channel, in order, each
// once in a row, numbered on over the hundred.
func climbed(left []float32) (heard []int) {
	const window = live.Rate / 50
	last, times, before := -1, 0, -1
	for at := 0; at+window <= len(left); at += window / 2 {
		n := -1
		if hz, ok := pitch(left[at : at+window]); ok {
			if near := math.Round((hz - 500) / 40); near >= 0 && near < rungs && math.Abs(500+40*near-hz) < 8 {
				n = int(near)
			}
		}
		if n != before {
			before, times = n, 0
		}
		if times++; times == 3 && n >= 0 && n != last {
			if last >= 0 && len(heard) > 0 {
				step := (n - last + rungs) % rungs
				heard = append(heard, heard[len(heard)-1]+step)
			} else {
				heard = append(heard, n)
			}
			last = n
		}
	}
	return heard
}

// pitch is the frequency of a pure tone.
func pitch(x []float32) (hz float64, ok bool) {
	first, last, n := 0.0, 0.0, 0
	for i := 1; i < len(x); i++ {
		if x[i-1] < 0 && x[i] >= 0 {
			at := float64(i) - float64(x[i])/float64(x[i]-x[i-1])
			if n == 0 {
				first = at
			}
			last = at
			n++
		}
	}
	if n < 3 {
		return 0, false
	}
	return float64(n-1) * live.Rate / (last - first), true
}

// decoded is the left channel of a recording, by ffmpeg.
func decoded(ctx context.Context, path string) ([]float32, error) {
	var left []float32
	err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: live.Rate, Channels: 2}, func(s []float32) error {
		for i := 0; i < len(s); i += 2 {
			left = append(left, s[i])
		}
		return nil
	})
	return left, err
}

// inOrder says what is wrong with the rungs heard, of those up to most: none may come
// twice or too early, and of them all at most missing may be missing.
func inOrder(heard []int, most, missing int) error {
	for i := 1; i < len(heard); i++ {
		if step := heard[i] - heard[i-1]; step > rungs/2 {
			return fmt.Errorf("after rung %d comes %d: %v", heard[i-1], heard[i], heard)
		}
	}
	if len(heard) == 0 || heard[0] > 1 {
		return fmt.Errorf("the beginning is missing: %v", heard)
	}
	if heard[len(heard)-1] > most || len(heard) < most-missing {
		return fmt.Errorf("%d rungs of %d were heard: %v", len(heard), most, heard)
	}
	return nil
}

func at(clock string) func() time.Time {
	t, err := time.Parse(time.DateTime, clock)
	if err != nil {
		panic(err)
	}
	return func() time.Time { return t }
}

func open(t testing.TB, opt record.Options) (*record.Recorder, *testkit.Lines) {
	t.Helper()
	log, lines := testkit.Log(t)
	opt.Log = log
	if opt.Now == nil {
		opt.Now = time.Now
	}
	r, err := record.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	return r, lines
}

var sara = record.Meta{Stream: "LIVE1a2b3c4d", Title: "سهرة مع سارة: Night/../show", Creator: "Sara", Mode: live.Replace}

// say writes ticks from one to another, no faster than they are encoded.
func say(t testing.TB, r *record.Recorder, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		testkit.Eventually(t, "room in the queue", func() bool { return r.Queued() < live.Rate })
		r.Write(ladder(n))
	}
}

// ended waits until the newest recording has ended.
func ended(t testing.TB, r *record.Recorder) record.Recording {
	t.Helper()
	testkit.Eventually(t, "the recording has ended", func() bool { l := r.List(); return len(l) > 0 && l[0].Ended != 0 })
	return r.List()[0]
}

// made puts a recording of some seconds into a folder.
func made(t testing.TB, dir string, meta record.Meta, seconds int) record.Recording {
	t.Helper()
	r, _ := open(t, record.Options{Dir: dir})
	stop := testkit.Background(t, r.Run)
	r.Begin(meta)
	say(t, r, 0, 50*seconds)
	r.End("stopped by the studio")
	rec := ended(t, r)
	stop()
	return rec
}

func path(dir, name string) string { return filepath.Join(dir, name) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
