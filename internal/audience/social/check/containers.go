package check

import (
	"bytes"
	"encoding/binary"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
)

// Elements of Matroska (RFC 9559) that matter here.
const (
	ebmlHead        = 0x1A45DFA3
	segment         = 0x18538067
	segmentInfo     = 0x1549A966
	previousSegment = 0x3CB923
	nextSegment     = 0x3EB923
	previousFile    = 0x3C83AB
	nextFile        = 0x3E83BB
	tracksElement   = 0x1654AE6B
	trackEntry      = 0xAE
	encodings       = 0x6D80
	encoding        = 0x6240
	encryption      = 0x5035
	attachments     = 0x1941A469
	chapters        = 0x1043A770
	edition         = 0x45B9
	chapterAtom     = 0xB6
	chapterSegment  = 0x6E67
)

// matroska refuses encrypted tracks, and notes attachments and links to other files.
func (f *file) matroska(s *structure) error { return f.elements(s, 0, f.size, 0) }

func (f *file) elements(s *structure, at, end int64, depth int) error {
	if depth > deepest {
		return errShape
	}
	for n := 0; at < end; n++ {
		id, size, body, err := f.element(at)
		if err != nil {
			return err
		}
		if n > mostBoxes {
			return errShape
		}
		next := end
		if size >= 0 && size < end-body {
			next = body + size
		}
		switch id {
		case segment, segmentInfo, tracksElement, trackEntry, encodings, encoding, chapters, edition, chapterAtom:
			err = f.elements(s, body, next, depth+1)
		case encryption:
			err = refuse(refusal.Protected, "")
		case attachments:
			s.note(NoteAttachments)
		case previousSegment, nextSegment, previousFile, nextFile, chapterSegment:
			s.note(NoteLinked)
		}
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

// element reads the head of one; its size is -1 when unknown.
func (f *file) element(at int64) (id uint32, size, body int64, err error) {
	head, err := f.bytes(at, 12)
	if err != nil {
		return 0, 0, 0, err
	}
	n := leading(head)
	if n == 0 || n > 4 || len(head) <= n {
		return 0, 0, 0, errShape
	}
	for _, b := range head[:n] {
		id = id<<8 | uint32(b)
	}
	head = head[n:]
	m := leading(head)
	if m == 0 || len(head) < m {
		return 0, 0, 0, errShape
	}
	value, ones := uint64(head[0])&(0xff>>m), uint64(0xff>>m)
	for _, b := range head[1:m] {
		value, ones = value<<8|uint64(b), ones<<8|0xff
	}
	if value == ones {
		return id, -1, at + int64(n+m), nil
	}
	return id, int64(value), at + int64(n+m), nil
}

// leading is the length of a variable-size number, 1 to 8; 0 if it is none.
func leading(b []byte) int {
	if len(b) == 0 || b[0] == 0 {
		return 0
	}
	n := 1
	for mask := byte(0x80); b[0]&mask == 0; mask >>= 1 {
		n++
	}
	return n
}

func asfHeader() []byte {
	return []byte("\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c")
}

// asf refuses a file whose header holds one of the three encryption objects of Microsoft's
// Advanced Systems Format, or a length that the file does not have.
func (f *file) asf(start int64) error {
	head, err := f.exactly(start, 30)
	if err != nil {
		return err
	}
	end := min(f.size, start+int64(binary.LittleEndian.Uint64(head[16:])&(1<<62-1)))
	locks := [][]byte{
		[]byte("\xfb\xb3\x11\x22\x23\xbd\xd2\x11\xb4\xb7\x00\xa0\xc9\x55\xfc\x6e"),
		[]byte("\x14\xe6\x8a\x29\x22\x26\x17\x4c\xb9\x35\xda\xe0\x7e\xe9\x28\x9c"),
		[]byte("\x33\x85\x05\x43\x81\x69\xe6\x49\x9b\x74\xad\x12\xcb\x86\xd5\x8c"),
	}
	properties := []byte("\xa1\xdc\xab\x8c\x47\xa9\xcf\x11\x8e\xe4\x00\xc0\x0c\x20\x53\x65")
	for at, n := start+30, 0; at+24 <= end && n < mostBoxes; n++ {
		object, err := f.exactly(at, 24)
		if err != nil {
			return err
		}
		for _, lock := range locks {
			if bytes.Equal(object[:16], lock) {
				return refuse(refusal.Protected, "")
			}
		}
		if bytes.Equal(object[:16], properties) {
			if err := f.asfLength(at); err != nil {
				return err
			}
		}
		size := int64(binary.LittleEndian.Uint64(object[16:]) & (1<<62 - 1))
		if size < 24 {
			return errShape
		}
		at += size
	}
	return nil
}

// asfLength refuses a file that is shorter than its properties say, unless it is the record
// of a broadcast, which does not know.
func (f *file) asfLength(at int64) error {
	p, err := f.exactly(at, 92)
	if err != nil {
		return err
	}
	if whole := int64(binary.LittleEndian.Uint64(p[40:]) & (1<<62 - 1)); p[88]&1 == 0 && whole > f.size {
		return refuse(refusal.Truncated, "")
	}
	return nil
}
