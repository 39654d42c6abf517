package mastering

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
)

// Preview is what the start of a file tells of it.
type Preview struct {
	// Gain (dB) brings it to the profile's loudness, as far as the start is like the rest.
	// It takes a limiter at the profile's peak no deeper than MaxDepth; there must be one
	// after it, because what comes later may be louder.
	Gain       float64
	Integrated float64 // LUFS, of the start
	TruePeak   float64 // dBTP, of the start
	Heard      time.Duration
}

// Preview measures the first part of a file, so that it can air by its own gain before it
// was mastered: 30 s take a third of a second of one core. Errors are those of Do; a
// start that is silent or damaged is a *RefusedError, which says nothing of the rest.
func (m *Master) Preview(ctx context.Context, path string, p Profile, first time.Duration) (Preview, error) {
	const rate = 44100
	meter := loudness.NewMeter(rate, loudness.Stereo)
	err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: rate, Channels: 2, First: first, Nice: m.opt.Nice}, func(frames []float32) error {
		meter.Write(frames)
		return nil
	})
	if err != nil {
		return Preview{}, unplayable(err)
	}
	found := meter.Result()
	if found.Duration == 0 {
		return Preview{}, refuse(Damaged, "no audio can be decoded from it")
	}
	levels := p.LevelsOf(found)
	plan, err := Decide(p, levels)
	if err != nil {
		return Preview{}, err
	}
	return Preview{Gain: min(plan.Gain, p.MaxPeak+p.MaxDepth-levels.Sustained), Integrated: found.Integrated, TruePeak: found.TruePeak, Heard: found.Duration}, nil
}
