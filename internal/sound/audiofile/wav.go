package audiofile

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

// wavFormat is the fmt chunk of a RIFF or RF64 file (EBU Tech 3306).
type wavFormat struct {
	tag            uint16
	channels, rate int
	frameSize      int64 // bytes of one sample of every channel
}

func (s *source) wav(t *tags) (Info, error) {
	var f wavFormat
	var data, have, long int64
	data = -1
	for off := int64(12); off+8 <= s.size; {
		b, err := s.bytes(off, 8)
		if err != nil {
			return Info{}, err
		}
		kind, size := string(b[:4]), int64(binary.LittleEndian.Uint32(b[4:]))
		off += 8
		if kind == "data" {
			data, have = size, s.size-off
			if size == math.MaxUint32 && long > 0 {
				data = long
			}
			size = data
		} else if err := s.wavChunk(kind, off, size, &f, &long, t); err != nil {
			return Info{}, err
		}
		if size > s.size-off {
			break
		}
		off += size + size&1
	}
	info := Info{Format: "pcm", Channels: f.channels, SampleRate: f.rate}
	const pcm, float, extensible = 1, 3, 0xfffe
	if f.tag != pcm && f.tag != float && f.tag != extensible || f.frameSize == 0 || f.rate == 0 {
		return info, odd("a WAV file with compressed audio, or without a format")
	}
	if data < 0 {
		return info, broken("truncated: there is no audio data after the header")
	}
	// Programs that write to a pipe cannot go back: 0 or nearly 4 GB mean "all there is".
	if data == 0 || data >= math.MaxInt32-64<<10 && data <= math.MaxUint32 && have < data {
		data = have
	}
	info.Duration = perSecond(uint64(data/f.frameSize), f.rate)
	if there := perSecond(uint64(min(data, have)/f.frameSize), f.rate); info.Duration-there > tolerated {
		return info, broken("truncated: %s of %s are there", there.Round(tolerated), info.Duration.Round(tolerated))
	}
	info.Duration = min(info.Duration, perSecond(uint64(have/f.frameSize), f.rate))
	return info, nil
}

// wavChunk reads the chunks beside the audio; one that is cut is left alone.
func (s *source) wavChunk(kind string, off, size int64, f *wavFormat, long *int64, t *tags) error {
	if size > s.size-off || size > maxRead {
		return nil
	}
	b, err := s.bytes(off, int(size))
	if err != nil {
		return err
	}
	switch {
	case kind == "fmt " && size >= 16:
		*f = wavFormat{
			tag: binary.LittleEndian.Uint16(b), channels: int(binary.LittleEndian.Uint16(b[2:])),
			rate: int(binary.LittleEndian.Uint32(b[4:])), frameSize: int64(binary.LittleEndian.Uint16(b[12:])),
		}
	case kind == "ds64" && size >= 16:
		*long = int64(binary.LittleEndian.Uint64(b[8:]))
	case kind == "LIST" && size >= 4 && string(b[:4]) == "INFO":
		t.riffInfo(b[4:])
	case kind == "id3 " || kind == "ID3 ":
		inner := &source{r: io.NewSectionReader(s.r, off, size), size: size}
		_, _ = inner.skipID3(t) // tags that are damaged do not spoil the audio
	}
	return nil
}

func (t *tags) riffInfo(b []byte) {
	for len(b) >= 8 {
		size := int64(binary.LittleEndian.Uint32(b[4:]))
		if size > int64(len(b)-8) {
			return
		}
		text, _, _ := bytes.Cut(b[8:8+size], []byte{0})
		field := map[string]string{
			"INAM": "TITLE", "IART": "ARTIST", "IPRD": "ALBUM", "IGNR": "GENRE", "ICOP": "COPYRIGHT", "ICMT": "COMMENT", "ISRC": "ISRC", "IPUB": "PUBLISHER", "IMUS": "COMPOSER",
		}[string(b[:4])]
		t.set(field, Text(text))
		b = b[min(int64(len(b)), 8+size+size&1):]
	}
}
