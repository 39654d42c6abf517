package sound_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/podcast/sound"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func finisher(t *testing.T) (*sound.Finisher, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "making")
	f, err := sound.Open(sound.Options{Dir: dir, Profile: "-14", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return f, dir
}

// sounds writes a file with ffmpeg itself: a source of lavfi, and how it is encoded.
func sounds(t *testing.T, path, source string, args ...string) string {
	t.Helper()
	args = append([]string{"-v", "error", "-y", "-f", "lavfi", "-i", source}, args...)
	if out, err := exec.Command("ffmpeg", append(args, "file:"+path)...).CombinedOutput(); err != nil { //nolint:gosec // test
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// tone is 20 s of a tone at a loudness (LUFS).
func tone(level float64) string {
	return fmt.Sprintf("sine=440:duration=20:sample_rate=48000,aformat=channel_layouts=stereo,volume=%.2fdB", level+22.2) // by the meter: lavfi puts it at -18 dBFS, and 3 dB lower in stereo
}

func measure(t *testing.T, path string) *loudness.Measurement {
	t.Helper()
	meter := loudness.NewMeter(48000, loudness.Stereo)
	if err := ffmpeg.Decode(t.Context(), path, ffmpeg.Decoding{Rate: 48000, Channels: 2}, func(frames []float32) error {
		meter.Write(frames)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return meter.Result()
}

func whole() podcast.Tags {
	return podcast.Tags{
		Title: "سهرة الخميس = 7; #1 \\", Show: "سهرات أثير", Artist: "نور", Language: "ar", Number: 12,
		Date: time.Date(2026, 11, 29, 21, 0, 0, 0, time.UTC), Duration: 20 * time.Second,
		Chapters: []podcast.Chapter{
			{StartMS: 12_000, Title: "نسّم علينا الهوا", Artist: "فيروز"}, {StartMS: -40, Title: "البداية"}, {StartMS: 5000, Title: strings.Repeat("a long name ", 40)},
			{StartMS: 12_000, Title: "at the same place"}, {StartMS: 15_000, Title: " \x00"}, {StartMS: 20_001, Title: "behind the end"},
		},
	}
}

// What a listener gets is at the station's loudness, tells what it is, and how long it plays;
// a source that is fit is copied frame by frame.
func TestAnEpisodeIsLevelledAndTellsWhatItIs(t *testing.T) {
	f, making := finisher(t)
	dir := t.TempDir()
	cover := sounds(t, filepath.Join(dir, "cover.jpg"), "color=c=red:s=1400x1400:d=1", "-frames:v", "1", "-update", "1")
	for _, c := range []struct {
		name, source string
		args         []string
		copied       bool
	}{
		{"at the target", tone(-14), []string{"-c:a", "libmp3lame", "-b:a", "128k", "-f", "mp3"}, true},
		{"within 1 LU", tone(-14.8), []string{"-c:a", "libmp3lame", "-b:a", "128k", "-f", "mp3"}, true},
		{"too quiet", tone(-24), []string{"-c:a", "libmp3lame", "-b:a", "256k", "-f", "mp3"}, false},
		{"too loud", tone(-5), []string{"-c:a", "libmp3lame", "-b:a", "256k", "-f", "mp3"}, false},
		{"no MP3", tone(-14), []string{"-c:a", "flac", "-f", "flac"}, false},
		{"mono", "sine=300:duration=20:sample_rate=44100", []string{"-c:a", "libmp3lame", "-b:a", "64k", "-f", "mp3"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := sounds(t, filepath.Join(dir, "-i "+c.name+".part"), c.source, append(c.args, "-metadata", "title=leak", "-metadata", "comment=leak")...)
			to := filepath.Join(t.TempDir(), "%d =';#.part")
			tags := whole()
			tags.Cover = cover
			got, err := f.Finish(t.Context(), from, to, tags)
			if err != nil {
				t.Fatal(err)
			}
			heard := measure(t, to)
			if math.Abs(heard.Integrated+14) > 1 || heard.TruePeak > -1.5 {
				t.Errorf("at %.2f LUFS, %.2f dBTP", heard.Integrated, heard.TruePeak)
			}
			if (heard.Duration-20*time.Second).Abs() > 60*time.Millisecond || (got.Duration-heard.Duration).Abs() > 60*time.Millisecond {
				t.Errorf("says that it plays %s, and plays %s", got.Duration, heard.Duration)
			}
			data, err := os.ReadFile(to) //nolint:gosec // test
			if err != nil || int64(len(data)) != got.Bytes {
				t.Fatalf("%d bytes, told %d: %v", len(data), got.Bytes, err)
			}
			before, err := os.ReadFile(from) //nolint:gosec // test
			if err != nil {
				t.Fatal(err)
			}
			middle := before[len(before)/2 : len(before)/2+4000]
			if bytes.Contains(data, middle) != c.copied {
				t.Errorf("frames copied: %v, want %v, of a source at %.2f LUFS", !c.copied, c.copied, measure(t, from).Integrated)
			}
			checkTags(t, data, got.Duration)
			if probe, err := ffmpeg.Probe(t.Context(), to); err != nil || (probe.Duration-got.Duration).Abs() > 60*time.Millisecond || probe.Picture == "" {
				t.Errorf("another reader: %+v, %v", probe, err)
			}
			if left, err := os.ReadDir(making); err != nil || len(left) > 0 {
				t.Errorf("left in the making: %v, %v", left, err)
			}
		})
	}
}

func checkTags(t *testing.T, data []byte, length time.Duration) {
	t.Helper()
	tag, err := readID3(data)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"TIT2": "سهرة الخميس = 7; #1 \\ ", "TALB": "سهرات أثير", "TPE1": "نور", "TLAN": "ara", "TRCK": "12", "TYER": "2026", "TDAT": "2911", "TCON": "Podcast",
	} {
		if tag.texts[id] != want {
			t.Errorf("%s is %q, want %q", id, tag.texts[id], want)
		}
		delete(tag.texts, id)
	}
	if len(tag.texts) > 0 {
		t.Errorf("more than was asked for: %v", tag.texts)
	}
	if !bytes.HasPrefix(tag.picture, []byte("\xff\xd8\xff")) || !bytes.HasSuffix(tag.picture, []byte("\xff\xd9")) {
		t.Errorf("a picture of %d bytes", len(tag.picture))
	}
	end := uint32(length.Milliseconds()) //nolint:gosec // 20 s
	want := []chapter{{"البداية", 0, 5000}, {strings.TrimSpace(strings.Repeat("a long name ", 40)), 5000, 12_000}, {"فيروز – نسّم علينا الهوا", 12_000, end}}
	if n := len(tag.chapters); n > 0 && max(tag.chapters[n-1].end, end)-min(tag.chapters[n-1].end, end) < 60 {
		tag.chapters[n-1].end = end // it was measured before the header was written
	}
	if !slices.Equal(tag.chapters, want) {
		t.Errorf("chapters %+v, want %+v", tag.chapters, want)
	}
	if tag.contents != len(want) {
		t.Errorf("a table of contents with %d chapters", tag.contents)
	}
}

// Nothing that the source says of itself reaches listeners, wherever it stands.
func TestNothingOfTheSourceLeaks(t *testing.T) {
	f, _ := finisher(t)
	dir := t.TempDir()
	from := sounds(t, filepath.Join(dir, "a.mp3"), tone(-14), "-c:a", "libmp3lame", "-b:a", "128k", "-metadata", "title=SECRET", "-metadata", "comment=SECRET",
		"-metadata", "id3v2_priv.x=SECRET", "-metadata", "TXXX=SECRET", "-write_id3v1", "1")
	data, err := os.ReadFile(from) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	ape := apeTag("Comment", "SECRET by APE")
	v1 := data[len(data)-128:]
	lyrics := []byte("LYRICSBEGININD0000200LYR00006SECRET")
	lyrics = fmt.Appendf(lyrics, "%06dLYRICS200", len(lyrics))
	data = slices.Concat(data[:len(data)-128], ape, lyrics, v1)
	if !bytes.HasPrefix(v1, []byte("TAG")) || bytes.Count(data, []byte("SECRET")) < 4 {
		t.Fatal("the source tells nothing")
	}
	if err := os.WriteFile(from, data, 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "b.mp3")
	if _, err := f.Finish(t.Context(), from, to, podcast.Tags{Title: "one", Show: "two"}); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(to) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range []string{"SECRET", "S\x00E\x00C\x00R", "APETAGEX", dir} {
		if bytes.Contains(made, []byte(leak)) {
			t.Errorf("%q leaks", leak)
		}
	}
	tag, err := readID3(made)
	if err != nil || tag.texts["TIT2"] != "one" || tag.texts["TPE1"] != "two" || tag.picture != nil || tag.contents != 0 {
		t.Errorf("%+v, %v", tag, err)
	}
}

// apeTag is an APEv2 tag of one item, with its footer alone.
func apeTag(name, value string) []byte {
	le := func(n int) []byte { return []byte{byte(n), byte(n >> 8), 0, 0} }
	item := slices.Concat(le(len(value)), le(0), []byte(name), []byte{0}, []byte(value))
	return slices.Concat(item, []byte("APETAGEX"), []byte{0xd0, 7, 0, 0}, le(len(item)+32), le(1), le(0), make([]byte, 8))
}

// What no trying again mends is told from what may pass, and nothing is left behind.
func TestASoundThatCannotBeFinishedSaysWhy(t *testing.T) {
	f, making := finisher(t)
	dir := t.TempDir()
	silent := sounds(t, filepath.Join(dir, "silent.mp3"), "anullsrc=d=5", "-c:a", "libmp3lame")
	text := filepath.Join(dir, "text.mp3")
	if err := os.WriteFile(text, []byte(strings.Repeat("no sound\n", 900)), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{silent: "it is silent", text: "not an audio file"} {
		to := filepath.Join(dir, "out.mp3")
		_, err := f.Finish(t.Context(), from, to, whole())
		if !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", filepath.Base(from), err)
		}
		if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s left a file: %v", filepath.Base(from), err)
		}
	}
	_, err := f.Finish(t.Context(), filepath.Join(dir, "gone.mp3"), filepath.Join(dir, "out.mp3"), whole())
	if err == nil || errors.Is(err, station.ErrInvalid) {
		t.Errorf("a file that is gone: %v", err)
	}
	there := filepath.Join(dir, "there.mp3")
	if err := os.WriteFile(there, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	loud := sounds(t, filepath.Join(dir, "loud.mp3"), tone(-14), "-c:a", "libmp3lame")
	if _, err := f.Finish(t.Context(), loud, there, whole()); err == nil {
		t.Error("a file that was there is written over")
	}
	if left, err := os.ReadDir(making); err != nil || len(left) > 0 {
		t.Errorf("left in the making: %v, %v", left, err)
	}
}

// It ends with its context, in the midst of an endless source, and no program is left.
func TestFinishingEndsWithItsContext(t *testing.T) {
	f, making := finisher(t)
	dir := t.TempDir()
	from := sounds(t, filepath.Join(dir, "hours.mp3"), "sine=440:duration=60:sample_rate=48000", "-c:a", "libmp3lame", "-b:a", "32k", "-write_xing", "0", "-id3v2_version", "0")
	minute, err := os.ReadFile(from) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(from, bytes.Repeat(minute, 240), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "out.mp3")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := f.Finish(ctx, from, to, whole())
		ended <- err
	}()
	var running []int
	testkit.Eventually(t, "a program reads it", func() bool {
		source, err := filepath.Glob(filepath.Join(making, "*", "source.mp3"))
		if err != nil || len(source) == 0 {
			return false
		}
		running = proc.Find("ffmpeg", "file:"+source[0])
		return len(running) > 0
	})
	cancel()
	if err := testkit.Receive(t, "its end", ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, pid := range running {
		if proc.Arguments(pid) != nil {
			t.Errorf("process %d is left", pid)
		}
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file is left: %v", err)
	}
	if left, err := os.ReadDir(making); err != nil || len(left) > 0 {
		t.Errorf("left in the making: %v, %v", left, err)
	}
}

// What a killed run left is removed.
func TestOpeningEmptiesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "making")
	if err := os.MkdirAll(filepath.Join(dir, "episode-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := sound.Open(sound.Options{Dir: dir, Profile: "-14", Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := sound.Open(sound.Options{Dir: dir, Profile: "-15", Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, station.ErrInvalid) {
		t.Error(err)
	}
}
