package demo

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// Every generated file comes out at this loudness, within half a unit.
const (
	targetLUFS = -14.0
	peakDBTP   = -1.5
	tolerance  = 0.5
	// referenceGain is the ReplayGain 2.0 of a file at the target: its reference is -18 LUFS.
	referenceGain = -18 - targetLUFS
)

var (
	integratedLine = regexp.MustCompile(`(?m)^\s+I:\s+(-?[\d.]+|nan) LUFS`)
	peakLine       = regexp.MustCompile(`(?m)^\s+Peak:\s+(-?[\d.]+|-inf|nan) dBFS`)
)

// encode writes audio as an MP3 with tags. The gain is measured, linear, and
// the same from first sample to last; a limiter behind it takes only the peaks
// that would not fit. The *finished* file is measured, and made again with a
// corrected gain until it is right.
func encode(ctx context.Context, p pcm, tags credit, path string) error {
	raw := p.bytes()
	loud, peak, err := measure(ctx, raw)
	if err != nil {
		return err
	}
	gain, ceiling := targetLUFS-loud, peakDBTP-1
	// What the limiter takes off the loudness, guessed: a good guess saves
	// encoding twice.
	gain += min(0.28*max(peak+gain-ceiling, 0), 0.9)
	for range 6 {
		if err := writeMP3(ctx, raw, gain, ceiling, tags, path); err != nil {
			return err
		}
		if loud, peak, err = measure(ctx, nil, "-i", path); err != nil {
			return err
		}
		if math.Abs(loud-targetLUFS) <= tolerance && peak <= peakDBTP {
			return nil
		}
		gain += targetLUFS - loud
		ceiling -= max(0, peak-peakDBTP)
	}
	return fmt.Errorf("level: it stays at %.1f LUFS, %.1f dBTP", loud, peak)
}

func writeMP3(ctx context.Context, raw []byte, gain, ceiling float64, tags credit, path string) error {
	args := []string{"-nostdin", "-v", "error", "-y"}
	args = append(args, rawInput()...)
	args = append(args,
		"-af", fmt.Sprintf("volume=%.2fdB,alimiter=limit=%.4f:attack=2:release=40:level=false", gain, decibels(ceiling)),
		"-c:a", "libmp3lame", "-b:a", "160k", "-compression_level", "7", "-id3v2_version", "3", "-threads", "1")
	for _, tag := range append(tags.tags(), [2]string{"REPLAYGAIN_TRACK_GAIN", fmt.Sprintf("%.2f dB", referenceGain)}) {
		args = append(args, "-metadata", tag[0]+"="+tag[1])
	}
	_, err := proc.Output(ctx, proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Nice: 10, Stdin: bytes.NewReader(raw),
		Args: append(args, "-f", "mp3", path),
	}, 1<<10)
	return err
}

// measure returns the integrated loudness (EBU R128) and the true peak, of raw
// audio or of a file given by its input arguments.
func measure(ctx context.Context, raw []byte, input ...string) (lufs, dbtp float64, err error) {
	if raw != nil {
		input = rawInput()
	}
	args := append([]string{"-nostdin", "-hide_banner", "-nostats"}, input...)
	var said bytes.Buffer
	exit, err := proc.Run(ctx, proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Nice: 10, Stdin: bytes.NewReader(raw), Stderr: &said,
		Args: append(args, "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-"),
	}, nil)
	switch {
	case err != nil:
		return 0, 0, err
	case ctx.Err() != nil:
		return 0, 0, context.Cause(ctx)
	case !exit.OK():
		return 0, 0, fmt.Errorf("measure loudness: %s", exit)
	}
	i, p := integratedLine.FindSubmatch(said.Bytes()), peakLine.FindSubmatch(said.Bytes())
	if i == nil || p == nil {
		return 0, 0, fmt.Errorf("measure loudness: ffmpeg printed no summary")
	}
	lufs, _ = strconv.ParseFloat(string(i[1]), 64)
	dbtp, _ = strconv.ParseFloat(string(p[1]), 64)
	if math.IsNaN(lufs) || lufs <= -70 {
		return 0, 0, fmt.Errorf("measure loudness: silent or shorter than 400 ms")
	}
	return lufs, dbtp, nil
}

func rawInput() []string {
	return []string{"-f", "f32le", "-ar", strconv.Itoa(rate), "-ac", "2", "-i", "pipe:0"}
}

// decibels is a level in dB as a linear factor.
func decibels(db float64) float64 { return math.Pow(10, db/20) }
