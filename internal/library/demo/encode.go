package demo

import (
	"context"
	"fmt"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/synth"
)

// encode writes audio to path as an MP3 at the station's loudness, with tags.
// It decides as mastering does, but on samples in memory, which saves running
// three programs for each of many short files.
func encode(ctx context.Context, audio synth.Sound, c credit, path string, nice int) error {
	profile, err := mastering.Named(mastering.Station)
	if err != nil {
		return err
	}
	profile.MaxDepth, profile.Brief = 14, true // as of all that the station makes: see mastering.OwnJob
	samples := audio.Interleaved()
	meter := loudness.NewMeter(synth.Rate, loudness.Stereo)
	meter.Write(samples)
	source := profile.LevelsOf(meter.Result())
	plan, err := mastering.Decide(profile, source)
	if err != nil {
		return err
	}
	for range 4 {
		ceiling := plan.Ceiling
		if plan.Method == mastering.Linear {
			ceiling = 200 // never reached
		}
		limiter := loudness.NewLimiter(synth.Rate, 2, plan.Gain, ceiling)
		err := ffmpeg.EncodeMP3(ctx, path, ffmpeg.Encoding{Rate: synth.Rate, Kbps: 160, Tags: c.tags(), Nice: nice}, func(write func([]float32) error) error {
			if err := write(limiter.Process(samples)); err != nil {
				return err
			}
			return write(limiter.Flush())
		})
		if err != nil {
			return err
		}
		made, err := measure(ctx, profile, path, nice)
		if err != nil {
			return err
		}
		if airs, _ := mastering.Judge(profile, plan, made); airs {
			return nil
		}
		plan = mastering.Correct(profile, source, plan, made)
	}
	return fmt.Errorf("four attempts did not reach %.1f LUFS at %.1f dBTP or less", profile.Target, profile.MaxPeak)
}

// measure decodes a finished file and measures it.
func measure(ctx context.Context, profile mastering.Profile, path string, nice int) (mastering.Levels, error) {
	meter := loudness.NewMeter(synth.Rate, loudness.Stereo)
	err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: synth.Rate, Channels: 2, Nice: nice}, func(frames []float32) error {
		meter.Write(frames)
		return nil
	})
	return profile.LevelsOf(meter.Result()), err
}
