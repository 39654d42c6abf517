package mounts

import (
	"bytes"
	"slices"
	"time"
)

// Bitrates in kbit/s by their index in the header of a frame of MPEG-1 and MPEG-2 Layer III
// (ISO/IEC 11172-3, 2.4.2.3; 13818-3, 2.4.2.3), and sampling rates of the first and of ADTS.
var (
	mpeg1Bitrates = []int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
	mpeg2Bitrates = []int{0, 8, 16, 24, 32, 40, 48, 56}
	adtsRates     = []int{96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050}
)

const (
	mp3Head  = 4 // bytes
	adtsHead = 7
)

// cutter cuts what an encoder writes into frames.
type cutter struct {
	mount Mount
	rest  []byte // the beginning of a frame
}

// add returns the frames that b ends. Bytes between frames are passed over.
func (c *cutter) add(b []byte) (frames [][]byte) {
	b = append(c.rest, b...) //nolint:gocritic // the rest goes first
	for len(b) >= adtsHead {
		n := c.mount.frame(b)
		if n > len(b) {
			break
		}
		if n == 0 {
			b = b[1:]
			continue
		}
		frames = append(frames, bytes.Clone(b[:n]))
		b = b[n:]
	}
	c.rest = bytes.Clone(b)
	return frames
}

// frame is the length of the frame that begins at b, in bytes; 0: none of the mount's does.
func (m Mount) frame(b []byte) int {
	if m.Codec == MP3 {
		head := m.mp3Head()
		const padding, ofFrame = 0b10, 0b1111_1101
		if b[0] != head[0] || b[1]|1 != head[1] || b[2]&ofFrame != head[2] {
			return 0
		}
		return m.mp3Length() + int(b[2]&padding)>>1
	}
	head := m.adtsHead(0)
	if b[0] != head[0] || b[1]&^1 != head[1]&^1 || b[2]&^1 != head[2]&^1 {
		return 0
	}
	n := int(b[3]&3)<<11 | int(b[4])<<3 | int(b[5])>>5
	if n < adtsHead {
		return 0
	}
	return n
}

// mp3Head is the header of the mount's frames without padding and checksum, joint stereo.
func (m Mount) mp3Head() [mp3Head]byte {
	version, rates := byte(0xfb), mpeg1Bitrates
	if m.Rate() < 32_000 {
		version, rates = 0xf3, mpeg2Bitrates
	}
	// Index 0 of the sampling rates is that of both versions.
	return [mp3Head]byte{0xff, version, byte(slices.Index(rates, m.Kbps)) << 4, 0x44} //nolint:gosec // config admits no other bitrate
}

// mp3Length is the length of a frame without padding.
func (m Mount) mp3Length() int { return m.samples() / 8 * m.Kbps * 1000 / m.Rate() }

func (m Mount) adtsHead(body int) [adtsHead]byte {
	rate, n := byte(slices.Index(adtsRates, m.Rate())), body+adtsHead //nolint:gosec // one of them
	// AAC-LC, two channels, one block, a buffer that varies.
	return [adtsHead]byte{0xff, 0xf1, 1<<6 | rate<<2, 2<<6 | byte(n>>11), byte(n >> 3), byte(n)<<5 | 0x1f, 0xfc} //nolint:gosec // cut on purpose
}

// samples is how many a frame has of each channel.
func (m Mount) samples() int {
	switch {
	case m.Codec == AAC:
		return 1024
	case m.Rate() < 32_000:
		return 576
	}
	return 1152
}

// lasts is for how long a frame is heard.
func (m Mount) lasts() time.Duration {
	return time.Duration(m.samples()) * time.Second / time.Duration(m.Rate())
}

// silence is a frame in which nothing is heard, whatever came before it.
func (m Mount) silence() []byte {
	if m.Codec == MP3 {
		// Nothing but its header: no granule has any data.
		head := m.mp3Head()
		return append(head[:], make([]byte, m.mp3Length()-mp3Head)...)
	}
	// A pair of channels without a band (ISO/IEC 14496-3, 4.4.2.1).
	body := []byte{0x21, 0x00, 0x49, 0x90, 0x02, 0x19, 0x00, 0x23, 0x80}
	head := m.adtsHead(len(body))
	return append(head[:], body...)
}
