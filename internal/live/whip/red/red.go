// Package red reads the payloads of redundant audio (RFC 2198): a block of now, and copies of
// what earlier packets held, so that a packet that is lost need not be sent again. What it
// reads is a stranger's: anything that is not exactly of the form is refused.
package red

import (
	"errors"
	"fmt"
	"slices"
)

const (
	// MostBlocks are those of one packet, the primary one included. Browsers send two.
	MostBlocks = 4

	more        = 0x80 // F: another header follows
	longHeader  = 4
	shortHeader = 1
)

// ErrMalformed is a payload that is no redundant audio of the negotiated kind.
var ErrMalformed = errors.New("no redundant audio")

// Copy is what an earlier packet held.
type Copy struct {
	Back    int    // how many blocks before the primary one it stands: 1 and up
	Offset  uint32 // how much earlier its time stamp is than the packet's, 14 bits
	Payload []byte // never empty, at most 1023 bytes
}

// Parse splits a payload whose blocks are all of one payload type. The nearest copy comes
// first; empty ones keep their place and are left out. All slices are parts of payload.
func Parse(payload []byte, kind uint8) (primary []byte, copies []Copy, err error) {
	var headers [MostBlocks - 1]struct{ offset, length int }
	n, rest := 0, payload
	for len(rest) >= longHeader && rest[0]&more != 0 {
		if n == len(headers) {
			return nil, nil, fmt.Errorf("%w: more than %d blocks", ErrMalformed, MostBlocks)
		}
		if rest[0]&^more != kind {
			return nil, nil, fmt.Errorf("%w: a block of payload type %d", ErrMalformed, rest[0]&^more)
		}
		headers[n].offset = int(rest[1])<<6 | int(rest[2])>>2
		headers[n].length = int(rest[2]&3)<<8 | int(rest[3])
		n, rest = n+1, rest[longHeader:]
	}
	if len(rest) < shortHeader || rest[0] != kind {
		return nil, nil, fmt.Errorf("%w: the header of the primary block", ErrMalformed)
	}
	rest = rest[shortHeader:]
	for i, h := range headers[:n] {
		if h.length > len(rest) {
			return nil, nil, fmt.Errorf("%w: block %d is longer than the packet", ErrMalformed, i)
		}
		if h.length > 0 {
			copies = append(copies, Copy{Back: n - i, Offset: uint32(h.offset), Payload: rest[:h.length:h.length]})
		}
		rest = rest[h.length:]
	}
	if len(rest) == 0 {
		return nil, nil, fmt.Errorf("%w: the primary block is empty", ErrMalformed)
	}
	slices.Reverse(copies)
	return rest, copies, nil
}
