// Package speech turns text into a voice. A Booth tries its engines in order,
// each within its own time, and checks each result: it must decode, not be silent, and
// last about as long as its text takes to say. The result names the voice that spoke.
//
// It writes no files, knows nothing of bulletins or imaging, and never lets a
// text become an option, a command or markup.
package speech

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Engine is one way to speak.
type Engine interface {
	// Name says who speaks, as it is recorded with an asset: "edge:ar-EG-SalmaNeural".
	Name() string
	// Speak returns an audio file in WAV, MP3 or Ogg. The text has been through
	// clean. It returns soon after ctx ends.
	Speak(ctx context.Context, text string) ([]byte, error)
}

// Step is an engine and how long it may take over one text.
type Step struct {
	Engine Engine
	Limit  time.Duration
}

// Options make a Booth.
type Options struct {
	// Steps in the order they are tried. The last must always be available: it is
	// never skipped after a failure.
	Steps []Step
	// Rest is how long an engine is skipped after it failed, so that a station
	// without network does not wait for it at each text; 5 minutes when zero.
	Rest time.Duration
	Log  *slog.Logger
}

// Clip is what was spoken.
type Clip struct {
	WAV      []byte // 16 bit, mono, at Rate, trimmed to the voice; nil when Err is set
	Duration time.Duration
	Voice    string // the engine's name
	Err      error  // why no engine spoke it
}

// ErrText is the kind of error for a text that cannot be spoken by any engine.
var ErrText = errors.New("text cannot be spoken")

// Booth speaks. It is safe for concurrent use.
type Booth struct {
	steps []Step
	rest  time.Duration
	log   *slog.Logger
	now   func() time.Time

	mu    sync.Mutex
	tired map[string]time.Time // engine to the end of its rest
}

// New makes a Booth; it needs at least one step.
func New(o Options) (*Booth, error) {
	if len(o.Steps) == 0 {
		return nil, errors.New("speech: no engine is set")
	}
	b := &Booth{steps: o.Steps, rest: o.Rest, log: o.Log, now: time.Now, tired: map[string]time.Time{}}
	if b.rest == 0 {
		b.rest = 5 * time.Minute
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	return b, nil
}

// Say speaks one text.
func (b *Booth) Say(ctx context.Context, text string) (Clip, error) {
	c := b.SayAll(ctx, []string{text})[0]
	return c, c.Err
}

// SayAll speaks texts that belong together, one clip each, in one voice if one engine
// can say them all: when an engine fails at a text, the next one speaks all of them.
// Texts that the last engine cannot speak keep the voice of an earlier one.
func (b *Booth) SayAll(ctx context.Context, texts []string) []Clip {
	clips, cleaned := make([]Clip, len(texts)), make([]string, len(texts))
	var fit []int // texts that can be spoken
	for i, text := range texts {
		if cleaned[i], clips[i].Err = clean(text); clips[i].Err == nil {
			fit = append(fit, i)
		}
	}
	for s, step := range b.steps {
		last := s == len(b.steps)-1
		if len(fit) == 0 || ctx.Err() != nil || !last && b.resting(step.Engine) {
			continue
		}
		if b.pass(ctx, step, fit, cleaned, clips, last) {
			break
		}
	}
	for _, i := range fit {
		if clips[i].WAV == nil && ctx.Err() != nil {
			clips[i].Err = fmt.Errorf("speak: %w", context.Cause(ctx))
		}
	}
	return clips
}

// pass has one engine speak the texts and reports whether it spoke them all.
// Until the last engine it stops at the first failure.
func (b *Booth) pass(ctx context.Context, step Step, fit []int, texts []string, clips []Clip, last bool) bool {
	spoken, all := make([]Clip, len(texts)), true
	for _, i := range fit {
		c := b.speak(ctx, step, texts[i])
		if c.Err == nil {
			spoken[i] = c
			continue
		}
		all = false
		if ctx.Err() != nil {
			break // the caller's doing, not the engine's
		}
		if clips[i].WAV == nil {
			clips[i].Err = errors.Join(clips[i].Err, c.Err)
		}
		b.log.Warn("voice failed to speak a text", "voice", step.Engine.Name(), "err", c.Err)
		if !last {
			b.tire(step.Engine)
			break
		}
	}
	for _, i := range fit {
		if spoken[i].WAV != nil && (all || last || clips[i].WAV == nil) {
			clips[i] = spoken[i]
		}
	}
	return all
}

func (b *Booth) speak(ctx context.Context, step Step, text string) Clip {
	name := step.Engine.Name()
	limited, cancel := context.WithTimeoutCause(ctx, step.Limit,
		fmt.Errorf("not done after %s: %w", step.Limit, context.DeadlineExceeded))
	defer cancel()
	sound, err := step.Engine.Speak(limited, text)
	if err == nil {
		var c Clip
		if c, err = checked(ctx, sound, text); err == nil {
			c.Voice = name
			return c
		}
	} else if limited.Err() != nil && ctx.Err() == nil {
		err = context.Cause(limited)
	}
	return Clip{Err: fmt.Errorf("%s: %w", name, err)}
}

func (b *Booth) resting(e Engine) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now().Before(b.tired[e.Name()])
}

func (b *Booth) tire(e Engine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tired[e.Name()] = b.now().Add(b.rest)
}
