package output

import (
	"bytes"
	"encoding/binary"
	"time"
)

const (
	// starts is how every page of an Ogg stream begins; begins, the first of a logical
	// stream (RFC 3533).
	starts = "OggS\x00"
	begins = "OggS\x00\x02"
	// pageHead is the length of a page's head before its table of segments.
	pageHead = 27
	// headers is how many bytes after a logical stream's beginning may hold its comments.
	headers = 4 << 10
	// usualRate is the rate of a stream whose first page does not tell, Hz.
	usualRate = 44_100
	// mostPage is the most audio that one page can hold; a position that leaps by more is a
	// beginning, or damaged.
	mostPage = 10 * time.Second
)

// pages reads what the pages of an Ogg stream tell of themselves: whether a logical stream
// is marked in the comments at its head, and how much audio has come. It ignores the
// lengths of pages, because a server may switch listeners to another stream in the
// middle of one.
type pages struct {
	mark   []byte
	marked bool          // the stream that is being read has the mark
	audio  time.Duration // that came in all, by the positions of the pages

	rate   uint32 // of the stream that is being read, Hz
	serial uint32
	at     int64 // position of the last page, in samples; -1: none

	last []byte // the end of what was read, where a page may have begun
	left int    // bytes that may still hold the mark
}

func (p *pages) read(b []byte) {
	b = append(p.last, b...) //nolint:gocritic // a copy is meant
	seen := len(p.last)      // of b, searched for the mark before
	for {
		at := bytes.Index(b, []byte(starts))
		if at < 0 {
			p.look(b, seen)
			keep := min(len(b), max(len(begins), len(p.mark))-1)
			p.last = bytes.Clone(b[len(b)-keep:])
			return
		}
		p.look(b[:at], seen)
		if len(b)-at < pageHead+1+16 { // wait for all of the head, and of Vorbis's first words
			p.last = bytes.Clone(b[at:])
			return
		}
		p.page(b[at:])
		b, seen = b[at+len(starts):], 0
	}
}

// page takes note of a page's head.
func (p *pages) page(b []byte) {
	position, serial := int64(binary.LittleEndian.Uint64(b[6:])), binary.LittleEndian.Uint32(b[14:]) //nolint:gosec // the same bits: -1 is "none ends here"
	if bytes.HasPrefix(b, []byte(begins)) {
		p.marked, p.left, p.serial, p.at, p.rate = false, headers, serial, -1, usualRate
		// The identification header: "\x01vorbis", version (4), channels (1), rate (4), after a
		// table of one segment (Vorbis I, 4.2.2).
		if first := b[pageHead+1:]; bytes.HasPrefix(first, []byte("\x01vorbis")) {
			if rate := binary.LittleEndian.Uint32(first[12:]); rate > 0 {
				p.rate = rate
			}
		}
		return
	}
	if position < 0 {
		return
	}
	if serial != p.serial { // turned over in the middle of another stream
		p.serial, p.at = serial, -1
	}
	if p.at >= 0 && position > p.at {
		if came := samples(position-p.at, p.rate); came <= mostPage {
			p.audio += came
		}
	}
	p.at = position
}

func samples(n int64, rate uint32) time.Duration {
	return time.Duration(float64(n) / float64(rate) * float64(time.Second))
}

// look looks for the mark in what follows the head of a stream; the first seen bytes
// were looked at before.
func (p *pages) look(b []byte, seen int) {
	if p.left > 0 && bytes.Contains(b, p.mark) {
		p.marked, p.left = true, 0
	}
	p.left = max(0, p.left-max(0, len(b)-seen))
}
