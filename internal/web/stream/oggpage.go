package stream

import (
	"bytes"
	"encoding/binary"
)

// Ogg page layout and limits, RFC 3533 section 6.
const (
	oggFixed   = 27                       // header bytes before the lacing table
	oggMaxPage = oggFixed + 255 + 255*255 // 65,307 bytes
	flagCont   = 1                        // begins inside a packet
	flagBOS    = 2                        // begins a logical stream
	oggCapture = "OggS"
)

// page is one whole Ogg page whose checksum holds.
type page []byte

func (p page) continued() bool  { return p[5]&flagCont != 0 }
func (p page) begins() bool     { return p[5]&flagBOS != 0 }
func (p page) granule() int64   { return int64(binary.LittleEndian.Uint64(p[6:])) } //nolint:gosec // signed by RFC 3533
func (p page) serial() uint32   { return binary.LittleEndian.Uint32(p[14:]) }
func (p page) sequence() uint32 { return binary.LittleEndian.Uint32(p[18:]) }
func (p page) checksum() uint32 { return binary.LittleEndian.Uint32(p[22:]) }
func (p page) lacing() []byte   { return p[oggFixed : oggFixed+int(p[26])] }
func (p page) body() []byte     { return p[oggFixed+int(p[26]):] }

// packets counts the packets that end on the page.
func (p page) packets() int {
	n := 0
	for _, v := range p.lacing() {
		if v < 255 {
			n++
		}
	}
	return n
}

// pageParser finds pages in a byte stream and skips what lies between them. It
// holds no more than one page and the last write.
type pageParser struct{ buf []byte }

// write takes the next bytes and calls emit for each page they complete. The
// page is valid during the call only.
func (s *pageParser) write(p []byte, emit func(page)) {
	s.buf = append(s.buf, p...)
	rest := s.buf
	for {
		pg, skip, more := firstPage(rest)
		rest = rest[skip:]
		if more {
			break
		}
		emit(pg)
		rest = rest[len(pg):]
	}
	s.buf = append(s.buf[:0], rest...)
}

// firstPage finds the first page in b, after skip bytes that belong to none. With
// more, b must grow before the next page can be read.
func firstPage(b []byte) (pg page, skip int, more bool) {
	for {
		i := bytes.Index(b[skip:], []byte(oggCapture))
		if i < 0 {
			// b may end with the beginning of the capture pattern.
			return nil, max(skip, len(b)-len(oggCapture)+1), true
		}
		skip += i
		size, more := pageSize(b[skip:])
		if more {
			return nil, skip, true
		}
		if size > 0 {
			if pg := page(b[skip : skip+size : skip+size]); checksum(pg) == pg.checksum() {
				return pg, skip, false
			}
		}
		skip++ // "OggS" by chance, or a damaged page
	}
}

// pageSize reads the length of the page that begins at b[0]: 0 when no page can
// begin there.
func pageSize(b []byte) (size int, more bool) {
	if len(b) > 4 && b[4] != 0 { // the only version there is
		return 0, false
	}
	if len(b) < oggFixed || len(b) < oggFixed+int(b[26]) {
		return 0, true
	}
	size = oggFixed + int(b[26])
	for _, v := range b[oggFixed:size] {
		size += int(v)
	}
	return size, len(b) < size
}

// checksum is the page's CRC-32 with polynomial 0x04c11db7, unreflected and
// without inversion, its own field taken as zero.
func checksum(p page) uint32 {
	var crc uint32
	for i, v := range p {
		if i >= 22 && i < 26 {
			v = 0
		}
		crc = crc<<8 ^ oggCRC[byte(crc>>24)^v]
	}
	return crc
}

var oggCRC = func() (table [256]uint32) {
	for i := range table {
		crc := uint32(i) << 24 //nolint:gosec // i < 256
		for range 8 {
			if crc&(1<<31) != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
}()
