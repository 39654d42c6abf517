package peaks_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/peaks"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// sound makes a file: silence, then a tone of half of full scale, then one of all of it.
func sound(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.flac")
	const lavfi = "aevalsrc='sin(2*PI*220*t)*(if(lt(t,1),0,if(lt(t,2),0.5,1)))':d=4:s=44100"
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", lavfi, path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func TestAWaveformShowsWhereAFileIsLoud(t *testing.T) {
	path := sound(t)
	for _, about := range []time.Duration{4 * time.Second, time.Second / 4, 0, time.Hour} {
		w, err := peaks.New(t.Context()).Of(t.Context(), path, about)
		if err != nil || (w.Duration-4*time.Second).Abs() > 20*time.Millisecond || len(w.Peaks) == 0 || len(w.Peaks) > 2*peaks.Columns {
			t.Fatalf("said to last %v: %v, %d bytes, %v", about, w.Duration, len(w.Peaks), err)
		}
		if about == time.Hour {
			continue // too few parts to look at
		}
		at := func(seconds float64) (low, high int) {
			low = 255
			i := int(seconds / 4 * float64(len(w.Peaks)/2))
			for _, level := range w.Peaks[2*(i-5) : 2*(i+6)] { // more than one wave of the tone
				low, high = min(low, int(level)), max(high, int(level))
			}
			return low, high
		}
		for seconds, swing := range map[float64]int{0.5: 0, 1.5: 63, 3: 127} {
			if low, high := at(seconds); abs(128-low-swing) > 8 || abs(high-128-swing) > 8 {
				t.Errorf("said to last %v: at %v s from %d to %d, want ±%d", about, seconds, low, high, swing)
			}
		}
	}
}

func abs(n int) int { return max(n, -n) }

func TestAFileIsDrawnOnceForManyAndAnewWhenItChanges(t *testing.T) {
	path, d := sound(t), peaks.New(t.Context())
	var all sync.WaitGroup
	var mu sync.Mutex
	var got []peaks.Wave
	for range 8 {
		all.Go(func() {
			w, err := d.Of(t.Context(), path, 4*time.Second)
			mu.Lock()
			defer mu.Unlock()
			if got = append(got, w); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, w := range got {
		if !slices.Equal(w.Peaks, got[0].Peaks) {
			t.Error("two waveforms of one file")
		}
	}
	if out, err := exec.Command("ffmpeg", "-y", "-v", "error", "-f", "lavfi", "-i", "anullsrc=d=2", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if w, err := d.Of(t.Context(), path, 2*time.Second); err != nil || slices.Max(w.Peaks) > 130 {
		t.Errorf("another file is drawn as the one before: %v", err)
	}
	if _, err := d.Of(t.Context(), path+".none", time.Second); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// held is a drawer whose drawings end when the test says so.
type held struct {
	begun atomic.Int32
	end   chan peaks.Wave
}

func (h *held) draw(string, time.Duration) (peaks.Wave, error) {
	h.begun.Add(1)
	return <-h.end, nil
}

func someFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mix.mp3")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A mix takes longer to draw than a page waits: it is drawn to its end, once, and kept.
func TestWhatTakesLongerThanAnybodyWaitsIsDrawnOnce(t *testing.T) {
	h := &held{end: make(chan peaks.Wave, 1)}
	path, d := someFile(t), peaks.NewWith(h.draw)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { _, err := d.Of(ctx, path, time.Hour); left <- err }()
		testkit.Eventually(t, "it is being drawn", func() bool { return h.begun.Load() > 0 })
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	h.end <- peaks.Wave{Duration: 2 * time.Hour, Peaks: []byte{1, 2}}
	for range 2 {
		if w, err := d.Of(t.Context(), path, time.Hour); err != nil || w.Duration != 2*time.Hour || h.begun.Load() != 1 {
			t.Fatalf("%+v, %v, drawn %d times", w, err, h.begun.Load())
		}
	}
}

// Two long ones take the room; what nobody waits for any more does not take its turn after.
func TestTwoAreDrawnAtATimeAndNoneThatNobodyWaitsFor(t *testing.T) {
	h := &held{end: make(chan peaks.Wave, 9)}
	d, ctx := peaks.NewWith(h.draw), t.Context()
	var all sync.WaitGroup
	for range 2 {
		path := someFile(t)
		all.Go(func() {
			if _, err := d.Of(ctx, path, time.Hour); err != nil {
				t.Error(err)
			}
		})
	}
	testkit.Eventually(t, "two are being drawn", func() bool { return h.begun.Load() == 2 })
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := d.Of(gone, someFile(t), time.Hour); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for range 3 {
		h.end <- peaks.Wave{}
	}
	all.Wait()
	if _, err := d.Of(ctx, someFile(t), time.Hour); err != nil || h.begun.Load() != 3 {
		t.Errorf("%v, %d were drawn", err, h.begun.Load())
	}
}
