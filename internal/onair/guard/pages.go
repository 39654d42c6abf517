package guard

import "encoding/binary"

// pages walks over the pages of an Ogg stream (RFC 3533) to know whose they are.
type pages struct {
	serial uint32 // of the last page begun
	head   []byte // a header that is not whole yet
	skip   int    // bytes of the page's body still to come
}

const pageHeader = 27 // without the segment table, whose length is the last byte

func (p *pages) read(b []byte) {
	for len(b) > 0 {
		if p.skip > 0 {
			n := min(p.skip, len(b))
			p.skip, b = p.skip-n, b[n:]
			continue
		}
		p.head, b = append(p.head, b[0]), b[1:]
		if n := len(p.head); n <= 4 && p.head[n-1] != "OggS"[n-1] {
			// Not at a page: the server moves listeners in the middle of one.
			p.head = p.head[:0]
			continue
		}
		if len(p.head) < pageHeader || len(p.head) < pageHeader+int(p.head[pageHeader-1]) {
			continue
		}
		p.serial = binary.LittleEndian.Uint32(p.head[14:])
		for _, n := range p.head[pageHeader:] {
			p.skip += int(n)
		}
		p.head = p.head[:0]
	}
}
