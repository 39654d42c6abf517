package imaging

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/internal/sound/synth"
)

const (
	// mostFast is how much faster a voice may be made to fit its time before
	// it sounds hurried.
	mostFast = 1.14
	// tries is how many phrases the voice is asked to speak for one asset.
	tries = 4

	voiceLUFS = -16.0
	tempoTime = time.Minute
)

// voiceError says that the voice did not speak.
type voiceError struct{ err error }

func (e *voiceError) Error() string { return "speak: " + e.err.Error() }
func (e *voiceError) Unwrap() error { return e.err }

// vocal is a phrase as it goes into a mix.
type vocal struct {
	text, voice string
	tempo       float64
	dry         synth.Sound // levelled to voiceLUFS
	onset       float64     // seconds into it, where its first syllable is struck
}

// take is a phrase as it was spoken, mono at synth.Rate.
type take struct {
	samples []float32
	voice   string
}

// booth remembers what has been spoken for an order: a phrase comes more than
// once in a long one, and speech takes its time.
type booth struct {
	voice Voice
	dir   string // for files on their way to a decoder

	mu    sync.Mutex
	takes map[string]func() (take, error)
}

func (b *booth) say(ctx context.Context, text string) (take, error) {
	b.mu.Lock()
	once, ok := b.takes[text]
	if !ok {
		once = sync.OnceValues(func() (take, error) { return b.record(ctx, text) })
		b.takes[text] = once
	}
	b.mu.Unlock()
	return once()
}

func (b *booth) record(ctx context.Context, text string) (take, error) {
	said, err := b.voice.Say(ctx, text)
	if err != nil {
		return take{}, &voiceError{err}
	}
	f, err := os.CreateTemp(b.dir, "voice-*.wav")
	if err != nil {
		return take{}, fmt.Errorf("speak: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // the folder goes with all that is in it
	_, err = f.Write(said.WAV)
	if err = errors.Join(err, f.Close()); err != nil {
		return take{}, fmt.Errorf("speak: %w", err)
	}
	t := take{voice: said.Voice}
	err = ffmpeg.Decode(ctx, f.Name(), ffmpeg.Decoding{Rate: synth.Rate, Channels: 1, First: time.Minute, Nice: 10}, func(s []float32) error {
		t.samples = append(t.samples, s...)
		return nil
	})
	if err != nil {
		return take{}, &voiceError{err}
	}
	if t.samples = trimmed(t.samples); len(t.samples) == 0 {
		return take{}, &voiceError{errors.New("the voice gave silence")}
	}
	return t, nil
}

// vocal speaks the first of an item's phrases that fits into so many seconds,
// and treats it. A voice that is a little too long is made faster; no word is
// ever cut.
func (b *booth) vocal(ctx context.Context, it item, station string, atMost float64) (vocal, error) {
	var failed error
	for _, phrase := range it.phrases[:min(tries, len(it.phrases))] {
		text := withStation(phrase, station)
		t, err := b.say(ctx, text)
		if err != nil {
			if failed != nil || ctx.Err() != nil {
				return vocal{}, err
			}
			failed = err
			continue
		}
		v := vocal{text: text, voice: t.voice, tempo: max(1, synth.Seconds(len(t.samples))/atMost)}
		if v.tempo > mostFast {
			failed = fmt.Errorf("%q takes %.1f s to say, and there are %.1f: give it shorter phrases", text, synth.Seconds(len(t.samples)), atMost)
			continue
		}
		mono := append([]float32(nil), t.samples...)
		if v.tempo > 1 {
			v.tempo = min(mostFast, v.tempo*1.01) // a stretcher is not exact
			if mono, err = faster(ctx, mono, v.tempo); err != nil {
				return vocal{}, err
			}
		}
		v.treat(mono)
		return v, nil
	}
	if failed == nil {
		failed = errors.New("there are no phrases for it")
	}
	return vocal{}, failed
}

// treat makes a voice sit in front of music: no rumble, evened out, a little
// saturated, with presence.
func (v *vocal) treat(mono []float32) {
	for range 2 {
		synth.Filter(mono, synth.HighPass, synth.Flat(95), 0.71)
	}
	body := synth.Filter(append([]float32(nil), mono...), synth.BandPass, synth.Flat(190), 0.9)
	for i := range mono {
		mono[i] += 0.3 * body[i]
	}
	synth.Shelf(mono, 3200, 3)
	v.dry = synth.Planes(mono)
	v.dry.Normalize(0.9)
	synth.Press{Threshold: -22, Ratio: 3.2, Attack: 0.006, Release: 0.11}.On(v.dry)
	v.dry.Normalize(0.9)
	v.dry.Drive(1.3, 0.06)
	v.dry.Fade(0.003, 0.02)
	level(v.dry, voiceLUFS)
	v.onset = onset(v.dry[0])
}

// seconds is how long it is.
func (v vocal) seconds() float64 { return v.dry.Seconds() }

// placed returns the voice alone and the voice in its space, both in a Sound of
// a length, with its onset at a time.
func (v vocal) placed(onsetAt, seconds float64, room synth.Room, amount float64) (dry, full synth.Sound) {
	dry = synth.Silence(seconds)
	dry.Mix(onsetAt-v.onset, v.dry, 1)
	full = dry.Clone()
	// Two quiet copies a few milliseconds late, one a side, make a narrow voice wide.
	wide := v.dry.Clone()
	wide.Filter(synth.HighPass, synth.Flat(400), 0.71)
	sides := [2]synth.Sound{{wide[0], make([]float32, wide.Frames())}, {make([]float32, wide.Frames()), wide[1]}}
	full.Mix(onsetAt-v.onset+0.013, sides[0], 0.16)
	full.Mix(onsetAt-v.onset+0.019, sides[1], 0.16)
	full.Mix(0, room.Of(dry), amount)
	return dry, full
}

// level brings a sound to a loudness in LUFS. Silence stays.
func level(s synth.Sound, lufs float64) {
	if now := loud(s); !math.IsInf(now, 0) && !math.IsNaN(now) {
		s.Gain(synth.Decibels(lufs - now))
	}
}

func loud(s synth.Sound) float64 {
	meter := loudness.NewMeter(synth.Rate, loudness.Stereo)
	meter.Write(s.Interleaved())
	return meter.Result().Integrated
}

// envelope is the RMS of a mono signal over windows of 10 ms, one every
// millisecond, each at its middle.
func envelope(mono []float32) []float64 {
	const step, window = synth.Rate / 1000.0, synth.Rate / 100
	sums := make([]float64, len(mono)+1)
	for i, v := range mono {
		sums[i+1] = sums[i] + float64(v)*float64(v)
	}
	out := make([]float64, int(float64(len(mono))/step))
	for i := range out {
		middle := int(float64(i) * step)
		from, to := max(0, middle-window/2), min(len(mono), middle+window/2)
		out[i] = math.Sqrt((sums[to] - sums[from]) / window)
	}
	return out
}

// onset is where a voice's first syllable is struck, in seconds: where its
// energy first passes half of what the first syllable reaches. A breath or a
// soft consonant before it does not count.
func onset(mono []float32) float64 {
	env := envelope(mono)
	var highest float64
	for _, v := range env {
		highest = max(highest, v)
	}
	for i, v := range env {
		if v < 0.3*highest {
			continue
		}
		// The syllable's own top, within 150 ms.
		top := v
		for _, w := range env[i:min(i+150, len(env))] {
			top = max(top, w)
		}
		for ; i < len(env); i++ {
			if env[i] >= 0.5*top {
				return float64(i) / 1000
			}
		}
	}
	return 0
}

// trimmed cuts the silence before and after a voice.
func trimmed(mono []float32) []float32 {
	var peak float64
	for _, v := range mono {
		peak = max(peak, math.Abs(float64(v)))
	}
	quiet := max(0.002, 0.01*peak)
	from, to := 0, len(mono)
	for from < to && math.Abs(float64(mono[from])) < quiet {
		from++
	}
	for to > from && math.Abs(float64(mono[to-1])) < quiet {
		to--
	}
	return mono[from:to]
}

// faster keeps the pitch.
func faster(ctx context.Context, mono []float32, tempo float64) ([]float32, error) {
	raw := make([]byte, 0, 4*len(mono))
	for _, v := range mono {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	ctx, cancel := context.WithTimeout(ctx, tempoTime)
	defer cancel()
	format := []string{"-f", "f32le", "-ar", strconv.Itoa(synth.Rate), "-ac", "1"}
	args := append([]string{"-hide_banner", "-v", "error"}, append(format, "-i", "pipe:0", "-af", fmt.Sprintf("atempo=%.4f", tempo))...)
	out, err := proc.Output(ctx, proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Nice: 10, Stdin: bytes.NewReader(raw), Args: append(append(args, format...), "pipe:1"),
	}, len(raw)+1<<16)
	if err != nil {
		return nil, fmt.Errorf("make the voice faster: %w", err)
	}
	quick := make([]float32, len(out)/4)
	for i := range quick {
		quick[i] = math.Float32frombits(binary.LittleEndian.Uint32(out[4*i:]))
	}
	return quick, nil
}
