// Package fingerprint tells whether two files are the same recording, by
// acoustic fingerprint (Chromaprint), and finds among many recordings those
// that a new one equals.
//
// It stores, names and decides nothing: who asks knows what its keys stand for, and
// what to do about a match. Files under six seconds, and sound without features
// (silence, a steady tone), have no fingerprint worth comparing.
package fingerprint

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

// Print is a fingerprint: about eight items for each second of audio.
type Print []uint32

const (
	// listened is how much of a file is fingerprinted, from its start.
	listened = 120 * time.Second
	rate     = 11025 // Hz, what Chromaprint works at
	fewest   = 24    // items that can be compared: three seconds, and 2.6 go before the first
	distinct = 8     // different items that make a sound recognisable
)

// ErrPlain says that a file has no fingerprint worth comparing.
var ErrPlain = errors.New("too short or too plain for a fingerprint")

// Of takes the fingerprint of a file. The audio is decoded by sound/ffmpeg, which
// opens nothing but the file; fpcalc sees samples only, and could otherwise be
// led to a host by a playlist that calls itself a song.
func Of(ctx context.Context, path string) (Print, error) {
	pcm, err := samples(ctx, path)
	if err != nil {
		return nil, err
	}
	return of(ctx, pcm, rate)
}

// Versions takes the prints by which an altered copy is looked for: the first is Of's,
// the others are those that the file has when it plays 1 and 2 per cent faster and slower.
// A copy that was pitched so, with its speed or without, has one of them in
// common with what it was made of. Only the first is worth keeping.
func Versions(ctx context.Context, path string) ([]Print, error) {
	pcm, err := samples(ctx, path)
	if err != nil {
		return nil, err
	}
	var out []Print
	for _, percent := range []int{0, -1, 1, -2, 2} {
		p, err := of(ctx, pcm, rate+rate*percent/100)
		switch {
		case errors.Is(err, ErrPlain) && percent != 0: // it is only just long enough
		case err != nil:
			return nil, err
		default:
			out = append(out, p)
		}
	}
	return out, nil
}

// samples are those of a file's first minutes, 16 bits each.
func samples(ctx context.Context, path string) (pcm []byte, err error) {
	err = ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: rate, Channels: 1, First: listened, Nice: 10}, func(samples []float32) error {
		pcm = sixteen(pcm, samples)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(pcm) < 2*3*rate:
		return nil, ErrPlain
	}
	return pcm, nil
}

func sixteen(to []byte, samples []float32) []byte {
	for _, v := range samples {
		to = binary.LittleEndian.AppendUint16(to, uint16(int16(math.Round(float64(32767*max(-1, min(1, v)))))))
	}
	return to
}

// of takes the print of samples that play at so many a second. fpcalc 1.5 takes the end
// of a pipe for an error, hence -ignore-errors.
func of(ctx context.Context, pcm []byte, rate int) (Print, error) {
	text, err := proc.Output(ctx, proc.Spec{
		Name: "fpcalc", Path: "fpcalc", Nice: 10, Stdin: bytes.NewReader(pcm),
		Args: []string{"-raw", "-plain", "-ignore-errors", "-length", fmt.Sprint(int(listened.Seconds())), "-format", "s16le", "-rate", strconv.Itoa(rate), "-channels", "1", "-"},
	}, 1<<20)
	if err != nil {
		if strings.Contains(err.Error(), "Empty fingerprint") {
			return nil, ErrPlain
		}
		return nil, err
	}
	p, err := parse(string(text))
	if err == nil && !p.telling() {
		err = ErrPlain
	}
	return p, err
}

func parse(text string) (Print, error) {
	var p Print
	for field := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		v, err := strconv.ParseUint(field, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("read fpcalc's answer: %w", err)
		}
		p = append(p, uint32(v))
	}
	return p, nil
}

// telling reports whether there is enough in a print to compare.
func (p Print) telling() bool {
	if len(p) < fewest {
		return false
	}
	seen := make([]uint32, 0, distinct)
	for _, item := range p {
		if !slices.Contains(seen, item) {
			if seen = append(seen, item); len(seen) == distinct {
				return true
			}
		}
	}
	return false
}

// Bytes is a print as it is stored: items of four bytes, low byte first.
func (p Print) Bytes() []byte {
	out := make([]byte, 0, 4*len(p))
	for _, item := range p {
		out = binary.LittleEndian.AppendUint32(out, item)
	}
	return out
}

// FromBytes is the print that was stored; bytes of a broken last item are left out.
func FromBytes(b []byte) Print {
	p := make(Print, len(b)/4)
	for i := range p {
		p[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return p
}
