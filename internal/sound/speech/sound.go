package speech

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/wav"
)

// Rate is the sample rate of every clip, in Hz.
const Rate = 44100

const (
	mostSound  = 16 << 20 // bytes an engine may return
	decodeTime = 30 * time.Second
)

// The time that a letter of text may take. The slowest voice says 5 letters a second,
// the quickest about 30; a short text has its pauses.
const (
	leastPerLetter = time.Second / 40
	mostPerLetter  = time.Second / 3
	mostPauses     = 4 * time.Second
)

// checked decodes an engine's result and refuses it if it cannot be the spoken text.
func checked(ctx context.Context, sound []byte, text string) (Clip, error) {
	n := letters(text)
	most := time.Duration(n)*mostPerLetter + mostPauses
	pcm, err := decode(ctx, sound, most+time.Second)
	if err != nil {
		return Clip{}, err
	}
	pcm, heard := trim(pcm)
	length := time.Duration(len(pcm)) * time.Second / Rate
	switch {
	case heard == 0:
		return Clip{}, errors.New("it is silent")
	case heard < time.Duration(n)*leastPerLetter:
		return Clip{}, fmt.Errorf("cut short: only %s of sound for %d letters", heard.Round(time.Millisecond), n)
	case length > most:
		return Clip{}, fmt.Errorf("too long: more than %s of sound for %d letters", most, n)
	}
	return Clip{WAV: wav.PCM16(Rate, 1, pcm), Duration: length}, nil
}

// decode reads the beginning of a WAV, MP3 or Ogg file with ffmpeg to 16-bit
// mono at Rate.
func decode(ctx context.Context, sound []byte, most time.Duration) ([]int16, error) {
	if len(sound) == 0 {
		return nil, errors.New("the engine returned no sound")
	}
	ctx, cancel := context.WithTimeout(ctx, decodeTime)
	defer cancel()
	raw, err := proc.Output(ctx, proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Nice: 10, Stdin: bytes.NewReader(sound),
		Args: []string{
			"-hide_banner", "-v", "error", "-protocol_whitelist", "pipe", "-format_whitelist", "wav,mp3,ogg",
			"-i", "pipe:0", "-map", "0:a:0", "-t", fmt.Sprint(most.Seconds()),
			"-ac", "1", "-ar", fmt.Sprint(Rate), "-f", "s16le", "pipe:1",
		},
	}, int(most.Seconds()+1)*Rate*2)
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	pcm := make([]int16, len(raw)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return pcm, nil
}

// trim cuts the silence before and after the voice but for a hundredth of a second,
// and returns for how long sound is heard.
func trim(pcm []int16) ([]int16, time.Duration) {
	const (
		window = Rate / 100
		quiet  = 0.003 * math.MaxInt16 // -50 dBFS, as an average over the window
	)
	first, last, heard := -1, 0, 0
	for at := 0; at+window <= len(pcm); at += window {
		var sum float64
		for _, v := range pcm[at : at+window] {
			sum += float64(v) * float64(v)
		}
		if math.Sqrt(sum/window) < quiet {
			continue
		}
		if first < 0 {
			first = at
		}
		last, heard = at+window, heard+1
	}
	if first < 0 {
		return nil, 0
	}
	return pcm[max(first-window, 0):min(last+window, len(pcm))], time.Duration(heard) * time.Second / 100
}
