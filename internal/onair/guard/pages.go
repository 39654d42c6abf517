package guard

import "bytes"

const (
	// begins is how the first page of a logical Ogg stream begins (RFC 3533).
	begins = "OggS\x00\x02"
	// headers is how many bytes after it may hold the comments.
	headers = 4 << 10
)

// pages tells whether the Ogg stream being read is marked in the comments at the
// head of each logical stream. It ignores page lengths, because a server may switch
// listeners to another stream in the middle of a page.
type pages struct {
	mark   []byte
	marked bool // the stream that is being read has the mark

	last []byte // the end of what was read, where a pattern may have begun
	left int    // bytes that may still hold the mark
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
