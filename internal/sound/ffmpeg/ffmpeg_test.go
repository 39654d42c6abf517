package ffmpeg_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// tone writes 2.5 s of a tone to path with ffmpeg itself.
func tone(t *testing.T, path string, args ...string) {
	t.Helper()
	args = append([]string{"-v", "error", "-y", "-f", "lavfi", "-i", "sine=440:duration=2.5:sample_rate=44100"}, args...)
	if out, err := exec.Command("ffmpeg", append(args, "file:"+path)...).CombinedOutput(); err != nil { //nolint:gosec // test
		t.Fatalf("%v: %s", err, out)
	}
}

func TestProbeAndLengthTakeAnyFileName(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "plain.mp3")
	tone(t, first, "-metadata", "title=أغنية", "-metadata", "artist=فيروز")
	data, err := os.ReadFile(first) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // so that a relative name can begin with a dash
	for _, name := range []string{
		"-i.mp3", "http:::x.mp3", "concat:a|b.mp3", "100%d %03d%%.mp3", "two\nlines 'and' \"quotes\".mp3", "أثير.mp3", "caf\xe9.mp3",
	} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := ffmpeg.Probe(t.Context(), name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if info.Codec != "mp3" || info.Format != "mp3" || info.Channels != 1 || info.SampleRate != 44100 ||
			info.Tags["title"] != "أغنية" || info.Tags["artist"] != "فيروز" {
			t.Errorf("%q: %+v", name, info)
		}
		length, err := ffmpeg.Length(t.Context(), name)
		if err != nil || (length-2500*time.Millisecond).Abs() > 5*time.Millisecond {
			t.Errorf("%q: length %v, %v", name, length, err)
		}
	}
}

func TestRefusalsSayWhyInPlainWords(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.m4a")
	tone(t, whole)
	data, err := os.ReadFile(whole) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	video := filepath.Join(dir, "video.mp4")
	tone(t, video, "-f", "lavfi", "-i", "color=c=red:s=64x64:d=1", "-map", "1:v")
	silent, err := os.ReadFile(video) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, content, want string }{
		{"text.mp3", strings.Repeat("this is no music\n", 400), "not an audio file"},
		{"empty.mp3", "", "not an audio file"},
		{"cut.m4a", string(data[:len(data)/2]), "index (moov) is missing"},
		{"silent.m4a", string(silent), "no audio in it"},
		// A playlist by another name must reach neither files nor hosts.
		{"list.mp3", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:1/x.ts\n#EXT-X-ENDLIST\n", "not an audio file"},
		{"concat.mp3", "ffconcat version 1.0\nfile " + whole + "\n", "not an audio file"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ffmpeg.Probe(t.Context(), path)
		var refused *ffmpeg.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if length, err := ffmpeg.Length(t.Context(), path); !errors.As(err, &refused) {
			t.Errorf("%s has length %v, %v", c.name, length, err)
		}
	}
	_, err = ffmpeg.Probe(t.Context(), filepath.Join(dir, "gone.mp3"))
	if err == nil || !strings.HasSuffix(err.Error(), "it is gone") {
		t.Errorf("a missing file: %v", err)
	}
}

// A file that never ends must not hold a worker, and is nobody's fault.
func TestProbeEndsWithItsContext(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "endless.mp3")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := ffmpeg.Probe(ctx, fifo)
	var refused *ffmpeg.RefusedError
	if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}
