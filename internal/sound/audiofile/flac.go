package audiofile

import (
	"encoding/binary"
	"time"
)

// streamInfo is FLAC's STREAMINFO block (RFC 9639, section 8.2).
type streamInfo struct {
	minBlock, maxBlock uint64 // samples per block
	rate, channels     int
	samples            uint64 // 0 unknown
}

const streamInfoSize = 34

func parseStreamInfo(b []byte) streamInfo {
	packed := binary.BigEndian.Uint64(b[10:])
	return streamInfo{
		minBlock: uint64(binary.BigEndian.Uint16(b)),
		maxBlock: uint64(binary.BigEndian.Uint16(b[2:])),
		rate:     int(packed >> 44),
		channels: int(packed>>41&7) + 1,
		samples:  packed & (1<<36 - 1),
	}
}

func (s *source) flac(start int64, t *tags) (Info, error) {
	var si streamInfo
	off := start + 4
	for last := false; !last; {
		head, err := s.bytes(off, 4)
		if err != nil {
			return Info{}, err
		}
		last = head[0]&0x80 != 0
		kind, size := head[0]&0x7f, int64(head[1])<<16|int64(head[2])<<8|int64(head[3])
		off += 4
		if kind == 0 || kind == 4 { // STREAMINFO, VORBIS_COMMENT; pictures stay unread
			b, err := s.bytes(off, int(size))
			if err != nil {
				return Info{}, err
			}
			if kind == 4 {
				t.vorbisComments(b)
			} else if size >= streamInfoSize {
				si = parseStreamInfo(b)
			}
		}
		off += size
	}
	info := Info{Format: "flac", Channels: si.channels, SampleRate: si.rate, Duration: perSecond(si.samples, si.rate)}
	if info.Duration == 0 {
		return info, odd("the FLAC header gives no length")
	}
	if end := s.lastFLACBlock(off, si); info.Duration-perSecond(end, si.rate) > tolerated {
		return info, odd("damaged or truncated: the last audio block is not at %s", info.Duration.Round(time.Second))
	}
	return info, nil
}

// lastFLACBlock returns the sample after the last block whose header is found
// whole near the end of the file: 0 when there is none.
func (s *source) lastFLACBlock(audio int64, si streamInfo) (end uint64) {
	const tail = 256 << 10 // several of the longest blocks, and a tag after them
	from := max(audio, s.size-tail)
	b, err := s.bytes(from, int(s.size-from))
	if err != nil {
		return 0
	}
	for i := len(b) - 6; i >= 0; i-- {
		if b[i] != 0xff || b[i+1]&0xfe != 0xf8 {
			continue
		}
		if at, ok := flacBlockEnd(b[i:min(len(b), i+16)], si); ok && at <= si.samples+si.maxBlock {
			if end = max(end, at); end >= si.samples {
				return end
			}
		}
	}
	return end
}

// flacBlockEnd reads a frame header (RFC 9639, section 9.1) and checks its CRC.
func flacBlockEnd(b []byte, si streamInfo) (uint64, bool) {
	number, n := utf8Number(b[4:])
	if n == 0 {
		return 0, false
	}
	at := 4 + n
	block, extra := uint64(0), 0
	switch code := b[2] >> 4; {
	case code == 1:
		block = 192
	case code >= 2 && code <= 5:
		block = 576 << (code - 2)
	case code >= 8:
		block = 256 << (code - 8)
	case code == 6:
		extra = 1
	case code == 7:
		extra = 2
	default:
		return 0, false
	}
	if at+extra >= len(b) {
		return 0, false
	}
	switch extra {
	case 1:
		block = uint64(b[at]) + 1
	case 2:
		block = uint64(binary.BigEndian.Uint16(b[at:])) + 1
	}
	at += extra
	switch b[2] & 0xf {
	case 12:
		at++
	case 13, 14:
		at += 2
	case 15:
		return 0, false
	}
	if at >= len(b) || crc8(b[:at]) != b[at] {
		return 0, false
	}
	if b[1]&1 == 0 { // fixed block size: the number counts blocks
		number *= si.maxBlock
	}
	return number + block, true
}

// utf8Number decodes FLAC's extended UTF-8 coding of up to 36 bits.
func utf8Number(b []byte) (number uint64, size int) {
	if len(b) == 0 {
		return 0, 0
	}
	lead := b[0]
	switch {
	case lead < 0x80:
		return uint64(lead), 1
	case lead < 0xc0 || lead == 0xff:
		return 0, 0
	}
	for size = 2; lead&(0x80>>size) != 0; size++ {
	}
	if len(b) < size {
		return 0, 0
	}
	number = uint64(lead) & (0x7f >> size)
	for _, c := range b[1:size] {
		if c&0xc0 != 0x80 {
			return 0, 0
		}
		number = number<<6 | uint64(c&0x3f)
	}
	return number, size
}

func crc8(b []byte) byte {
	var crc byte
	for _, c := range b {
		crc ^= c
		for range 8 {
			if crc&0x80 != 0 {
				crc = crc<<1 ^ 0x07
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}
