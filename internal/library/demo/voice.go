package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// speak says a text offline and returns what espeak-ng writes. voice is one of
// its voices, "ar" or "en".
func speak(ctx context.Context, voice, text string) ([]byte, error) {
	speed := "135"
	if voice == "en" {
		speed = "150"
	}
	return proc.Output(ctx, proc.Spec{
		Name: "espeak-ng", Path: "espeak-ng", Nice: 10, Stdin: strings.NewReader(text),
		Args: []string{"-v", voice, "-s", speed, "-p", "38", "-g", "2", "-b", "1", "--stdin", "--stdout"},
	}, 16<<20)
}

// say speaks a text and makes the voice fit for air: silence trimmed, rumble
// out, evened out.
func say(ctx context.Context, voice, text string) ([]float32, error) {
	wav, err := speak(ctx, voice, text)
	if err != nil {
		return nil, err
	}
	mono, err := fromSpeech(wav)
	if err != nil {
		return nil, err
	}
	if len(mono) == 0 {
		return nil, fmt.Errorf("espeak-ng spoke nothing for %q", text)
	}
	highpass(mono, 110)
	compress(mono, 0.12, 3)
	return mono, nil
}

// sayAll speaks segments with 0.55 s of silence between, as the mission's
// bulletin has them.
func sayAll(ctx context.Context, voice string, segments []string) ([]float32, error) {
	var all []float32
	for i, text := range segments {
		mono, err := say(ctx, voice, text)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			all = append(all, make([]float32, samples(0.55))...)
		}
		all = append(all, mono...)
	}
	return all, nil
}
