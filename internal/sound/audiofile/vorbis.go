package audiofile

import (
	"bytes"
	"encoding/binary"
)

// vorbisComments reads the comment block that Vorbis, Opus and FLAC share
// (xiph.org/vorbis/doc/v-comment.html). A block that was cut yields what it has.
func (t *tags) vorbisComments(b []byte) {
	length := func() (int, bool) {
		if len(b) < 4 {
			return 0, false
		}
		n := binary.LittleEndian.Uint32(b)
		b = b[4:]
		return int(n), int64(n) <= int64(len(b))
	}
	n, ok := length() // the vendor
	if !ok {
		return
	}
	b = b[n:]
	if len(b) < 4 {
		return
	}
	count := binary.LittleEndian.Uint32(b)
	b = b[4:]
	for ; count > 0; count-- {
		n, ok := length()
		if !ok {
			return
		}
		if key, value, ok := bytes.Cut(b[:n], []byte{'='}); ok && len(value) <= maxFrame {
			t.set(string(key), Text(value))
		}
		b = b[n:]
	}
}
