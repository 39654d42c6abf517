package relay

import (
	"bytes"
	"compress/gzip"
	"strings"
	"sync"
)

// rendered is a playlist as it is at one state of the window, cut where the session of
// a listener goes. It is made once and serves every listener until the window moves.
type rendered struct {
	plain []byte   // without sessions in the URIs
	parts [][]byte // of plain; a session goes between any two

	once sync.Once
	gzip []byte // plain, compressed; nil until somebody asks for it
}

// mark stands for the session while a playlist is rendered. No URI of ours has it.
const mark = "\x00"

// render cuts a playlist whose URIs end in mark.
func render(text []byte) *rendered {
	return &rendered{plain: []byte(strings.ReplaceAll(string(text), mark, "")), parts: bytes.Split(text, []byte(mark))}
}

// packed is the playlist without sessions, compressed. It is shared.
func (r *rendered) packed() []byte {
	r.once.Do(func() {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(r.plain) // memory takes it
		_ = w.Close()
		r.gzip = out.Bytes()
	})
	return r.gzip
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
