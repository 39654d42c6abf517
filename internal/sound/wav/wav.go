// Package wav writes WAV files in memory, 16-bit PCM and 32-bit float, and reads
// 16-bit PCM. It reads only the output of programs that the station runs, and still
// checks it; files from outside are read by audiofile and ffmpeg.
package wav

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Audio is sound as a WAV file holds it.
type Audio struct {
	Rate     int       // Hz
	Channels int       // 1 or 2
	Samples  []float32 // interleaved, full scale ±1
}

// Format tags of the fmt chunk.
const (
	tagPCM   = 1
	tagFloat = 3
)

// PCM16 returns a file of interleaved 16-bit samples.
func PCM16(rate, channels int, samples []int16) []byte {
	b := header(tagPCM, rate, channels, 2, len(samples))
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return b
}

// Quantize returns a sample of full scale ±1 in 16 bits; beyond full scale it is cut.
func Quantize(v float64) int16 { return int16(math.Round(max(-1, min(1, v)) * 32767)) }

// Float32 returns a file of interleaved 32-bit float samples, which may go over
// full scale.
func Float32(rate, channels int, samples []float32) []byte {
	b := header(tagFloat, rate, channels, 4, len(samples))
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// header returns a file without its samples, with capacity for them.
func header(tag uint16, rate, channels, width, samples int) []byte {
	le, data := binary.LittleEndian, uint32(width*samples)
	frame := uint32(width * channels)
	format := make([]byte, 0, 18)
	format = le.AppendUint16(format, tag)
	format = le.AppendUint16(format, uint16(channels))
	format = le.AppendUint32(format, uint32(rate))
	format = le.AppendUint32(format, uint32(rate)*frame)
	format = le.AppendUint16(format, uint16(frame))
	format = le.AppendUint16(format, uint16(8*width))
	var fact []byte
	if tag != tagPCM { // what is not PCM needs an extension, and says how many frames there are
		format = le.AppendUint16(format, 0)
		fact = le.AppendUint32(nil, uint32(samples/channels))
	}
	b := make([]byte, 0, 58+int(data))
	b = append(b, "RIFF\x00\x00\x00\x00WAVE"...)
	b = chunk(b, "fmt ", format)
	if fact != nil {
		b = chunk(b, "fact", fact)
	}
	b = append(b, "data"...)
	b = le.AppendUint32(b, data)
	le.PutUint32(b[4:], uint32(len(b)-8)+data)
	return b
}

func chunk(b []byte, id string, body []byte) []byte {
	b = append(b, id...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

// Read reads 16-bit PCM. A data chunk may claim more bytes than there are, as
// programs write that cannot seek back; then the rest of the file is the audio.
func Read(b []byte) (Audio, error) {
	le := binary.LittleEndian
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		return Audio{}, fmt.Errorf("%d bytes are not a WAV file", len(b))
	}
	var a Audio
	for rest := b[12:]; len(rest) >= 8; {
		id, size := string(rest[:4]), int(le.Uint32(rest[4:]))
		body := rest[8:]
		size = min(size, len(body))
		switch id {
		case "fmt ":
			if size < 16 || le.Uint16(body) != tagPCM || le.Uint16(body[14:]) != 16 {
				return Audio{}, errors.New("the WAV file is not 16-bit PCM")
			}
			a.Channels, a.Rate = int(le.Uint16(body[2:])), int(le.Uint32(body[4:]))
		case "data":
			a.Samples = make([]float32, size/2)
			for i := range a.Samples {
				a.Samples[i] = float32(int16(le.Uint16(body[2*i:]))) / 32768
			}
		}
		rest = body[min(size+size%2, len(body)):]
	}
	if a.Channels < 1 || a.Channels > 2 || a.Rate < 8000 || a.Rate > 192000 || len(a.Samples) < a.Channels {
		return Audio{}, fmt.Errorf("the WAV file has %d samples of %d channels at %d Hz", len(a.Samples), a.Channels, a.Rate)
	}
	a.Samples = a.Samples[:len(a.Samples)/a.Channels*a.Channels]
	return a, nil
}
