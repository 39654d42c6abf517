package ffmpeg_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

// A decoder goes on after what it cannot decode: who needs a whole file must be able to
// count that.
func TestADecodersComplaintsAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.flac")
	tone(t, path)
	data, err := os.ReadFile(path) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	decode := func() ffmpeg.Complaints {
		var c ffmpeg.Complaints
		d := ffmpeg.Decoding{Rate: 44100, Channels: 2, Complaints: &c}
		if err := ffmpeg.Decode(t.Context(), path, d, func([]float32) error { return nil }); err != nil {
			t.Error(err)
		}
		return c
	}
	if c := decode(); c.Lines != 0 || c.First != "" {
		t.Errorf("of a whole file: %+v", c)
	}
	for at := len(data) / 4; at < len(data)*3/4; at += 3000 {
		copy(data[at:], strings.Repeat("\x5a", 40))
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := decode(); c.Lines < 3 || !strings.HasPrefix(c.First, "[flac] ") {
		t.Errorf("of a damaged one: %+v", c)
	}
}

func TestComplaintsAreBounded(t *testing.T) {
	var c ffmpeg.Complaints
	for range 1000 {
		if n, err := c.Write([]byte(strings.Repeat("x", 999) + "\n")); n != 1000 || err != nil {
			t.Fatal(n, err)
		}
	}
	if c.Lines != 1000 || len(c.First) != 200 {
		t.Errorf("%d lines, first of %d bytes", c.Lines, len(c.First))
	}
}

// Whatever a file claims, the program that reads it cannot make the machine short of memory.
func TestALookAtAFileIsBoundedInMemory(t *testing.T) {
	dir := t.TempDir()
	testkit.Executable(t, filepath.Join(dir, "ffprobe"), []byte(`#!/bin/sh
while [ "$(ulimit -d)" = unlimited ]; do :; done # it is set once the program runs
echo "bounded to $(ulimit -d)" >&2
exit 1
`))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	_, err := ffmpeg.Probe(t.Context(), filepath.Join(dir, "any.mp3"))
	var refused *ffmpeg.RefusedError
	if !errors.As(err, &refused) || refused.Reason != "not readable: bounded to 1048576" { // KiB
		t.Error(err)
	}
}

// Video is told from pictures, and a video without sound from what is none.
func TestVideoAndTracksAreTold(t *testing.T) {
	dir := t.TempDir()
	film := []string{"-f", "lavfi", "-i", "testsrc=d=1:s=64x64:r=5"}
	with, mute, two := filepath.Join(dir, "with.mp4"), filepath.Join(dir, "mute.mp4"), filepath.Join(dir, "two.m4a")
	tone(t, with, append(film, "-map", "0:a", "-map", "1:v")...)
	tone(t, mute, append(film, "-map", "1:v")...)
	tone(t, two, "-map", "0:a", "-map", "0:a")
	if info, err := ffmpeg.Probe(t.Context(), with); err != nil || !info.Video || info.Tracks != 1 {
		t.Errorf("%+v, %v", info, err)
	}
	if info, err := ffmpeg.Probe(t.Context(), two); err != nil || info.Video || info.Tracks != 2 {
		t.Errorf("%+v, %v", info, err)
	}
	var refused *ffmpeg.RefusedError
	if _, err := ffmpeg.Probe(t.Context(), mute); !errors.As(err, &refused) || refused.Reason != ffmpeg.NoSound {
		t.Error(err)
	}
}
