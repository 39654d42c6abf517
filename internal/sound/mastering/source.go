package mastering

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

// source is a file as it was found.
type source struct {
	path     string // absolute
	stat     os.FileInfo
	probe    ffmpeg.Info
	tags     audiofile.Info
	duration time.Duration // by its headers, where they can be trusted; else 0
	rate     int           // Hz, of the mastered file
	sha256   string
	offset   float64 // direct current, of full scale; 0 if it needs no removing
}

const (
	shortest = 100 * time.Millisecond
	// missing is how much shorter than its headers say a file may be.
	missing = time.Second
)

// A sample rate outside these is a mistake in a header.
const (
	LowestRate  = 4000   // Hz, half of telephone audio's
	HighestRate = 768000 // Hz, of the finest converters
)

func (m *Master) open(ctx context.Context, path string) (*source, error) {
	s := &source{path: path}
	f, err := os.Open(path)
	if err != nil {
		return nil, plainer(err)
	}
	defer f.Close() //nolint:errcheck // only read
	if s.stat, err = f.Stat(); err != nil {
		return nil, err
	}
	if !s.stat.Mode().IsRegular() {
		return nil, refuse(NotAudio, "it is not a file")
	}
	info, err := audiofile.Read(f, s.stat.Size())
	var broken *audiofile.BrokenError
	var odd *audiofile.OddError
	switch {
	case errors.As(err, &broken):
		reason := Truncated
		if strings.Contains(broken.Reason, "no audio in it") {
			reason = NotAudio
		}
		return nil, refuse(reason, broken.Reason)
	case err != nil && !errors.As(err, &odd):
		return nil, err
	}
	s.tags = info
	if s.probe, err = ffmpeg.Probe(ctx, path); err != nil {
		return nil, unplayable(err)
	}
	switch {
	case odd == nil:
		s.duration = info.Duration
	case strings.HasPrefix(s.probe.Format, "mov,"), strings.HasPrefix(s.probe.Format, "matroska"):
		s.duration = s.probe.Duration // these store it; others guess by the bit rate
	}
	if d := max(s.duration, s.probe.Duration); d > m.opt.Longest {
		return nil, refuse(TooLong, "it is too long: %s; at most %s are allowed", d.Round(time.Second), m.opt.Longest)
	}
	if rate := s.probe.SampleRate; rate < LowestRate || rate > HighestRate {
		return nil, refuse(Damaged, "its sample rate is %d Hz: %d to %d can be played", rate, LowestRate, HighestRate)
	}
	s.rate = mp3Rate(s.probe.SampleRate)
	s.sha256, err = digest(ctx, f)
	return s, err
}

// mp3Rate returns the rate if MPEG-1 Layer III has it, else the one of its family.
func mp3Rate(rate int) int {
	switch {
	case rate == 32000, rate == 44100, rate == 48000:
		return rate
	case rate > 0 && rate%48000 == 0:
		return 48000
	}
	return 44100
}

func digest(ctx context.Context, f *os.File) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	h := sha256.New()
	for {
		n, err := io.CopyN(h, f, 8<<20)
		if errors.Is(err, io.EOF) || n == 0 {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
	}
}

// unchanged fails when the file is no longer the one that was opened.
func (s *source) unchanged() error {
	now, err := os.Stat(s.path)
	if err != nil || !os.SameFile(now, s.stat) || now.Size() != s.stat.Size() || !now.ModTime().Equal(s.stat.ModTime()) {
		return refuse(Changed, "it changed while it was being mastered")
	}
	return nil
}

// whole fails when less could be decoded than the headers promise.
func (s *source) whole(decoded, longest time.Duration) error {
	switch lost := s.duration - decoded; {
	case decoded == 0:
		return refuse(Damaged, "no audio can be decoded from it")
	case decoded < shortest:
		return refuse(TooShort, "it is too short: %s; at least %s are needed", decoded.Round(time.Millisecond), shortest)
	case decoded > longest:
		return refuse(TooLong, "it is too long: %s; at most %s are allowed", decoded.Round(time.Second), longest)
	case lost > missing && lost > s.duration/100:
		return refuse(Truncated, "truncated or damaged: %s of %s can be decoded", decoded.Round(time.Second/10), s.duration.Round(time.Second/10))
	}
	return nil
}

// unplayable turns a decoder's refusal into one of this package.
func unplayable(err error) error {
	var refused *ffmpeg.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	reason := NotAudio
	switch {
	case strings.HasPrefix(refused.Reason, "truncated"):
		reason = Truncated
	case strings.HasPrefix(refused.Reason, "not readable"), strings.Contains(refused.Reason, "crashed"):
		reason = Damaged
	}
	return refuse(reason, refused.Reason)
}

// plainer removes the path from an error: callers name it beside the error.
func plainer(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Op, path.Err)
	}
	return err
}

// abs makes a path absolute without touching links.
func abs(path string) (string, error) {
	if strings.IndexByte(path, 0) >= 0 {
		return "", refuse(NotAudio, "its name holds a NUL byte")
	}
	return filepath.Abs(path)
}
