package standby

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"time"
)

// rate is the master stream's, in Hz: granule positions count its samples.
const rate = 44100

// loop is one logical Ogg stream (RFC 3533) of Vorbis, cut into pages.
type loop struct {
	header [][]byte // the pages with the three header packets
	data   [][]byte
	length uint64 // samples
}

const (
	headerSize    = 27
	headerPackets = 3 // of Vorbis
	endOfStream   = 4 // bit of a page's header type
)

// seam is the most that a decoder outputs for the first packet when another comes
// before it; at the head of a stream it outputs nothing for it.
const seam = 1024 // samples

var errDamaged = errors.New("not a complete Ogg file")

// parse cuts a file into its pages.
func parse(file []byte) (*loop, error) {
	l, seen := &loop{}, 0
	for len(file) > 0 {
		size, ended := measure(file)
		if size == 0 {
			return nil, errDamaged
		}
		page := slices.Clone(file[:size])
		file = file[size:]
		if seen < headerPackets {
			l.header = append(l.header, page)
			seen += ended
			continue
		}
		l.data = append(l.data, page)
		l.length = max(l.length, granule(page))
	}
	if seen != headerPackets || len(l.data) == 0 || l.length < rate {
		return nil, errDamaged
	}
	return l, nil
}

// measure returns the size of the page at the head of b and how many packets end
// on it; 0 where the page is not complete.
func measure(b []byte) (size, ended int) {
	if len(b) < headerSize || !bytes.HasPrefix(b, []byte("OggS")) || len(b) < headerSize+int(b[26]) {
		return 0, 0
	}
	size = headerSize + int(b[26])
	for _, n := range b[headerSize:size] {
		size += int(n)
		if n < 255 {
			ended++
		}
	}
	if size > len(b) {
		return 0, 0
	}
	return size, ended
}

func granule(page []byte) uint64 {
	g := binary.LittleEndian.Uint64(page[6:])
	if g == 1<<64-1 { // no packet ends on this page
		return 0
	}
	return g
}

// pages yields the loop without end: one logical stream of that serial number, each
// page with the time at which its audio ends.
func (l *loop) pages(serial uint32) iter.Seq2[time.Duration, []byte] {
	return func(yield func(time.Duration, []byte) bool) {
		number := uint32(0)
		send := func(page []byte, offset uint64) bool {
			p := slices.Clone(page)
			p[5] &^= endOfStream
			at := time.Duration(0)
			if g := granule(p); g > 0 {
				g += offset
				binary.LittleEndian.PutUint64(p[6:], g)
				at = time.Duration(float64(g) / rate * float64(time.Second))
			}
			binary.LittleEndian.PutUint32(p[14:], serial)
			binary.LittleEndian.PutUint32(p[18:], number)
			binary.LittleEndian.PutUint32(p[22:], 0)
			binary.LittleEndian.PutUint32(p[22:], checksum(p))
			number++
			return yield(at, p)
		}
		for _, page := range l.header {
			if !send(page, 0) {
				return
			}
		}
		for offset := uint64(0); ; offset += l.length + seam {
			for _, page := range l.data {
				if !send(page, offset) {
					return
				}
			}
		}
	}
}

// checksum is Ogg's: a CRC of 32 bits, polynomial 0x04c11db7, not reflected.
func checksum(page []byte) uint32 {
	var crc uint32
	for _, b := range page {
		crc ^= uint32(b) << 24
		for range 8 {
			if crc&0x80000000 != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}
