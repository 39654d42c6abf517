package check

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
)

// isMP4 reports a file of ISO boxes (ISO/IEC 14496-12), QuickTime's older ones included.
func isMP4(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	switch string(head[4:8]) {
	case "ftyp", "moov", "mdat", "wide", "free", "skip", "styp", "moof", "pnot":
		return true
	}
	return false
}

const (
	mostBoxes = 5_000
	deepest   = 12
)

// walk visits the boxes from at to end. visit says whether to go into one, and how many
// bytes of it come before its children.
func (f *file) walk(at, end int64, depth int, visit func(kind string, body, end int64) (skip int64, into bool, err error)) error {
	if depth > deepest {
		return errShape
	}
	for n := 0; at+8 <= end; n++ {
		head, err := f.bytes(at, 16)
		if err != nil {
			return err
		}
		if len(head) < 8 || n > mostBoxes {
			return errShape
		}
		size, body := int64(binary.BigEndian.Uint32(head)), at+8
		switch {
		case size == 0: // to the end
			size = end - at
		case size == 1 && len(head) == 16:
			size, body = int64(binary.BigEndian.Uint64(head[8:])&(1<<63-1)), at+16
		}
		if size < body-at {
			return errShape
		}
		next := end
		if size < end-at {
			next = at + size
		}
		skip, into, err := visit(string(head[4:8]), body, next)
		if err == nil && into && body+skip < next {
			err = f.walk(body+skip, next, depth+1, visit)
		}
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

// mp4 refuses protected tracks and tracks whose sound is in another file.
func (f *file) mp4(*structure) error {
	return f.walk(0, f.size, 0, func(kind string, body, end int64) (int64, bool, error) {
		switch kind {
		case "ftyp":
			brand, err := f.bytes(body, 4)
			if err == nil && (bytes.Equal(brand, []byte("aax ")) || bytes.Equal(brand, []byte("aaxc"))) {
				err = refuse(refusal.Protected, "Audible")
			}
			return 0, false, err
		case "moov", "trak", "mdia", "minf", "stbl", "dinf":
			return 0, true, nil
		case "stsd", "dref":
			return 8, true, nil // version, flags and a count
		case "drms", "drmi", "enca", "encv", "aavd":
			return 0, false, refuse(refusal.Protected, kind)
		case "url ", "urn ", "alis", "rsrc", "rdrf":
			return 0, false, f.elsewhere(body, end)
		}
		return 0, false, nil
	})
}

// elsewhere refuses a data reference that is not to the file itself (flag 1).
func (f *file) elsewhere(body, end int64) error {
	if end-body < 4 {
		return nil
	}
	flags, err := f.exactly(body, 4)
	if err == nil && flags[3]&1 == 0 {
		err = refuse(refusal.Playlist, "its sound is in another file")
	}
	return err
}

// skipID3 returns where the file begins behind ID3v2 tags, and refuses absurd ones.
func (f *file) skipID3(*structure) (int64, error) {
	at := int64(0)
	for range 8 {
		head, err := f.bytes(at, 10)
		if err != nil || len(head) < 10 || !bytes.HasPrefix(head, []byte("ID3")) {
			return at, err
		}
		size := synchsafe(head[6:10])
		if size < 0 {
			return at, nil
		}
		if size > mostTags {
			return at, refuse(refusal.TagsAbsurd, fmt.Sprintf("its tag is %d MB long", size>>20))
		}
		if err := f.frames(at+10, min(at+10+size, f.size), head[3], head[5]); plain(err) != nil {
			return at, err
		}
		at += 10 + size
		if head[5]&0x10 != 0 { // a footer
			at += 10
		}
	}
	return at, nil
}

// mostTags is the most that a tag may hold, in bytes: a picture for print is a tenth of it.
const mostTags = 32 << 20

// synchsafe reads 28 bits; -1 if they are none.
func synchsafe(b []byte) int64 {
	n := int64(0)
	for _, c := range b {
		if c&0x80 != 0 {
			return -1
		}
		n = n<<7 | int64(c)
	}
	return n
}

// frames refuses frames that unpack to more than a tag may hold.
func (f *file) frames(at, end int64, version, flags byte) error {
	if version < 3 || flags&0x40 != 0 { // 2.2 cannot compress; extended headers are not met
		return nil
	}
	for at+10 <= end {
		head, err := f.exactly(at, 10)
		if err != nil || head[0] == 0 {
			return err
		}
		size := int64(binary.BigEndian.Uint32(head[4:8]))
		compressed := head[9]&0x80 != 0
		if version >= 4 {
			size, compressed = synchsafe(head[4:8]), head[9]&0x08 != 0
		}
		if size < 0 {
			return errShape
		}
		if compressed {
			length, err := f.exactly(at+10, 4)
			if err != nil {
				return err
			}
			if whole := binary.BigEndian.Uint32(length); whole > mostTags {
				return refuse(refusal.TagsAbsurd, fmt.Sprintf("a tag unpacks to %d MB", whole>>20))
			}
		}
		at += 10 + size
	}
	return nil
}
