package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"github.com/gobwas/ws"
)

// separator stands between the packets of a polling body.
const separator = 0x1e

// Packet is one packet, framed for WebSocket. It never changes, so many sessions
// share it.
type Packet struct {
	frame  []byte // header and payload
	body   int    // where the payload begins
	binary bool
	shared bool
}

// Shared is the packet for many sessions: it takes memory once, and none of it counts in
// MaxOutgoing.
func (p *Packet) Shared() *Packet {
	q := *p
	q.shared = true
	return &q
}

// Text makes a message of text.
func Text(message []byte) *Packet { return textPacket("4", message) }

// Binary makes a message of bytes.
func Binary(message []byte) *Packet { return framed(ws.OpBinary, "", message) }

func textPacket(kind string, payload []byte) *Packet { return framed(ws.OpText, kind, payload) }

func framed(op ws.OpCode, prefix string, payload []byte) *Packet {
	const final = 0x80
	n := len(prefix) + len(payload)
	frame := make([]byte, 0, ws.MaxHeaderSize+n)
	frame = append(frame, final|byte(op))
	switch {
	case n < 126:
		frame = append(frame, byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 127), uint64(n))
	}
	body := len(frame)
	frame = append(frame, prefix...)
	frame = append(frame, payload...)
	return &Packet{frame: frame, body: body, binary: op == ws.OpBinary}
}

// Size is what the packet's frame takes, in bytes.
func (p *Packet) Size() int { return len(p.frame) }

// size is what the packet counts in a session's queue, in bytes.
func (p *Packet) size() int { return len(p.frame) }

// encodePayload writes packets as one polling body.
func encodePayload(packets []*Packet) []byte {
	n := len(packets)
	for _, p := range packets {
		n += 1 + base64.StdEncoding.EncodedLen(p.size())
	}
	out := make([]byte, 0, n)
	for i, p := range packets {
		if i > 0 {
			out = append(out, separator)
		}
		if p.binary {
			out = base64.StdEncoding.AppendEncode(append(out, 'b'), p.frame[p.body:])
		} else {
			out = append(out, p.frame[p.body:]...)
		}
	}
	return out
}

var (
	errTooMany = errors.New("too many packets in one payload")
	errPayload = errors.New("malformed payload")
)

// decodePayload reads a polling body and calls take for each packet until take
// returns false. Binary packets are decoded from base64.
func decodePayload(body []byte, limit int, take func(packet []byte, binary bool) bool) error {
	if !utf8.Valid(body) || len(body) == 0 {
		return errPayload
	}
	if bytes.Count(body, []byte{separator}) >= limit {
		return errTooMany
	}
	for part := range bytes.SplitSeq(body, []byte{separator}) {
		switch {
		case len(part) == 0:
			return errPayload
		case part[0] == 'b':
			data, err := base64.StdEncoding.AppendDecode(nil, part[1:])
			if err != nil {
				return errPayload
			}
			if !take(data, true) {
				return nil
			}
		default:
			if !take(part[:len(part):len(part)], false) {
				return nil
			}
		}
	}
	return nil
}
