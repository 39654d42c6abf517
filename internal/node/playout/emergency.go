package playout

import (
	"iter"
	"math"
	"math/cmplx"
	"os"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/sound/wav"
)

// The emergency loop: slow chords that swell and fade, 48 s, stereo.
const (
	emergencyRate    = 44100
	emergencySeconds = 48
	chordSeconds     = 6 // each chord sounds twice as long as this, overlapping the next
	// emergencyLevel brings the loop to about -20 LUFS.
	emergencyLevel = 0.082
)

// chords is a quiet progression in D, in semitones from A4 (440 Hz). Eight
// chords of six seconds make the loop; the last leads back into the first.
var chords = [8][4]float64{
	{-19, -12, -8, -3}, {-17, -10, -7, -3}, {-22, -15, -10, -5}, {-24, -12, -8, -5},
	{-19, -12, -7, -3}, {-17, -10, -5, -1}, {-22, -10, -7, -3}, {-24, -12, -8, -1},
}

// ensureEmergency writes the loop unless a file of its exact size is there.
func ensureEmergency(path string) error {
	const size = 44 + emergencyRate*emergencySeconds*4
	if info, err := os.Stat(path); err == nil && info.Size() == size {
		return nil
	}
	var samples []int16
	for _, v := range emergencyLoop() {
		samples = append(samples, wav.Quantize(v*emergencyLevel))
	}
	return file.WriteAtomic(path, wav.PCM16(emergencyRate, 2, samples), 0o600)
}

// emergencyLoop returns interleaved stereo samples. Every chord rises and falls
// with a raised cosine that wraps around the end, so the loop has no seam.
func emergencyLoop() []float64 {
	const frames = emergencyRate * emergencySeconds
	const span = 2 * chordSeconds * emergencyRate
	envelope := make([]float64, span)
	for n, w := range wave(1.0/span, span) {
		envelope[n] = 0.5 - 0.5*real(w)
	}
	out := make([]float64, 2*frames)
	for i, chord := range chords {
		for voice, semitone := range chord {
			hz := 440 * math.Pow(2, semitone/12)
			pan := 0.35 + 0.1*float64(voice)
			left, right := math.Sqrt(1-pan), math.Sqrt(pan)
			for n, w := range wave(hz/emergencyRate, span) {
				// The fundamental and a touch of its octave.
				s := envelope[n] * (imag(w) + 0.3*imag(w*w))
				at := (i*chordSeconds*emergencyRate + n) % frames
				out[2*at] += s * left
				out[2*at+1] += s * right
			}
		}
	}
	return out
}

// wave yields n points of the unit circle, each turned by a fraction of a full circle.
// It makes a sine with one multiplication per sample: math.Sin would make the first
// start of a station a second longer.
func wave(turn float64, n int) iter.Seq2[int, complex128] {
	return func(yield func(int, complex128) bool) {
		at, step := complex(1, 0), cmplx.Rect(1, 2*math.Pi*turn)
		for i := range n {
			if !yield(i, at) {
				return
			}
			at *= step
		}
	}
}
