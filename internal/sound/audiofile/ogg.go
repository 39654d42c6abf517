package audiofile

import (
	"bytes"
	"encoding/binary"
	"time"
)

// page is one Ogg page (RFC 3533).
type page struct {
	off, size int64
	flags     byte
	granule   int64 // -1: no packet ends here
	serial    uint32
	segments  []byte // lacing values
	body      int64
}

const (
	oggHeader = 27
	oggFirst  = 0x02
	oggLast   = 0x04
)

func (s *source) page(off int64) (page, bool, error) {
	b, err := s.bytes(off, oggHeader)
	if err != nil || string(b[:4]) != "OggS" || b[4] != 0 {
		return page{}, false, err
	}
	p := page{
		off: off, flags: b[5], granule: int64(binary.LittleEndian.Uint64(b[6:])), serial: binary.LittleEndian.Uint32(b[14:]),
	}
	n := int(b[26])
	b, err = s.bytes(off+oggHeader, n)
	if err != nil {
		return page{}, false, err
	}
	p.segments = bytes.Clone(b)
	p.body = off + oggHeader + int64(n)
	p.size = oggHeader + int64(n)
	for _, l := range p.segments {
		p.size += int64(l)
	}
	return p, true, nil
}

// oggStream is the audio stream being read: its first packets, then its times.
type oggStream struct {
	info    Info
	serial  uint32
	preSkip int64
	comment []byte // what precedes the comments in their packet
	granule int64  // of the first audio page
}

// identify recognises the first packet of an audio stream.
func identify(b []byte) (oggStream, bool) {
	has := func(magic string) bool { return bytes.HasPrefix(b, []byte(magic)) }
	switch {
	case has("\x01vorbis") && len(b) >= 16:
		return oggStream{comment: []byte("\x03vorbis"), info: Info{
			Format: "vorbis", Channels: int(b[11]), SampleRate: int(binary.LittleEndian.Uint32(b[12:])),
		}}, true
	case has("OpusHead") && len(b) >= 12:
		return oggStream{comment: []byte("OpusTags"), preSkip: int64(binary.LittleEndian.Uint16(b[10:])), info: Info{
			Format: "opus", Channels: int(b[9]), SampleRate: 48000, // granules count at 48 kHz (RFC 7845)
		}}, true
	case has("\x7fFLAC") && len(b) >= 17+streamInfoSize:
		si := parseStreamInfo(b[17:])
		return oggStream{info: Info{Format: "flac", Channels: si.channels, SampleRate: si.rate}}, true
	}
	return oggStream{}, false
}

func (s *source) ogg(start int64, t *tags) (Info, error) {
	stream, err := s.oggHeaders(start, t)
	if err != nil {
		return stream.info, err
	}
	last, err := s.lastPage(start, stream.serial)
	if err != nil {
		return stream.info, err
	}
	stream.info.Duration = perSecond(uint64(max(0, last.granule-stream.preSkip)), stream.info.SampleRate)
	// The first page ends within its own audio, unless the stream was cut out
	// of a longer one: then its clock does not start at 0.
	if perSecond(uint64(max(0, stream.granule)), stream.info.SampleRate) > 16*time.Second {
		return stream.info, odd("the Ogg clock does not start at 0")
	}
	return stream.info, nil
}

// oggHeaders reads the pages up to the first audio page.
func (s *source) oggHeaders(off int64, t *tags) (oggStream, error) {
	var stream oggStream
	var packet []byte
	packets, found := 0, false
	for range 4096 { // a comment packet with pictures spans many pages
		p, ok, err := s.page(off)
		if err != nil || !ok {
			return stream, or(err, odd("damaged: no Ogg page at byte %d", off))
		}
		off = p.off + p.size
		if p.flags&oggFirst != 0 && !found {
			b, err := s.bytes(p.body, int(min(p.size, s.size-p.body)))
			if err != nil {
				return stream, err
			}
			if stream, found = identify(b); found {
				stream.serial, packets = p.serial, 1
			}
			continue
		}
		if !found {
			return stream, odd("an Ogg file without Vorbis, Opus or FLAC audio")
		}
		if p.serial != stream.serial {
			continue
		}
		if packets >= 2 && p.granule > 0 {
			stream.granule = p.granule
			return stream, nil
		}
		if packets >= 2 {
			continue
		}
		if packet, err = s.packet(p, packet); err != nil {
			return stream, err
		}
		if p.granule != -1 || len(packet) > maxRead { // a packet ended: the comments are whole
			packets++
			t.oggComments(packet, stream)
		}
	}
	return stream, odd("no audio after the Ogg headers")
}

// packet appends the first packet's part in this page.
func (s *source) packet(p page, packet []byte) ([]byte, error) {
	n := 0
	for _, l := range p.segments {
		n += int(l)
		if l < 255 {
			break
		}
	}
	b, err := s.bytes(p.body, n)
	if err != nil {
		return nil, err
	}
	return append(packet, b...), nil
}

func (t *tags) oggComments(packet []byte, stream oggStream) {
	if stream.info.Format == "flac" && len(packet) > 4 { // a metadata block header
		t.vorbisComments(packet[4:])
		return
	}
	if rest, ok := bytes.CutPrefix(packet, stream.comment); ok {
		t.vorbisComments(rest)
	}
}

// lastPage finds the last whole page with a time. A file that ends inside a
// page is cut off.
func (s *source) lastPage(start int64, serial uint32) (page, error) {
	const (
		most         = 65307    // bytes in the longest page
		mostTrailing = 4096     // bytes of tags that some programs append
		mostSummed   = 8 * most // the letters "OggS" come by chance once in four gigabytes of audio
	)
	from := max(start, s.size-2*most)
	b, err := s.bytes(from, int(s.size-from))
	if err != nil {
		return page{}, err
	}
	tail := bytes.Clone(b)
	var best page
	summed := int64(0)
	for at := len(tail); best.size == 0; {
		if at = bytes.LastIndex(tail[:at], []byte("OggS")); at < 0 {
			break
		}
		p, ok, err := s.page(from + int64(at))
		cut := err != nil || (ok && p.off+p.size > s.size)
		switch {
		case cut && s.plausible(from, tail[:at]):
			return page{}, broken("truncated: the file ends in the middle of a page")
		case !ok || cut || p.granule <= 0:
			continue
		}
		if summed += p.size; summed > mostSummed {
			return page{}, odd("what looks like Ogg pages near its end are none")
		}
		switch {
		case !pageSum(tail[at : at+int(p.size)]):
		case p.serial != serial:
			return page{}, odd("several Ogg streams one after another")
		default:
			best = p
		}
	}
	if best.size == 0 || s.size-best.off-best.size > mostTrailing {
		return page{}, broken("damaged or unfinished: no whole Ogg page near its end")
	}
	return best, nil
}

// plausible tells a truncated page from the letters "OggS" inside audio: a whole page
// ends exactly where it begins.
func (s *source) plausible(from int64, before []byte) bool {
	at := bytes.LastIndex(before, []byte("OggS"))
	if at < 0 {
		return false
	}
	p, ok, err := s.page(from + int64(at))
	return err == nil && ok && p.off+p.size == from+int64(len(before)) && pageSum(before[at:])
}

// pageSum checks a page's CRC-32, its own field as zero.
func pageSum(b []byte) bool {
	want := binary.LittleEndian.Uint32(b[22:])
	var crc uint32
	for i, c := range b {
		if i >= 22 && i < 26 {
			c = 0
		}
		crc = crc<<8 ^ oggCRC[byte(crc>>24)^c]
	}
	return crc == want
}

// oggCRC are the remainders of each byte: polynomial 04c11db7, not reflected.
var oggCRC = func() (table [256]uint32) {
	for i := range table {
		table[i] = uint32(i) << 24 //nolint:gosec // at most 255
		for range 8 {
			table[i] = table[i]<<1 ^ table[i]>>31*0x04c11db7
		}
	}
	return table
}()

func or(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
