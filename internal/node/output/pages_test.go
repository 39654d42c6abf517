package output

import (
	"testing"

	"pgregory.net/rapid"
)

// page makes an Ogg page; of what it holds only the number and the size matter.
func page(number byte, body []byte) []byte {
	p := append([]byte("OggS"), make([]byte, 22)...)
	p[18] = number
	if number == 0 {
		p[5] = 2 // a stream begins
	}
	segments := []byte{}
	n := len(body)
	for ; n >= 255; n -= 255 {
		segments = append(segments, 255)
	}
	segments = append(segments, byte(n))
	p = append(p, byte(len(segments)))
	return append(append(p, segments...), body...)
}

// However the bytes come, and wherever a page is torn off as the server turns its
// listeners over, the mark is seen where it is and nowhere else.
func TestPagesKnowTheMark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &pages{mark: []byte("ATHIR=standby")}
		var stream []byte
		want := false
		for range rapid.IntRange(1, 6).Draw(t, "streams") {
			if rapid.Bool().Draw(t, "torn") {
				stream = stream[:len(stream)-rapid.IntRange(0, min(len(stream), 300)).Draw(t, "off")]
			}
			want = rapid.Bool().Draw(t, "marked")
			comments := "libvorbis TITLE=x"
			if want {
				comments += "ATHIR=standby"
			}
			stream = append(append(stream, page(0, make([]byte, 30))...), page(1, []byte(comments))...)
			for n := range rapid.IntRange(0, 5).Draw(t, "pages") {
				stream = append(stream, page(byte(n+2), make([]byte, rapid.IntRange(1, 4000).Draw(t, "size")))...)
			}
		}
		for len(stream) > 0 {
			n := rapid.IntRange(1, len(stream)).Draw(t, "read")
			p.read(stream[:n])
			stream = stream[n:]
		}
		if p.marked != want {
			t.Fatalf("marked is %v, want %v", p.marked, want)
		}
	})
}
