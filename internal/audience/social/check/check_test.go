package check_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
)

// What is found of a file is what was put into it.
func TestAFindingSaysWhatIsInTheFile(t *testing.T) {
	k := newKit(t)
	all := tune(30)
	for i := range all { // a loud stretch from 12 s to 22 s, after 2 s of silence
		if at := float64(i/2) / rate; at < 10 || at >= 20 {
			all[i] *= 0.3
		}
	}
	cover := k.write("cover.png", picture("png"))
	k.write("long.wav", pcm16(slices.Concat(make([]float32, 2*2*rate), all, make([]float32, 2*rate)), 2))
	path := k.write("long.mp3", k.from("long.wav", "long.mp3", "-i", cover, "-map", "0:a", "-map", "1:v", "-c:v", "png", "-disposition:v", "attached_pic", "-b:a", "192k"))
	last, calls := 0.0, 0
	found, err := check.File(t.Context(), path, check.Want{Shortest: time.Second, Longest: time.Minute, Music: true}, func(share float64) {
		if share < last || share > 1 {
			t.Errorf("progress %v after %v", share, last)
		}
		last, calls = share, calls+1
	})
	if err != nil {
		t.Fatal(err)
	}
	near := func(a, b, by time.Duration) bool { return (a - b).Abs() <= by }
	if !near(found.Duration, 33*time.Second, 60*time.Millisecond) || !near(found.Begin, 2*time.Second, 60*time.Millisecond) || !near(found.Trimmed(), 30*time.Second, 600*time.Millisecond) ||
		!near(found.LoudestAt, 10*time.Second, 600*time.Millisecond) {
		t.Errorf("%v long, sound from %v to %v, loudest at %v", found.Duration, found.Begin, found.End, found.LoudestAt)
	}
	if found.Codec != "mp3" || found.Container != "mp3" || found.Rate != rate || found.Channels != 2 || !found.HasCover || len(found.Notes) != 0 {
		t.Errorf("%+v", found)
	}
	if math.Abs(found.Integrated+16) > 4 || found.TruePeak > 0 || found.TruePeak < -12 || found.Silence > 0.1 || found.Clipped != 0 || found.Speech > 0.5 {
		t.Errorf("%.1f LUFS, %.1f dBTP, silence %.2f, clipped %.3f, speech %.2f", found.Integrated, found.TruePeak, found.Silence, found.Clipped, found.Speech)
	}
	if loud, quiet := slices.Max(found.Peaks[80:120]), slices.Max(found.Peaks[:50]); loud < 2.5*quiet || loud > 1 {
		t.Errorf("peaks of %.2f where it is loud and %.2f where it is not", loud, quiet)
	}
	if calls < 3 || last < 0.9 {
		t.Errorf("%d reports of progress, the last %v", calls, last)
	}
}

// The spectrum shows where a tone is: low at the start, high at the end.
func TestTheSpectrumIsAPictureOfTheSound(t *testing.T) {
	k := newKit(t)
	path := k.write("rise.wav", pcm16(each(6, 1, func(t float64, _ int) float64 {
		hz := 800.0
		if t > 3 {
			hz = 5000
		}
		return 0.5 * math.Sin(2*math.Pi*hz*t)
	}), 1))
	found, err := check.File(t.Context(), path, window(), nil)
	if err != nil {
		t.Fatal(err)
	}
	top := func(column int) int {
		powers := found.Spectrum.Power[column*found.Spectrum.Bands : (column+1)*found.Spectrum.Bands]
		return slices.Index(powers, slices.Max(powers))
	}
	// From 400 Hz on, bands are spaced by logarithms from 50 Hz to 16 kHz.
	band := func(hz float64) int { return int(48 * math.Log(hz/50) / math.Log(320)) }
	if a, b := top(20), top(100); math.Abs(float64(a-band(800))) > 1 || math.Abs(float64(b-band(5000))) > 1 {
		t.Errorf("800 Hz in band %d, 5 kHz in band %d", a, b)
	}
}

// What is nobody's fault is no refusal: it may be tried again.
func TestWhatIsNotTheFilesFaultIsNoRefusal(t *testing.T) {
	k := newKit(t)
	path := k.write("a.mp3", k.mp3())
	var r *refusal.Refusal
	if _, err := check.File(t.Context(), filepath.Join(t.TempDir(), "gone.mp3"), window(), nil); !errors.Is(err, os.ErrNotExist) || errors.As(err, &r) {
		t.Errorf("a missing file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := check.File(ctx, path, window(), nil); !errors.Is(err, context.Canceled) || errors.As(err, &r) {
		t.Errorf("a look that was called off: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	if _, err := check.File(ctx, path, window(), func(float64) { cancel() }); err != nil && (!errors.Is(err, context.Canceled) || errors.As(err, &r)) {
		t.Errorf("a look that was called off in its middle: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := check.File(t.Context(), path, window(), nil); err == nil || errors.As(err, &r) {
		t.Errorf("without ffmpeg: %v", err)
	}
}

// BenchmarkSong is a song of three minutes, as MP3.
func BenchmarkSong(b *testing.B) {
	dir := b.TempDir()
	source, path := filepath.Join(dir, "song.wav"), filepath.Join(dir, "song.mp3")
	if err := os.WriteFile(source, pcm16(tune(180), 2), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("ffmpeg", "-nostdin", "-v", "error", "-i", source, "-b:a", "192k", path).CombinedOutput(); err != nil { //nolint:gosec // test
		b.Fatalf("%v: %s", err, out)
	}
	for b.Loop() {
		if _, err := check.File(b.Context(), path, check.Want{Shortest: time.Second, Longest: 10 * time.Minute, Music: true}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
