package guard

import "bytes"

const (
	// begins is how the first page of a logical Ogg stream begins (RFC 3533).
	begins = "OggS\x00\x02"
	// headers is how far behind it the comments are looked for.
	headers = 4 << 10
)

// pages tells whose Ogg stream is being read: the comments at the head of each
// logical stream may hold a mark. It keeps to no page's length, because a server
// that turns listeners over to another stream may do it in the middle of one.
type pages struct {
	mark   []byte
	marked bool // the stream that is being read has the mark

	last []byte // the end of what was read, where a pattern may have begun
	left int    // bytes in which the mark may still come
}

func (p *pages) read(b []byte) {
	b = append(p.last, b...) //nolint:gocritic // a copy is meant
	for {
		at := bytes.Index(b, []byte(begins))
		head := b
		if at >= 0 {
			head = b[:at]
		}
		p.look(head)
		if at < 0 {
			break
		}
		b = b[at+len(begins):]
		p.marked, p.left, p.last = false, headers, nil
	}
	keep := min(len(b), max(len(begins), len(p.mark))-1)
	p.last = bytes.Clone(b[len(b)-keep:])
}

// look looks for the mark in what follows the head of a stream.
func (p *pages) look(b []byte) {
	if p.left > 0 && bytes.Contains(b, p.mark) {
		p.marked, p.left = true, 0
	}
	p.left = max(0, p.left-max(0, len(b)-len(p.last)))
}
