package stream

import (
	"bytes"
	"encoding/binary"
)

// repeatLimit is how many bytes of one link a new connection may repeat: twice
// Icecast's burst. Beyond it the source has begun again, and its pages are sent.
const repeatLimit = 128 << 10

// maxHeader is the most a link's header pages may hold: cover art may be among
// the comments, but every listener is sent them.
const maxHeader = 1 << 20

// oggFramer cuts physical Ogg streams, chained (one link per track, as
// Liquidsoap and ffmpeg send them) or multiplexed, into pages.
type oggFramer struct {
	pages pageParser
	next  *oggLink // its header is still being collected; nil between links
	link  *oggLink // on air; nil before the first
	// fresh: no header has come on this connection yet. If the first one is
	// link's, the connection goes on where the last one broke off.
	fresh    bool
	repeated int // bytes this connection repeated
}

// oggLink is one link of the chain.
type oggLink struct {
	header  []byte // the header pages of all its streams
	streams []*oggStream
	begun   bool // all its BOS pages have come, so another starts the next link
}

// oggStream is one logical stream of a link.
type oggStream struct {
	serial uint32
	need   int               // header packets still to come; -1: all until a page has a granule position
	sent   map[uint32]uint32 // sequence number → checksum of the last sentPages pages
	last   uint32            // sequence number of the last page sent
	// resumed: the link's header came again, so pages that were sent before are
	// repeats until one is new or repeatLimit is used up.
	resumed bool
}

// sentPages is how many pages are remembered to recognise repeats.
const sentPages = 1024

func (f *oggFramer) resume() {
	f.pages = pageParser{}
	f.next = nil
	f.fresh, f.repeated = true, 0
}

func (f *oggFramer) frame(p []byte, emit func(unit)) {
	f.pages.write(p, func(pg page) { f.page(pg, emit) })
}

func (f *oggFramer) page(pg page, emit func(unit)) {
	if pg.begins() {
		if f.next == nil || f.next.begun {
			f.next = &oggLink{}
		}
		f.next.streams = append(f.next.streams, &oggStream{
			serial: pg.serial(),
			need:   headerPackets(pg.body()),
			sent:   make(map[uint32]uint32),
		})
	}
	if f.next != nil && f.next.collect(pg) {
		switch {
		case f.next.complete():
			f.begin(emit)
		case len(f.next.header) > maxHeader:
			f.next = nil
		}
		return
	}
	if f.next != nil && f.next.complete() { // an unknown codec's first data page
		f.begin(emit)
	}
	f.data(pg, emit)
}

// collect keeps a header page; false when pg is not one of this link's.
func (l *oggLink) collect(pg page) bool {
	s := l.stream(pg.serial())
	switch {
	case s == nil:
		return false
	case s.need < 0 && pg.granule() != 0:
		s.need = 0
		return false
	case s.need == 0:
		return false
	}
	l.header = append(l.header, pg...)
	l.begun = l.begun || !pg.begins()
	s.keep(pg)
	if s.need > 0 {
		s.need = max(0, s.need-pg.packets())
	}
	return true
}

func (l *oggLink) complete() bool {
	for _, s := range l.streams {
		if s.need != 0 {
			return false
		}
	}
	return true
}

func (l *oggLink) stream(serial uint32) *oggStream {
	for _, s := range l.streams {
		if s.serial == serial {
			return s
		}
	}
	return nil
}

// begin puts the collected link on air, unless that link is on air already.
func (f *oggFramer) begin(emit func(unit)) {
	next, fresh := f.next, f.fresh
	f.next, f.fresh = nil, false
	if fresh && f.link != nil && bytes.Equal(f.link.header, next.header) {
		for _, s := range f.link.streams {
			s.resumed = true
		}
		return
	}
	f.link = next
	emit(unit{data: next.header, joinable: true})
}

// data sends a page of the link on air, unless a reconnection repeats it.
func (f *oggFramer) data(pg page, emit func(unit)) {
	if f.link == nil {
		return // no header yet: nothing a decoder could use
	}
	s := f.link.stream(pg.serial())
	if s == nil {
		return
	}
	if s.resumed {
		if f.repeated += len(pg); s.knows(pg) && f.repeated <= repeatLimit {
			return
		}
		s.resumed = false
		if int32(pg.sequence()-s.last) <= 0 { //nolint:gosec // serial number arithmetic
			// The same header but other pages: the source began again.
			emit(unit{data: f.link.header, joinable: true})
		}
	}
	s.keep(pg)
	emit(unit{data: bytes.Clone(pg), header: f.link.header, joinable: !pg.continued()})
}

func (s *oggStream) keep(pg page) {
	s.last = pg.sequence()
	s.sent[s.last] = pg.checksum()
	delete(s.sent, s.last-sentPages)
}

func (s *oggStream) knows(pg page) bool {
	sum, ok := s.sent[pg.sequence()]
	return ok && sum == pg.checksum()
}

// headerPackets returns how many header packets a codec has, judged by the first
// one; -1 for an unknown codec.
func headerPackets(first []byte) int {
	has := func(magic string) bool { return bytes.HasPrefix(first, []byte(magic)) }
	switch {
	case has("\x01vorbis"), has("\x80theora"):
		return 3
	case has("OpusHead"):
		return 2
	case has("\x7fFLAC") && len(first) >= 9:
		if n := binary.BigEndian.Uint16(first[7:]); n > 0 {
			return 1 + int(n)
		}
	}
	return -1
}
