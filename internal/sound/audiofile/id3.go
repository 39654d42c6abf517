package audiofile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// skipID3 reads the ID3v2 tags at the start of the file (some writers leave
// several) and returns where they end.
func (s *source) skipID3(t *tags) (int64, error) {
	var off int64
	for range 8 {
		end, err := s.id3v2(off, t)
		if err != nil {
			return 0, err
		}
		if end == off {
			break
		}
		off = end
	}
	return off, nil
}

const id3HeaderSize = 10

// id3v2 reads one ID3v2.2, 2.3 or 2.4 tag at off (id3.org) and returns its end,
// or off when there is none.
func (s *source) id3v2(off int64, t *tags) (int64, error) {
	head, err := s.bytes(off, id3HeaderSize)
	if errors.Is(err, errShort) || (err == nil && string(head[:3]) != "ID3") {
		return off, nil
	}
	if err != nil {
		return 0, err
	}
	version, flags := head[3], head[5]
	size, ok := synchsafe(head[6:10])
	if !ok || version < 2 || version > 4 || (version < 4 && flags&0x10 != 0) { // a footer before 2.4: decoders differ on the end
		return off, nil
	}
	body := off + id3HeaderSize
	end := body + int64(size)
	if version == 4 && flags&0x10 != 0 {
		end += id3HeaderSize // a footer
	}
	if end > s.size {
		return 0, broken("truncated inside its tags: %d of %d bytes of them are there", s.size-off, end-off)
	}
	frames := id3Frames{s: s, off: body, end: body + int64(size), version: version}
	if flags&0x80 != 0 && version < 4 { // unsynchronised as a whole
		raw, err := s.bytes(body, int(min(int64(size), maxRead)))
		if err != nil {
			return 0, err
		}
		plain := desync(raw)
		frames.s, frames.off, frames.end = &source{r: bytes.NewReader(plain), size: int64(len(plain))}, 0, int64(len(plain))
	}
	if flags&0x40 != 0 && version > 2 {
		frames.skipExtendedHeader()
	}
	for frames.next(t) {
	}
	return end, nil
}

func synchsafe(b []byte) (int, bool) {
	if (b[0]|b[1]|b[2]|b[3])&0x80 != 0 {
		return 0, false
	}
	return int(b[0])<<21 | int(b[1])<<14 | int(b[2])<<7 | int(b[3]), true
}

// desync undoes unsynchronisation: every FF 00 was an FF.
func desync(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte{0xff, 0}, []byte{0xff})
}

// id3Frames walks the frames of a tag; pictures are stepped over unread.
type id3Frames struct {
	s        *source
	off, end int64
	version  byte
}

func (f *id3Frames) skipExtendedHeader() {
	b, err := f.s.bytes(f.off, 4)
	if err != nil {
		return
	}
	if f.version == 3 {
		f.off += 4 + int64(binary.BigEndian.Uint32(b))
	} else if n, ok := synchsafe(b); ok {
		f.off += int64(n)
	}
}

// maxFrame is the largest text frame worth reading.
const maxFrame = 64 << 10

func (f *id3Frames) next(t *tags) bool {
	headSize, idSize := 10, 4
	if f.version == 2 {
		headSize, idSize = 6, 3
	}
	if f.off+int64(headSize) > f.end {
		return false
	}
	head, err := f.s.bytes(f.off, headSize)
	if err != nil || !isFrameID(head[:idSize]) {
		return false // padding, or damage: what was read so far stands
	}
	id := string(head[:idSize])
	var size int64
	var flags byte
	switch f.version {
	case 2:
		size = int64(head[3])<<16 | int64(head[4])<<8 | int64(head[5])
	case 3:
		size, flags = int64(binary.BigEndian.Uint32(head[4:])), 0
		if head[9]&0xc0 != 0 { // compressed or encrypted
			id = ""
		}
	case 4:
		size, flags = f.size24(head), head[9]
	}
	body := f.off + int64(headSize)
	f.off = body + size
	if size <= 0 || f.off > f.end {
		return size == 0
	}
	if size > maxFrame || flags&0x0c != 0 || !wanted(id) {
		return true
	}
	b, err := f.s.bytes(body, int(size))
	if err != nil {
		return false
	}
	if flags&0x01 != 0 && len(b) > 4 { // data length indicator
		b = b[4:]
	}
	if flags&0x02 != 0 {
		b = desync(b)
	}
	t.frame(id, b)
	return true
}

// size24 reads a 2.4 frame size: synchsafe by the standard, plain in files an
// old iTunes wrote. Where the two differ, the one a frame or the end follows.
func (f *id3Frames) size24(head []byte) int64 {
	plain := int64(binary.BigEndian.Uint32(head[4:]))
	safe, ok := synchsafe(head[4:8])
	if !ok {
		return plain
	}
	if int64(safe) == plain {
		return plain
	}
	next := f.off + 10 + int64(safe)
	if next == f.end {
		return int64(safe)
	}
	if b, err := f.s.bytes(next, 4); err == nil && (isFrameID(b) || b[0] == 0) {
		return int64(safe)
	}
	return plain
}

func isFrameID(id []byte) bool {
	for _, c := range id {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// frameField maps 2.3/2.4 and 2.2 text and link frames to fields.
func frameField(id string) string {
	switch id {
	case "TIT2", "TT2":
		return "TITLE"
	case "TPE1", "TP1":
		return "ARTIST"
	case "TPE2", "TP2":
		return "ALBUMARTIST"
	case "TALB", "TAL":
		return "ALBUM"
	case "TCON", "TCO":
		return "GENRE"
	case "TCOP", "TCR":
		return "COPYRIGHT"
	case "WCOP", "WCP":
		return "COPYRIGHTURL"
	case "TSRC", "TRC":
		return "ISRC"
	case "TPUB", "TPB":
		return "PUBLISHER"
	case "TCOM", "TCM":
		return "COMPOSER"
	}
	return ""
}

func wanted(id string) bool {
	switch id {
	case "TXXX", "TXX", "COMM", "COM":
		return true
	}
	return frameField(id) != ""
}

func (t *tags) frame(id string, b []byte) {
	switch id {
	case "WCOP", "WCP":
		t.set("COPYRIGHTURL", Text(b))
	case "TXXX", "TXX":
		if texts := frameTexts(b, 1); len(texts) >= 2 {
			t.set(texts[0], texts[1])
		}
	case "COMM", "COM":
		// A comment with a description is some program's private note.
		if texts := frameTexts(b, 4); len(texts) >= 2 && texts[0] == "" {
			t.set("COMMENT", texts[1])
		}
	default:
		for _, text := range frameTexts(b, 1) {
			t.set(frameField(id), text)
		}
	}
}

// frameTexts decodes the NUL-separated texts after skip bytes of prefix, the
// first of which names the encoding.
func frameTexts(b []byte, skip int) []string {
	if len(b) <= skip {
		return nil
	}
	encoding, b := b[0], b[skip:]
	if encoding == 1 || encoding == 2 {
		return strings.Split(wideTexts(b, encoding), "\x00")
	}
	var out []string
	for part := range bytes.SplitSeq(b, []byte{0}) {
		out = append(out, Text(part))
	}
	return out
}

// wideTexts decodes UTF-16 texts, each of which may bring its own byte order mark.
func wideTexts(b []byte, encoding byte) string {
	var order binary.ByteOrder = binary.LittleEndian
	if encoding == 2 || (len(b) >= 2 && b[0] == 0xfe && b[1] == 0xff) {
		order = binary.BigEndian
	}
	return strings.ReplaceAll(utf16Text(b, order), "\ufeff", "")
}

// id3v1 reads the 128-byte tag at the end of an MP3 and returns where the audio
// before it ends. Its 30-byte fields are cut, so they fill only what is empty.
func (s *source) id3v1(t *tags) int64 {
	const size = 128
	if s.size < size {
		return s.size
	}
	b, err := s.bytes(s.size-size, size)
	if err != nil || string(b[:3]) != "TAG" {
		return s.size
	}
	field := func(from, to int) string {
		text, _, _ := bytes.Cut(b[from:to], []byte{0})
		return Text(text)
	}
	t.set("TITLE", field(3, 33))
	if len(t.artists) == 0 {
		t.set("ARTIST", field(33, 63))
	}
	t.set("ALBUM", field(63, 93))
	return s.size - size
}

// apeTag returns where the audio before an APEv2 tag ends (its texts repeat
// those of ID3 in every file a broadcaster meets).
func (s *source) apeTag(end int64) int64 {
	const footer = 32
	b, err := s.bytes(end-footer, footer)
	if err != nil || string(b[:8]) != "APETAGEX" {
		return end
	}
	size := int64(binary.LittleEndian.Uint32(b[12:]))
	if b[23]&0x80 != 0 {
		size += footer // a header too
	}
	if size > end {
		return end
	}
	return end - size
}
