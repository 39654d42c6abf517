package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// loudnorm is what one would use instead: ffmpeg's filter in two passes, the
// second told to stay linear, which it does where the peak fits.
func (b *bench) loudnorm(ctx context.Context, path string, linear map[string]bool) error {
	said, err := ffmpeg(ctx, b.o.nice, "-i", path, "-map", "0:a:0", "-af", "loudnorm=I=-14:TP=-1.5:LRA=20:print_format=json", "-f", "null", "-")
	if err != nil {
		return err
	}
	var found struct {
		I      string `json:"input_i"`
		TP     string `json:"input_tp"`
		LRA    string `json:"input_lra"`
		Thresh string `json:"input_thresh"`
		Offset string `json:"target_offset"`
		Type   string `json:"normalization_type"`
	}
	if err := last(said, &found); err != nil {
		return fmt.Errorf("loudnorm on %s: %w", path, err)
	}
	out := b.temp(path)
	defer func() { _ = os.Remove(out) }()
	said, err = ffmpeg(ctx, b.o.nice, "-i", path, "-map", "0:a:0", "-af", fmt.Sprintf(
		"loudnorm=I=-14:TP=-1.5:LRA=20:linear=true:measured_I=%s:measured_TP=%s:measured_LRA=%s:measured_thresh=%s:offset=%s:print_format=json",
		clamp(found.I, 0), clamp(found.TP, 99), found.LRA, clamp(found.Thresh, 0), clamp(found.Offset, 99)),
		"-ac", "2", "-ar", "44100", "-c:a", "libmp3lame", "-b:a", fmt.Sprint(b.o.kbps)+"k", "-f", "mp3", "-y", out)
	if err != nil {
		return err
	}
	if err := last(said, &found); err != nil {
		return fmt.Errorf("loudnorm on %s: %w", path, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	linear[path] = found.Type == "linear"
	return nil
}

// clamp keeps what the first pass said within what the second takes: a short
// file has a loudness of -inf.
func clamp(s string, high float64) string {
	const low = -99
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		v = low
	}
	return strconv.FormatFloat(min(max(v, low), high), 'f', 2, 64)
}

// transcode is the least that any mastering costs.
func (b *bench) transcode(ctx context.Context, path string) error {
	out := b.temp(path)
	defer func() { _ = os.Remove(out) }()
	_, err := ffmpeg(ctx, b.o.nice, "-i", path, "-map", "0:a:0", "-ac", "2", "-ar", "44100", "-c:a", "libmp3lame", "-b:a", fmt.Sprint(b.o.kbps)+"k", "-f", "mp3", "-y", out)
	return err
}

func (b *bench) temp(path string) string {
	return filepath.Join(b.dir, fmt.Sprintf("other-%x.mp3", sha256.Sum256([]byte(path))))
}

var (
	integratedLine = regexp.MustCompile(`(?m)^\s+I:\s+(-?[\d.]+) LUFS`)
	peakLine       = regexp.MustCompile(`(?m)^\s+Peak:\s+(-?[\d.]+) dBFS`)
)

// ebur128 is ffmpeg's meter, to a tenth.
func ebur128(ctx context.Context, nice int, path string) (lufs, dbtp float64, err error) {
	said, err := ffmpeg(ctx, nice, "-i", path, "-map", "0:a:0", "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-")
	if err != nil {
		return 0, 0, err
	}
	i, p := integratedLine.FindSubmatch(said), peakLine.FindSubmatch(said)
	if i == nil || p == nil {
		return -70, -70, nil // shorter than a gating block
	}
	lufs, _ = strconv.ParseFloat(string(i[1]), 64)
	dbtp, _ = strconv.ParseFloat(string(p[1]), 64)
	return lufs, dbtp, nil
}

// last decodes the last JSON object in an output.
func last(said []byte, into any) error {
	at := bytes.LastIndexByte(said, '{')
	end := bytes.LastIndexByte(said, '}')
	if at < 0 || end < at {
		return fmt.Errorf("no report in %q", said[max(0, len(said)-200):])
	}
	return json.Unmarshal(said[at:end+1], into)
}

// ffmpeg runs at the same niceness as our own children, and returns what it
// says on standard error.
func ffmpeg(ctx context.Context, nice int, args ...string) ([]byte, error) {
	var said bytes.Buffer
	exit, err := proc.Run(ctx, proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Args: append([]string{"-nostdin", "-hide_banner", "-nostats"}, args...), Stderr: &said, Nice: nice,
	}, nil)
	if err != nil {
		return nil, err
	}
	if ctx.Err() == nil && !exit.OK() {
		return nil, fmt.Errorf("ffmpeg %v: %s: %s", args, exit, said.Bytes())
	}
	return said.Bytes(), ctx.Err()
}
