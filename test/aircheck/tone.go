// Package aircheck reads from captured audio what was on the air: which track
// when, how long neighbours overlapped, where there was silence, and where it
// clicked. For that, tests play tone-coded tracks: each is one steady sine whose
// frequency is its number.
//
// It judges nothing: tests do.
package aircheck

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/wav"
)

const (
	// MaxID is the highest track number of the coarse scale.
	MaxID = 47

	// ramp is the rise and fall at the ends of a track, so that a click heard
	// later was not in the file.
	ramp = 4 * time.Millisecond
)

// Frequency is the tone of a track of the coarse scale, in Hz: 600 for track 0,
// then every 150.
func Frequency(id int) float64 { return Coarse.Frequency(id) }

// Track is a tone-coded track to make. Its wave begins at its peak: tones of the
// coarse scale turn by whole halves in a frame of the engine, and a cut between
// two frames would otherwise meet each of them at zero, where it makes no click.
type Track struct {
	ID       int
	Scale    Scale
	Duration time.Duration
	// Level is the amplitude in dBFS; -12 when zero.
	Level float64
	// Title, Artist and Album are written by WriteMP3 only.
	Title, Artist, Album string
}

const trackRate = 44100

// WriteWAV writes the track as 16-bit stereo WAV at 44.1 kHz.
func WriteWAV(path string, t Track) error {
	if t.ID < 0 || t.ID > t.Scale.MaxID() {
		return fmt.Errorf("tone-coded track %d: numbers go from 0 to %d", t.ID, t.Scale.MaxID())
	}
	return os.WriteFile(path, wav.PCM16(trackRate, 2, t.samples()), 0o600)
}

// samples is the track in interleaved stereo.
//
//go:norace
func (t Track) samples() []int16 {
	level := t.Level
	if level == 0 {
		level = -12
	}
	amplitude := math.Pow(10, level/20)
	n := int(t.Duration.Seconds() * trackRate)
	edge := int(ramp.Seconds() * trackRate)
	samples := make([]int16, 0, 2*n)
	for i := range n {
		v := amplitude * math.Cos(2*math.Pi*t.Scale.Frequency(t.ID)*float64(i)/trackRate)
		if near := min(i, n-1-i); near < edge {
			v *= 0.5 - 0.5*math.Cos(math.Pi*float64(near)/float64(edge))
		}
		s := wav.Quantize(v)
		samples = append(samples, s, s)
	}
	return samples
}

// WriteMP3 writes the track as MP3, 192 kbit/s, with its tags, through ffmpeg.
// An MP3 begins with some 25 ms of the encoder's padding.
func WriteMP3(ctx context.Context, path string, t Track) error {
	source := path + ".wav"
	if err := WriteWAV(source, t); err != nil {
		return err
	}
	defer func() { _ = os.Remove(source) }()
	_, err := proc.Output(ctx, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
		"-v", "error", "-y", "-i", source, "-b:a", "192k",
		"-metadata", "title=" + t.Title, "-metadata", "artist=" + t.Artist, "-metadata", "album=" + t.Album, path,
	}}, 64<<10)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return nil
}
