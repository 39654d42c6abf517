package mastering_test

import (
	"errors"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/mastering"
)

// The gain from the start of a steady file is that of the whole; strokes get no more than
// the limiter's depth; a silent start is said to be one.
func TestPreviewGivesTheGainFromTheStart(t *testing.T) {
	dir := t.TempDir()
	m := mastering.New(mastering.Options{})
	steady := sound(t, filepath.Join(dir, "steady.flac"), music(8, 0.02))
	part, err := m.Preview(t.Context(), steady, station(t), 4*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := m.Do(t.Context(), mastering.Job{In: steady, Out: filepath.Join(dir, "x.mp3"), Profile: station(t), Measure: true}, nil)
	if err != nil || math.Abs(part.Gain-whole.Gain) > 0.3 || part.Heard != 4*time.Second {
		t.Errorf("%+v, the whole takes %.2f dB, %v", part, whole.Gain, err)
	}
	strokes := sound(t, filepath.Join(dir, "strokes.wav"), "aevalsrc='0.9*exp(-150*mod(t,0.5))*sin(2*PI*180*t)':d=4:s=44100")
	if part, err = m.Preview(t.Context(), strokes, station(t), 30*time.Second); err != nil || part.Gain > -1.5+8-part.TruePeak || part.Gain < 5-part.TruePeak {
		t.Errorf("strokes: %+v, %v", part, err)
	}
	silent := sound(t, filepath.Join(dir, "silent.wav"), "anullsrc=d=2")
	var refused *mastering.RefusedError
	if _, err = m.Preview(t.Context(), silent, station(t), time.Second); !errors.As(err, &refused) || refused.Reason != mastering.Silent {
		t.Errorf("silence: %v", err)
	}
}
