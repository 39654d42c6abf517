// Package fingerprint tells whether two files are the same recording, by
// acoustic fingerprint (Chromaprint), and finds among many recordings those
// that a new one equals.
//
// It stores, names and decides nothing: who asks knows what its keys stand for, and
// what to do about a match. Files under a few seconds, and sound without features
// (silence, a steady tone), have no fingerprint worth comparing.
package fingerprint

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

// Print is a fingerprint: about eight items for each second of audio.
type Print []uint32

const (
	// Same is the share of differing bits up to which two prints are one recording.
	Same = 0.15
	// listened is how much of a file is fingerprinted, from its start.
	listened = 120 * time.Second
	rate     = 11025 // Hz, what Chromaprint works at
	fewest   = 24    // items that can be compared: three seconds
	distinct = 8     // different items that make a sound recognisable
)

// ErrPlain says that a file has no fingerprint worth comparing.
var ErrPlain = errors.New("too short or too plain for a fingerprint")

// Of takes the fingerprint of a file. The audio is decoded by sound/ffmpeg, which
// opens nothing but the file; fpcalc (which 1.5 takes the end of a pipe for an
// error, hence -ignore-errors) sees samples only, and could otherwise be
// led to a host by a playlist that calls itself a song.
func Of(ctx context.Context, path string) (Print, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	type answer struct {
		text []byte
		err  error
	}
	ended := make(chan answer, 1)
	go func() {
		text, err := proc.Output(ctx, proc.Spec{
			Name: "fpcalc", Path: "fpcalc", Nice: 10, Stdin: r,
			Args: []string{"-raw", "-plain", "-ignore-errors", "-length", fmt.Sprint(int(listened.Seconds())), "-format", "s16le", "-rate", strconv.Itoa(rate), "-channels", "1", "-"},
		}, 1<<20)
		_ = r.Close()
		ended <- answer{text, err}
	}()
	frames := 0
	var buf []byte
	err = ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: rate, Channels: 1, First: listened, Nice: 10}, func(samples []float32) error {
		buf = buf[:0]
		for _, v := range samples {
			buf = binary.LittleEndian.AppendUint16(buf, uint16(int16(math.Round(float64(32767*max(-1, min(1, v)))))))
		}
		frames += len(samples)
		_, err := w.Write(buf)
		return err
	})
	_ = w.Close()
	a := <-ended
	switch {
	case err != nil && !errors.Is(err, syscall.EPIPE): // fpcalc has gone: it has heard enough, or says why below
		return nil, err
	case frames < 3*rate, a.err != nil && strings.Contains(a.err.Error(), "Empty fingerprint"):
		return nil, ErrPlain
	case a.err != nil:
		return nil, a.err
	}
	p, err := parse(string(a.text))
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
	seen := map[uint32]bool{}
	for _, item := range p {
		seen[item] = true
	}
	return len(p) >= fewest && len(seen) >= distinct
}

// Difference is the share of differing bits between a and b over their best
// alignment, 0 to 1, and the items by which b begins later in a. Unrelated
// recordings differ by about 0.4 or more; a re-encoded, quieter or louder copy
// by next to nothing. At least half of the shorter one must lie over the other.
func Difference(a, b Print) (share float64, offset int) {
	share = 1
	least := max(fewest, min(len(a), len(b))/2)
	for o := least - len(b); o <= len(a)-least; o++ {
		if d := at(a, b, o); d < share {
			share, offset = d, o
		}
	}
	return share, offset
}

// at is the difference with b's item 0 over a's item o.
func at(a, b Print, o int) float64 {
	from, to := max(0, o), min(len(a), o+len(b))
	if to-from < max(fewest, min(len(a), len(b))/2) {
		return 1
	}
	sum := 0
	for i, item := range a[from:to] {
		sum += bits.OnesCount32(item ^ b[from-o+i])
	}
	return float64(sum) / float64(32*(to-from))
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
