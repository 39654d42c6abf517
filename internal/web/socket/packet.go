package socket

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// MaxAttachments is the most pieces of binary an event may carry.
const MaxAttachments = 10

// maxDepth is the deepest nesting an event's arguments may have.
const maxDepth = 100

// maxArgs is the most arguments an event or an acknowledgement may have: to decode
// one costs far more than to send it, and no client needs so many.
const maxArgs = 64

// kind of a packet; the numbers are the protocol's.
type kind byte

const (
	kindConnect kind = iota
	kindDisconnect
	kindEvent
	kindAck
	kindConnectError
	kindBinaryEvent
	kindBinaryAck
)

// packet is one Socket.IO packet as received, its data not yet decoded:
//
//	<kind>[<attachments>-][<namespace>,][<id>][<data>]
type packet struct {
	kind        kind
	attachments int
	namespace   string
	id          uint64
	hasID       bool
	data        []byte
}

var errPacket = errors.New("malformed packet")

// decode reads a packet's text.
func decode(text []byte) (packet, error) {
	p := packet{namespace: "/"}
	if len(text) == 0 || text[0] < '0' || text[0] > '6' {
		return p, errPacket
	}
	p.kind = kind(text[0] - '0')
	text = text[1:]
	if p.kind == kindBinaryEvent || p.kind == kindBinaryAck {
		digits, rest, ok := bytes.Cut(text, []byte{'-'})
		n, number := number(digits)
		if !ok || !number || n > MaxAttachments {
			return p, errPacket
		}
		p.attachments, text = int(n), rest
	}
	if len(text) > 0 && text[0] == '/' {
		name, rest, _ := bytes.Cut(text, []byte{','})
		p.namespace, text = string(name), rest
	}
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	if digits > 0 {
		var ok bool
		if p.id, ok = number(text[:digits]); !ok {
			return p, errPacket
		}
		p.hasID = true
	}
	p.data = text[digits:]
	return p, p.check()
}

// number reads decimal digits, at most as many as a JavaScript number holds.
func number(digits []byte) (uint64, bool) {
	if len(digits) == 0 || len(digits) > 15 {
		return 0, false
	}
	n := uint64(0)
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + uint64(d-'0')
	}
	return n, true
}

// check refuses data that does not fit the packet's kind.
func (p *packet) check() error {
	ok := true
	switch p.kind {
	case kindConnect:
		ok = len(p.data) == 0 || p.data[0] == '{' && json.Valid(p.data) && !unwieldy(p.data)
	case kindDisconnect:
		ok = len(p.data) == 0
	case kindEvent, kindBinaryEvent:
		ok = len(p.data) > 0 && p.data[0] == '['
	case kindAck, kindBinaryAck:
		ok = p.hasID && len(p.data) > 0 && p.data[0] == '['
	case kindConnectError:
		ok = false // only servers send it
	}
	if !ok {
		return errPacket
	}
	return nil
}

// args reads the array an event or an acknowledgement carries.
func (p *packet) args() ([]json.RawMessage, error) {
	if unwieldy(p.data) {
		return nil, errPacket
	}
	var out []json.RawMessage
	if err := json.Unmarshal(p.data, &out); err != nil {
		return nil, errPacket
	}
	return out, nil
}

// event reads an event's name and arguments. A name is a string or a number, and
// none that the clients reserve.
func (p *packet) event() (string, []json.RawMessage, error) {
	args, err := p.args()
	if err != nil || len(args) == 0 {
		return "", nil, errPacket
	}
	first := args[0]
	if first[0] == '-' || first[0] >= '0' && first[0] <= '9' {
		return string(first), args[1:], nil
	}
	var name string
	if json.Unmarshal(first, &name) != nil || first[0] != '"' || reserved(name) {
		return "", nil, errPacket
	}
	return name, args[1:], nil
}

func reserved(name string) bool {
	switch name {
	case "connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener":
		return true
	}
	return false
}

// unwieldy reports whether data, which need not be valid JSON, nests deeper than
// maxDepth or has more than maxArgs values in its outermost array or object.
func unwieldy(data []byte) bool {
	depth, beside, quoted := 0, 1, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted:
			if c == '\\' {
				i++
			}
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 1:
			if beside++; beside > maxArgs+1 { // one more: the event's name
				return true
			}
		}
	}
	return false
}

// appendHeader begins a packet's text.
func appendHeader(out []byte, k kind, attachments int, namespace string) []byte {
	out = append(out, '0'+byte(k))
	if k == kindBinaryEvent || k == kindBinaryAck {
		out = append(strconv.AppendInt(out, int64(attachments), 10), '-')
	}
	if namespace != "/" {
		out = append(append(out, namespace...), ',')
	}
	return out
}

// placeholder is an argument that refers to the n-th attachment.
type placeholder struct {
	Is  bool `json:"_placeholder"`
	Num *int `json:"num"`
}

// Placeholder refers, anywhere within an argument, to the n-th attachment of a
// Message made by Attach.
func Placeholder(n int) any { return placeholder{true, &n} }
