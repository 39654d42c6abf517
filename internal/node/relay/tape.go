package relay

import (
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"slices"

	"github.com/bluenviron/mediacommon/v2/pkg/formats/mpegts"
)

// tape hands MPEG-TS to a parser, packet by packet, and remembers what the parser has not
// made audio of yet: played to another parser, that goes on without losing or repeating a
// frame. A parser keeps the packets of a PES packet until it has it whole, and the whole
// beginning of a stream until it knows what is in it.
type tape struct {
	source io.Reader
	ahead  []byte // read and not handed on

	begun bool   // the parser knows what is in the stream
	head  []byte // all that was handed on before it did

	pat, pmt []byte // the newest tables, where each is one packet
	pmtPID   uint16
	// unfinished are the packets of the PES packet of a rendition that is not whole yet, by PID.
	unfinished map[uint16][]byte
}

const (
	tapeAtOnce = 16 << 10
	// maxUnfinished is beyond any PES packet of audio: a stream that never begins another
	// one is not remembered for ever.
	maxUnfinished = 1 << 20
)

// Read returns one packet.
func (t *tape) Read(p []byte) (int, error) {
	if len(p) < packetSize {
		return 0, io.ErrShortBuffer
	}
	for {
		t.align()
		if len(t.ahead) >= packetSize {
			break
		}
		have := len(t.ahead)
		t.ahead = slices.Grow(t.ahead, tapeAtOnce)
		n, err := t.source.Read(t.ahead[have : have+tapeAtOnce])
		t.ahead = t.ahead[:have+n]
		if n == 0 && err != nil {
			return 0, err
		}
	}
	next := packet(t.ahead[:packetSize])
	if t.begun {
		t.note(next)
	} else {
		t.head = append(t.head, next...)
	}
	copy(p, next)
	t.ahead = t.ahead[packetSize:]
	return packetSize, nil
}

// align drops what is before the next packet.
func (t *tape) align() {
	if at := bytes.IndexByte(t.ahead, syncByte); at >= 0 {
		t.ahead = t.ahead[at:]
		return
	}
	t.ahead = t.ahead[:0]
}

// begins notes that the parser knows the stream, and where its audio is. What it was handed
// until now it goes through once more before it reads on.
func (t *tape) begins(tracks []*mpegts.Track) {
	t.begun, t.unfinished = true, map[uint16][]byte{}
	for _, track := range tracks {
		t.unfinished[track.PID] = nil
	}
	for head := t.head; len(head) >= packetSize; head = head[packetSize:] {
		t.note(packet(head[:packetSize]))
	}
	t.head = nil
}

// note keeps up with what the parser does with a packet.
func (t *tape) note(p packet) {
	if p.damaged() || !p.carries() {
		return
	}
	switch pid := p.pid(); {
	case pid == 0 && p.starts():
		t.pat, t.pmtPID = bytes.Clone(p), programMap(p.payload())
	case t.hears(pid):
		t.unfinished[pid] = noteAudio(t.unfinished[pid], p)
	case pid != 0 && pid == t.pmtPID && p.starts():
		t.pmt = bytes.Clone(p)
	}
}

func (t *tape) hears(pid uint16) bool {
	_, ours := t.unfinished[pid]
	return ours
}

// noteAudio returns what is not whole with one more packet.
func noteAudio(unfinished []byte, p packet) []byte {
	switch {
	case p.starts():
		unfinished = unfinished[:0]
	case len(unfinished) == 0:
		return nil // the rest of one whose beginning was lost
	}
	unfinished = append(unfinished, p...)
	if whole(unfinished) || len(unfinished) > maxUnfinished {
		return unfinished[:0]
	}
	return unfinished
}

// left is what another parser must be given before what comes next.
func (t *tape) left() []byte {
	if !t.begun {
		return slices.Concat(t.head, t.ahead)
	}
	out := slices.Concat(t.pat, t.pmt)
	for _, pid := range slices.Sorted(maps.Keys(t.unfinished)) {
		out = append(out, t.unfinished[pid]...)
	}
	return append(out, t.ahead...)
}

// whole reports whether packets hold a whole PES packet. One that does not say its length
// ends where the next one begins.
func whole(packets []byte) bool {
	first := packet(packets[:packetSize]).payload()
	if len(first) < 6 || !bytes.HasPrefix(first, []byte{0, 0, 1}) {
		return false
	}
	length := int(binary.BigEndian.Uint16(first[4:]))
	have := 0
	for ; len(packets) >= packetSize; packets = packets[packetSize:] {
		have += len(packet(packets[:packetSize]).payload())
	}
	return length > 0 && have >= 6+length
}

// programMap is the PID of the first programme's table in a PAT (2.4.4.3); 0: there is none.
func programMap(payload []byte) uint16 {
	const header = 8 // of the section
	if len(payload) == 0 || 1+int(payload[0])+header > len(payload) {
		return 0
	}
	section := payload[1+int(payload[0]):]
	end := min(3+int(binary.BigEndian.Uint16(section[1:])&0x0fff)-4, len(section)) // without the CRC
	for at := header; at+4 <= end; at += 4 {
		if binary.BigEndian.Uint16(section[at:]) != 0 { // 0 is the network's
			return binary.BigEndian.Uint16(section[at+2:]) & 0x1fff
		}
	}
	return 0
}
