package relay

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/fmp4"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/fmp4/seekablebuffer"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/mp4/codecs"
)

// Segments are fragments of MP4 (ISO/IEC 14496-12, 8.8; CMAF): 4 bytes a frame and 120 a
// segment beside the sound. MPEG-TS takes 7 of ADTS a frame and 4 of each 188, which are 6 % of
// a stream of 64 kbit/s even where frames are packed as tightly as can be.

// sound is what a player must know of a run of AAC before it plays it.
type sound struct {
	Rate, Channels int
}

func soundOf(c mpeg4audio.AudioSpecificConfig) sound {
	return sound{Rate: c.SampleRate, Channels: int(c.ChannelConfig)}
}

func (s sound) config() mpeg4audio.AudioSpecificConfig {
	return mpeg4audio.AudioSpecificConfig{Type: mpeg4audio.ObjectTypeAACLC, SampleRate: s.Rate, ChannelConfig: uint8(s.Channels)} //nolint:gosec // 1 to 7
}

const (
	headBegin = "init_"
	headEnd   = ".mp4"
)

// head is the name of the file that EXT-X-MAP names: all that differs between two runs is in it.
func (s sound) head() string { return fmt.Sprintf("%s%dx%d%s", headBegin, s.Rate, s.Channels, headEnd) }

// soundOfHead reads the name of such a file.
func soundOfHead(name string) (s sound, ok bool) {
	text, begins := strings.CutPrefix(name, headBegin)
	text, ends := strings.CutSuffix(text, headEnd)
	rate, channels, parted := strings.Cut(text, "x")
	if !begins || !ends || !parted {
		return s, false
	}
	var err, err2 error
	s.Rate, err = strconv.Atoi(rate)
	s.Channels, err2 = strconv.Atoi(channels)
	ok = err == nil && err2 == nil && s.Rate >= 7350 && s.Rate <= 96000 && s.Channels >= 1 && s.Channels <= 7
	return s, ok && s.head() == name
}

// header is that file.
func (s sound) header() []byte {
	init := fmp4.Init{Tracks: []*fmp4.InitTrack{{ID: 1, TimeScale: uint32(s.Rate), Codec: &codecs.MPEG4Audio{Config: s.config()}}}} //nolint:gosec // at most 96,000
	var out seekablebuffer.Buffer
	if err := init.Marshal(&out); err != nil {
		panic(fmt.Errorf("write the header of %s: %w", s.head(), err)) // memory takes it, and a sound is of AAC
	}
	return out.Bytes()
}

// Flags of a fragment (8.8.7, 8.8.8).
const (
	tfhdDefaults = 0x020000 | 0x000008 | 0x000020 // offsets from the moof; a default length and flags of samples
	trunSizes    = 0x000001 | 0x000200            // where the data begins; a size for each sample
	syncSample   = 0x02000000                     // it depends on no other
)

// fragment holds frames of AAC of which the first is at a time, counted in samples.
func fragment(at int64, frames [][]byte) []byte {
	size := 0
	for _, f := range frames {
		size += len(f)
	}
	const (
		tfhd = 12 + 4 + 4 + 4
		tfdt = 12 + 8
		mfhd = 12 + 4
	)
	trun := 12 + 4 + 4 + 4*len(frames)
	traf := 8 + tfhd + tfdt + trun
	moof := 8 + mfhd + traf
	out := make([]byte, 0, moof+8+size)
	box := func(length int, name string) {
		out = binary.BigEndian.AppendUint32(out, uint32(length)) //nolint:gosec // a segment is a few hundred kilobytes
		out = append(out, name...)
	}
	word := func(v int64) { out = binary.BigEndian.AppendUint32(out, uint32(v)) } //nolint:gosec // the low 32 bits are meant

	box(moof, "moof")
	box(mfhd, "mfhd")
	word(0)
	word(at/samplesPerFrame + 1) // goes up from fragment to fragment
	box(traf, "traf")
	box(tfhd, "tfhd")
	word(tfhdDefaults)
	word(1) // the track
	word(samplesPerFrame)
	word(syncSample)
	box(tfdt, "tfdt")
	word(1 << 24)                                        // version 1: 64 bits
	out = binary.BigEndian.AppendUint64(out, uint64(at)) //nolint:gosec // counted from 2024
	box(trun, "trun")
	word(trunSizes)
	word(int64(len(frames)))
	word(int64(moof + 8))
	for _, f := range frames {
		word(int64(len(f)))
	}
	box(8+size, "mdat")
	for _, f := range frames {
		out = append(out, f...)
	}
	return out
}
