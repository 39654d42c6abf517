package audiofile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"
)

// frame is the header of one MPEG audio layer III frame (ISO 11172-3, 13818-3).
type frame struct {
	bitrate  int // bit/s
	rate     int // Hz
	channels int
	samples  int // per frame and channel
	length   int64
	side     int64 // bytes of side information after the header
}

// like reports that two frames can belong to one stream; the bit rate may vary.
func (f frame) like(g frame) bool { return f.rate == g.rate && f.samples == g.samples }

func parseFrame(b []byte) (frame, bool) {
	h := binary.BigEndian.Uint32(b)
	version, layer := h>>19&3, h>>17&3
	bitrate, rate, padding, mode := h>>12&15, h>>10&3, h>>9&1, h>>6&3
	if h>>21 != 0x7ff || version == 1 || layer != 1 || bitrate == 0 || bitrate == 15 || rate == 3 {
		return frame{}, false
	}
	kbits, samples, divide := mpeg1Rates(bitrate), 1152, 0
	if version != 3 {
		kbits, samples, divide = mpeg2Rates(bitrate), 576, 1
		if version == 0 {
			divide = 2
		}
	}
	f := frame{bitrate: kbits * 1000, rate: [3]int{44100, 48000, 32000}[rate] >> divide, channels: 2, samples: samples, side: 32}
	if mode == 3 {
		f.channels, f.side = 1, 17
	}
	if version != 3 { // 17 and 9 bytes instead of 32 and 17
		f.side = (f.side + 2) / 2
	}
	f.length = int64(samples/8*f.bitrate/f.rate) + int64(padding)
	return f, true
}

func mpeg1Rates(i uint32) int {
	return [...]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}[i]
}

func mpeg2Rates(i uint32) int {
	return [...]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}[i]
}

const (
	// searchFirst is how far the first frame may be from where it belongs.
	searchFirst = 128 << 10
	// searchNext is how far a frame may be from any point inside the audio: two
	// of the longest frames, and room for damage a decoder steps over.
	searchNext = 8 << 10
)

// findFrame looks from off for a header that a second one follows (or the end
// of the audio), like the frame given, if any.
func (s *source) findFrame(off, end int64, within int, like *frame) (int64, frame, bool) {
	for last := min(off+int64(within), end-4); off <= last; off++ {
		window, err := s.bytes(off, int(min(last-off+4, readAhead)))
		if err != nil {
			return 0, frame{}, false
		}
		at := bytes.IndexByte(window, 0xff)
		if at < 0 {
			off += int64(len(window)) - 1
			continue
		}
		off += int64(at)
		if off > last {
			break
		}
		b, err := s.bytes(off, 4)
		if err != nil {
			return 0, frame{}, false
		}
		f, ok := parseFrame(b)
		if !ok || (like != nil && !f.like(*like)) {
			continue
		}
		if s.followed(off, end, f) {
			return off, f, true
		}
	}
	return 0, frame{}, false
}

func (s *source) followed(off, end int64, f frame) bool {
	if off+f.length == end {
		return true
	}
	if off+f.length+4 > end {
		return false
	}
	b, err := s.bytes(off+f.length, 4)
	if err != nil {
		return false
	}
	next, ok := parseFrame(b)
	return ok && next.like(f)
}

func (s *source) mp3(start int64, t *tags) (Info, error) {
	if list, err := s.playlist(start); err != nil {
		return Info{}, err
	} else if list {
		return Info{}, broken("a playlist, not an audio file")
	}
	end := s.apeTag(s.id3v1(t))
	first, f, ok := s.findFrame(start, end, searchFirst, nil)
	if !ok {
		return Info{}, odd("no audio found")
	}
	info := Info{Format: "mp3", Channels: f.channels, SampleRate: f.rate}
	if clean, err := s.certainly(start, first, end, f); err != nil {
		return info, err
	} else if !clean {
		return info, odd("its first %d KiB are not audio alone", 1+(first-start)>>10)
	}
	v, err := s.vbrHeader(first, f)
	if err != nil {
		return info, err
	}
	if v.frames == 0 {
		info.Duration, err = s.bareMP3(first, end, f, v.present)
		return info, err
	}
	samples := v.frames * uint64(f.samples)
	if v.skip < samples {
		samples -= v.skip
	}
	info.Duration = perSecond(samples, f.rate)
	if err := s.promised(v, end-first, info.Duration); err != nil {
		return info, err
	}
	_, err = s.sampleFrames(first+f.length, end, f)
	return info, err
}

// playlist recognises a playlist, whatever follows it. It is searched behind tags
// too, because some decoders find it there.
func (s *source) playlist(start int64) (bool, error) {
	b, err := s.bytes(start, int(min(64, s.size-start)))
	if err != nil {
		return false, err
	}
	b = bytes.ToLower(bytes.TrimLeft(b, "\x00\xef\xbb\xbf \t\r\n"))
	for _, begin := range []string{"#extm3u", "ffconcat", "[playlist]", "<?xml", "<mpd", "<asx", "<smil"} {
		if bytes.HasPrefix(b, []byte(begin)) {
			return true, nil
		}
	}
	return false, nil
}

// firstFrames is how many frames in a row make every decoder take a file for MP3.
const firstFrames = 8

// certainly reports that only zeros and frames follow start. Other bytes may be a
// playlist, which a player would follow to any file or host: then a decoder has to
// identify the file.
func (s *source) certainly(start, first, end int64, f frame) (bool, error) {
	for off := start; off < first; {
		b, err := s.bytes(off, int(min(first-off, readAhead)))
		if err != nil {
			return false, err
		}
		if len(bytes.Trim(b, "\x00")) > 0 {
			return false, nil
		}
		off += int64(len(b))
	}
	for range firstFrames {
		b, err := s.bytes(first, 4)
		if err != nil && !errors.Is(err, errShort) {
			return false, err
		}
		if err != nil || first >= end {
			return false, nil
		}
		g, ok := parseFrame(b)
		if !ok || !g.like(f) {
			return false, nil
		}
		first += g.length
	}
	return true, nil
}

// vbr is the Xing/Info/LAME or VBRI header in the first frame.
type vbr struct {
	present bool
	frames  uint64
	bytes   int64  // of audio from the first frame on; 0 unknown
	skip    uint64 // samples of encoder delay and padding that no player plays
}

func (s *source) vbrHeader(first int64, f frame) (vbr, error) {
	b, err := s.bytes(first, int(min(f.length, s.size-first)))
	if err != nil {
		return vbr{}, err
	}
	u32 := func(at int) uint32 {
		if at+4 > len(b) {
			return 0
		}
		return binary.BigEndian.Uint32(b[at:])
	}
	at := 4 + int(f.side)
	if at+8 <= len(b) && (string(b[at:at+4]) == "Xing" || string(b[at:at+4]) == "Info") {
		v, flags := vbr{present: true}, u32(at+4)
		at += 8
		if flags&1 != 0 {
			v.frames = uint64(u32(at))
			at += 4
		}
		if flags&2 != 0 {
			v.bytes = int64(u32(at))
			at += 4
		}
		if flags&4 != 0 {
			at += 100
		}
		if flags&8 != 0 {
			at += 4
		}
		if at+24 <= len(b) && (string(b[at:at+4]) == "LAME" || string(b[at:at+4]) == "Lavc" || string(b[at:at+4]) == "Lavf") {
			gap := u32(at+20) & 0xffffff // 12 bits of delay, 12 of padding
			v.skip = uint64(gap>>12) + uint64(gap&0xfff)
		}
		return v, nil
	}
	if at = 4 + 32; at+18 <= len(b) && string(b[at:at+4]) == "VBRI" {
		return vbr{present: true, bytes: int64(u32(at + 10)), frames: uint64(u32(at + 14))}, nil
	}
	return vbr{}, nil
}

// promised compares the header's byte count with the file's.
func (s *source) promised(v vbr, have int64, claim time.Duration) error {
	if v.bytes == 0 {
		return nil
	}
	missing := float64(v.bytes-have) / float64(v.bytes) * float64(claim)
	if missing > float64(tolerated) {
		return broken("truncated: about %s of %s are there", (claim - time.Duration(missing)).Round(time.Second), claim.Round(time.Second))
	}
	if -missing > float64(tolerated) { // files joined end to end
		return odd("more audio follows than the header tells")
	}
	return nil
}

// probes is the number of points inside an MP3 at which a frame is searched.
const probes = 8

// sampleFrames looks for frames at points spread over the audio. It reports
// whether all have the bit rate of f; no frame at a point is odd.
func (s *source) sampleFrames(first, end int64, f frame) (constant bool, err error) {
	constant = true
	if end-first < 4*searchNext {
		return constant, nil
	}
	for i := int64(1); i <= probes; i++ {
		_, g, ok := s.findFrame(first+(end-first-2*searchNext)*i/probes, end, searchNext, &f)
		if !ok {
			return false, odd("damaged: no audio found at %d%% of the file", 100*i/probes)
		}
		constant = constant && g.bitrate == f.bitrate
	}
	return constant, nil
}

// bareMP3 returns the duration of an MP3 without a VBR header: by the bit rate if it
// is constant, else by counting every frame.
func (s *source) bareMP3(first, end int64, f frame, headerFrame bool) (time.Duration, error) {
	if headerFrame {
		first += f.length
	}
	constant, err := s.sampleFrames(first, end, f)
	if err != nil {
		return perSecond(uint64(end-first)*8, f.bitrate), err
	}
	if constant && end-first >= 4*searchNext {
		return perSecond(uint64(end-first)*8, f.bitrate), nil
	}
	return s.countFrames(first, end, f)
}

func (s *source) countFrames(off, end int64, f frame) (time.Duration, error) {
	var frames uint64
	for off+4 <= end {
		b, err := s.bytes(off, 4)
		if err != nil {
			return 0, err
		}
		g, ok := parseFrame(b)
		if ok && g.like(f) {
			frames++
			off += g.length
			continue
		}
		next, _, found := s.findFrame(off, end, searchNext, &f)
		if !found {
			if end-off > searchNext {
				return perSecond(frames*uint64(f.samples), f.rate), odd("damaged after %s", perSecond(frames*uint64(f.samples), f.rate).Round(time.Second))
			}
			break
		}
		off = next
	}
	return perSecond(frames*uint64(f.samples), f.rate), nil
}
