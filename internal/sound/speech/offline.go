package speech

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// Espeak is the offline voice that is always there: small, quick and robotic.
// It drops vowels that are not written.
type Espeak struct {
	voice string
	speed int
}

var espeakVoice = regexp.MustCompile(`^[a-z]{2,3}(-[a-z0-9]{1,8})*$`)

// NewEspeak makes one of espeak-ng's voices speak, "ar" or "en", faster or
// slower than its natural rate by so many percent.
func NewEspeak(voice string, percent int) (*Espeak, error) {
	if !espeakVoice.MatchString(voice) {
		return nil, fmt.Errorf("voice %q: must be a language of espeak-ng, such as 'ar'", voice)
	}
	if err := checkRate(percent); err != nil {
		return nil, err
	}
	const natural = 200 // its "words a minute" are English ones: some six Arabic syllables a second, as news is read
	return &Espeak{voice: voice, speed: natural * (100 + percent) / 100}, nil
}

func checkRate(percent int) error {
	if percent < -50 || percent > 100 {
		return fmt.Errorf("rate %+d %%: must be from -50 to +100", percent)
	}
	return nil
}

// Name is "espeak-ng:ar".
func (e *Espeak) Name() string { return "espeak-ng:" + e.voice }

// Speak returns a WAV file.
func (e *Espeak) Speak(ctx context.Context, text string) ([]byte, error) {
	return proc.Output(ctx, proc.Spec{
		Name: "espeak-ng", Path: "espeak-ng", Nice: 10, Stdin: strings.NewReader(shaddaFirst(text) + "\n"),
		Args: []string{"-v", e.voice, "-s", fmt.Sprint(e.speed), "-p", "40", "-b", "1", "--stdin", "--stdout"},
	}, mostSound)
}

// shaddaFirst puts a doubling mark before the vowel it stands with. Unicode's
// normal order is the other way round, and in that order espeak-ng 1.51 loses
// the vowel: اللَّيْلِ becomes "alllyl".
func shaddaFirst(text string) string {
	const shadda = 'ّ'
	letters := []rune(text)
	for i := 1; i < len(letters); i++ {
		if v := letters[i-1]; letters[i] == shadda && v >= 'ً' && v <= 'ِ' {
			letters[i-1], letters[i] = shadda, v
		}
	}
	return string(letters)
}

// Piper is a neural voice that runs on this machine if the operator has installed the
// program and a model. Both versions work: 1.2 and the later one in Python.
type Piper struct {
	program, model string
	scale          string // of lengths: below 1 is faster
}

// NewPiper makes a model speak. program is "piper" when empty.
func NewPiper(program, model string, percent int) (*Piper, error) {
	if model == "" {
		return nil, errors.New("piper: no model is set")
	}
	if err := checkRate(percent); err != nil {
		return nil, err
	}
	if program == "" {
		program = "piper"
	}
	abs, err := filepath.Abs(model) // so that no name reads as an option
	if err != nil {
		return nil, fmt.Errorf("piper: %w", err)
	}
	return &Piper{program, abs, fmt.Sprintf("%.3f", 100/float64(100+percent))}, nil
}

// Name is "piper:" and the model's file name without its ending.
func (p *Piper) Name() string {
	return "piper:" + strings.TrimSuffix(filepath.Base(p.model), ".onnx")
}

// Speak returns a WAV file.
func (p *Piper) Speak(ctx context.Context, text string) ([]byte, error) {
	return proc.Output(ctx, proc.Spec{
		Name: "piper", Path: p.program, Nice: 10, Stdin: strings.NewReader(text + "\n"),
		Args: []string{"--model", p.model, "--length_scale", p.scale, "--output_file", "-"},
	}, mostSound)
}
