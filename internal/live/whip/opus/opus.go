// Package opus decodes the Opus packets of a stranger to stereo at 48,000 Hz. A packet
// that is no Opus is an error, never a panic, and costs bounded memory.
package opus

import (
	"errors"
	"fmt"
	"math"

	"github.com/pion/opus"
)

const (
	rate     = 48_000
	channels = 2
	// MostSamples is the longest packet, 120 ms (RFC 6716, section 3.2.5 [R5]).
	MostSamples = 5760
	// mostBytes is more than the largest packet that is any use here: 48 frames of
	// 2.5 ms at the highest rate fit in the MTU of RTP anyway.
	mostBytes = 4096
)

// ErrMalformed is a packet that is no Opus.
var ErrMalformed = errors.New("no Opus packet")

// Samples is the length of a packet's audio at 48,000 Hz, by its table of contents
// (RFC 6716, section 3.1).
func Samples(packet []byte) (int, error) {
	if len(packet) == 0 || len(packet) > mostBytes {
		return 0, fmt.Errorf("%w: %d bytes", ErrMalformed, len(packet))
	}
	config := int(packet[0] >> 3)
	var frame int
	switch {
	case config < 12: // SILK: 10, 20, 40, 60 ms
		frame = [...]int{480, 960, 1920, 2880}[config&3]
	case config < 16: // hybrid: 10, 20 ms
		frame = 480 << (config & 1)
	default: // CELT: 2.5, 5, 10, 20 ms
		frame = 120 << (config & 3)
	}
	count := 1
	switch packet[0] & 3 {
	case 1, 2:
		count = 2
	case 3:
		if len(packet) < 2 {
			return 0, fmt.Errorf("%w: its frame count is missing", ErrMalformed)
		}
		count = int(packet[1] & 63)
	}
	if count == 0 || count*frame > MostSamples {
		return 0, fmt.Errorf("%w: %d frames of %d samples", ErrMalformed, count, frame)
	}
	return count * frame, nil
}

// Decoder decodes one stream. It is not safe for use by many goroutines.
type Decoder struct {
	decoder opus.Decoder
	out     [MostSamples * channels]float32
	panics  int
}

// NewDecoder returns a decoder for the beginning of a stream.
func NewDecoder() *Decoder {
	d := &Decoder{}
	d.reset()
	return d
}

func (d *Decoder) reset() {
	// The rate and the number of channels are among those it takes.
	d.decoder, _ = opus.NewDecoderWithOutput(rate, channels)
}

// Decode returns a packet's audio, two channels interleaved, each sample within -1 and
// 1; mono is in both. The result is valid until the next call. After an error the
// decoder goes on with the next packet.
func (d *Decoder) Decode(packet []byte) (audio []float32, err error) {
	samples, err := Samples(packet)
	if err != nil {
		return nil, err
	}
	defer func() {
		if fault := recover(); fault != nil {
			// The state that a fault leaves behind is not worth decoding with.
			d.reset()
			d.panics++
			audio, err = nil, fmt.Errorf("%w: the decoder says %v", ErrMalformed, fault)
		}
	}()
	if n := payload(packet); n <= 1 {
		// A frame of no or one byte is a pause of discontinuous transmission.
		clear(d.out[:samples*channels])
		return d.out[:samples*channels], nil
	}
	n, err := d.decoder.DecodeToFloat32(packet, d.out[:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if n != samples {
		return nil, fmt.Errorf("%w: %d samples, its first byte says %d", ErrMalformed, n, samples)
	}
	audio = d.out[:n*channels]
	if packet[0]&4 == 0 {
		// A mono packet of the hybrid mode comes out in the left channel alone
		// (pion/opus 0.1.0); the left one is whole in every mode.
		for i := 0; i < len(audio); i += channels {
			audio[i+1] = audio[i]
		}
	}
	for i, v := range audio {
		switch {
		case math.IsNaN(float64(v)):
			audio[i] = 0
		case v > 1:
			audio[i] = 1
		case v < -1:
			audio[i] = -1
		}
	}
	return audio, nil
}

// payload is how many bytes of a packet of one frame are its frame; many for others.
func payload(packet []byte) int {
	if packet[0]&3 != 0 {
		return mostBytes
	}
	return len(packet) - 1
}

// Panics is how often the decoder behind it had a fault.
func (d *Decoder) Panics() int { return d.panics }
