package relay

import (
	"bytes"
	"strings"
)

// rendered is a playlist as it is at one state of the window, cut where the session of
// a listener goes. It is made once and serves every listener until the window moves.
type rendered struct {
	plain []byte   // without sessions in the URIs
	parts [][]byte // of plain; a session goes between any two
}

// mark stands for the session while a playlist is rendered. No URI of ours has it.
const mark = "\x00"

// render cuts a playlist whose URIs end in mark.
func render(text []byte) *rendered {
	return &rendered{plain: []byte(strings.ReplaceAll(string(text), mark, "")), parts: bytes.Split(text, []byte(mark))}
}

// with returns the playlist with a suffix behind every URI. The result may be shared:
// it must not be changed.
func (r *rendered) with(suffix string) []byte {
	if suffix == "" {
		return r.plain
	}
	out := make([]byte, 0, len(r.plain)+len(suffix)*len(r.parts))
	for i, part := range r.parts {
		if i > 0 {
			out = append(out, suffix...)
		}
		out = append(out, part...)
	}
	return out
}
