package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/sound/speech"
	"github.com/athir-radio/athir/internal/sound/synth"
	"github.com/athir-radio/athir/internal/sound/wav"
)

// say speaks a text offline and makes the voice fit for air: rumble out, evened
// out. voice is one of espeak-ng's, "ar" or "en".
func say(ctx context.Context, voice, text string) (synth.Sound, error) {
	// Slower than the station's own: these are read, not announced.
	percent := -32
	if voice == "en" {
		percent = -25
	}
	e, err := speech.NewEspeak(voice, percent)
	if err != nil {
		return synth.Sound{}, err
	}
	booth, err := speech.New(speech.Options{Steps: []speech.Step{{Engine: e, Limit: time.Minute}}})
	if err != nil {
		return synth.Sound{}, err
	}
	clip, err := booth.Say(ctx, text)
	if err != nil {
		return synth.Sound{}, err
	}
	spoken, err := wav.Read(clip.WAV)
	if err != nil {
		return synth.Sound{}, fmt.Errorf("read the voice: %w", err)
	}
	out := synth.Planes(synth.Filter(spoken.Samples, synth.HighPass, synth.Flat(110), 0.71))
	synth.Press{Threshold: -18, Ratio: 3, Attack: 0.005, Release: 0.12}.On(out)
	out.Normalize(0.64) // as loud as a mono voice of 0.9 in the middle
	return out, nil
}

// sayAll speaks segments with 0.55 s of silence between, as the mission's
// bulletin has them.
func sayAll(ctx context.Context, voice string, segments []string) (synth.Sound, error) {
	var all synth.Sound
	for i, text := range segments {
		said, err := say(ctx, voice, text)
		if err != nil {
			return synth.Sound{}, err
		}
		gap := make([]float32, synth.Frames(0.55))
		for side := range all {
			if i > 0 {
				all[side] = append(all[side], gap...)
			}
			all[side] = append(all[side], said[side]...)
		}
	}
	return all, nil
}
