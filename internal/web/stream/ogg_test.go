package stream

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// makePage builds a page the way RFC 3533 says, one packet per element of sizes
// of packets; a packet whose length is a multiple of 255 needs a zero lacing value.
func makePage(flags byte, granule int64, serial, seq uint32, packets ...[]byte) []byte {
	var lacing, body []byte
	for _, p := range packets {
		for n := len(p); ; n -= 255 {
			if n < 255 {
				lacing = append(lacing, byte(n))
				break
			}
			lacing = append(lacing, 255)
		}
		body = append(body, p...)
	}
	b := append([]byte("OggS\x00"), flags)
	b = binary.LittleEndian.AppendUint64(b, uint64(granule))
	b = binary.LittleEndian.AppendUint32(b, serial)
	b = binary.LittleEndian.AppendUint32(b, seq)
	b = append(b, 0, 0, 0, 0, byte(len(lacing)))
	b = append(append(b, lacing...), body...)
	binary.LittleEndian.PutUint32(b[22:], checksum(b))
	return b
}

// link builds a Vorbis-shaped chain link of n audio pages.
func link(serial uint32, n int) (header []byte, audio [][]byte) {
	header = append(makePage(flagBOS, 0, serial, 0, []byte("\x01vorbis ident")),
		makePage(0, 0, serial, 1, []byte("\x03vorbis comments"), bytes.Repeat([]byte{5}, 700))...)
	for i := range n {
		audio = append(audio, makePage(0, int64(i+1)*1000, serial, uint32(i+2), bytes.Repeat([]byte{byte(i)}, 300+i%50)))
	}
	return header, audio
}

func pagesOf(pieces ...[]byte) (pages [][]byte) {
	var s pageParser
	for _, p := range pieces {
		s.write(p, func(pg page) { pages = append(pages, bytes.Clone(pg)) })
	}
	return pages
}

// Whatever the network does to write boundaries and whatever lies between
// pages, every page comes out, once, in order, whole.
func TestPagesSurviveAnySplitAndGarbageBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want [][]byte
		var wire []byte
		for i := range rapid.IntRange(1, 8).Draw(t, "pages") {
			packet := rapid.SliceOfN(rapid.Byte(), 0, 600).Draw(t, "packet")
			pg := makePage(0, int64(i), 7, uint32(i), packet)
			want = append(want, pg)
			wire = append(wire, rapid.SliceOfN(rapid.SampledFrom([]byte("OgS\x00x")), 0, 40).Draw(t, "garbage")...)
			wire = append(wire, pg...)
		}
		// A chance capture pattern may announce a page of any size: its bytes must
		// arrive before it can be refused.
		wire = append(wire, make([]byte, oggMaxPage)...)
		var pieces [][]byte
		for rest := wire; len(rest) > 0; {
			n := min(len(rest), rapid.IntRange(1, 500).Draw(t, "piece"))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got := pagesOf(pieces...); !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("%d pages out of %d", len(got), len(want))
		}
	})
}

func TestDamagedPageIsLeftOutAndTheNextOneFound(t *testing.T) {
	_, audio := link(1, 3)
	audio[1] = bytes.Clone(audio[1])
	audio[1][40] ^= 1
	got := pagesOf(bytes.Join(audio, nil))
	if len(got) != 2 || !bytes.Equal(got[0], audio[0]) || !bytes.Equal(got[1], audio[2]) {
		t.Fatalf("got %d pages", len(got))
	}
}

func FuzzOggPages(f *testing.F) {
	header, audio := link(9, 3)
	whole := append(bytes.Clone(header), bytes.Join(audio, nil)...)
	f.Add(whole, 1)
	f.Add(whole[50:], 100)
	f.Add([]byte("OggSOggS\x00OggS\x00\x02"), 3)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		size = max(1, size)
		var s pageParser
		var framed []byte
		fr := &oggFramer{}
		seen, rest := 0, data
		for piece := range slices.Chunk(data, size) {
			s.write(piece, func(pg page) {
				// Each page is a piece of the input, in order, with a sound checksum.
				i := bytes.Index(rest, pg)
				if i < 0 || checksum(pg) != pg.checksum() || len(pg.lacing())+len(pg.body())+oggFixed != len(pg) {
					t.Fatalf("page %d is not in the input", seen)
				}
				rest = rest[i+len(pg):]
				seen++
			})
			if len(s.buf) > oggMaxPage {
				t.Fatalf("%d bytes held", len(s.buf))
			}
			fr.frame(piece, func(u unit) { framed = append(framed, u.data...) })
		}
		if len(framed) > len(data) {
			t.Fatalf("%d bytes made of %d", len(framed), len(data))
		}
	})
}

// framed runs connections through one framer and returns the joined output.
func framed(connections ...[]byte) []byte {
	var out []byte
	f := &oggFramer{}
	for _, c := range connections {
		f.resume()
		f.frame(c, func(u unit) { out = append(out, u.data...) })
	}
	return out
}

func cat(pieces ...any) []byte {
	var out []byte
	for _, p := range pieces {
		switch p := p.(type) {
		case []byte:
			out = append(out, p...)
		case [][]byte:
			out = append(out, bytes.Join(p, nil)...)
		}
	}
	return out
}

func TestReconnectedUpstreamRepeatsNothing(t *testing.T) {
	h1, a1 := link(1, 40)
	h2, a2 := link(2, 10)
	for _, c := range []struct {
		name        string
		connections [][]byte
		want        []byte
	}{
		{"its burst overlaps", [][]byte{cat(h1, a1[:20]), cat(h1, a1[5:])}, cat(h1, a1)},
		{"broken inside a page", [][]byte{cat(h1, a1[:20], a1[20][:30]), cat(h1, a1[15:])}, cat(h1, a1)},
		{"broken inside the header", [][]byte{h1[:70], cat(h1, a1)}, cat(h1, a1)},
		{"pages were missed", [][]byte{cat(h1, a1[:20]), cat(h1, a1[25:])}, cat(h1, a1[:20], a1[25:])},
		{"another link by now", [][]byte{cat(h1, a1[:20]), cat(h2, a2)}, cat(h1, a1[:20], h2, a2)},
		{"joined late, between pages", [][]byte{cat(a1[3:], h2, a2)}, cat(h2, a2)},
		// A looped file is the same link again, and is meant.
		{"one file looped on one connection", [][]byte{cat(h1, a1, h1, a1)}, cat(h1, a1, h1, a1)},
	} {
		if got := framed(c.connections...); !bytes.Equal(got, c.want) {
			t.Errorf("%s: %d bytes, want %d", c.name, len(got), len(c.want))
		}
	}
}

// A source that begins again with the same serial number and header (an
// encoder in bit-exact mode) must not be mistaken for a repeat for long.
func TestSourceThatBeginsAgainIsNotSwallowed(t *testing.T) {
	h, a := link(1, 2000)
	got := framed(cat(h, a[:1500]), cat(h, a))
	missing := 2*len(h) + len(cat(a[:1500])) + len(cat(a)) - len(got)
	if missing > repeatLimit {
		t.Fatalf("%d bytes swallowed", missing)
	}
}

func TestHeadersAreTakenWhole(t *testing.T) {
	audio := func(serial uint32) []byte { return makePage(0, 960, serial, 2, []byte("audio")) }
	for _, c := range []struct {
		name   string
		header []byte
	}{
		{"opus", cat(makePage(flagBOS, 0, 1, 0, []byte("OpusHead")), makePage(0, 0, 1, 1, []byte("OpusTags")))},
		{"flac", cat(makePage(flagBOS, 0, 1, 0, []byte("\x7fFLAC\x01\x00\x00\x02")),
			makePage(0, 0, 1, 1, []byte("a")), makePage(0, 0, 1, 2, []byte("b")))},
		{"unknown", cat(makePage(flagBOS, 0, 1, 0, []byte("what?")), makePage(0, 0, 1, 1, []byte("more")))},
		{"vorbis with its first audio page at granule 0", cat(makePage(flagBOS, 0, 1, 0, []byte("\x01vorbis")),
			makePage(0, 0, 1, 1, []byte("\x03vorbis"), []byte("\x05vorbis")))},
		{"two streams", cat(makePage(flagBOS, 0, 1, 0, []byte("OpusHead")), makePage(flagBOS, 0, 2, 0, []byte("OpusHead")),
			makePage(0, 0, 2, 1, []byte("OpusTags")), makePage(0, 0, 1, 1, []byte("OpusTags")))},
	} {
		var units []unit
		f := &oggFramer{}
		f.frame(cat(c.header, audio(1)), func(u unit) { units = append(units, u) })
		if len(units) != 2 || !bytes.Equal(units[0].data, c.header) || !bytes.Equal(units[1].header, c.header) {
			t.Errorf("%s: %d units", c.name, len(units))
		}
	}
	// Headers without an end must not fill the memory.
	f := &oggFramer{}
	f.frame(makePage(flagBOS, 0, 1, 0, []byte("what?")), func(unit) {})
	for i := range uint32(100) {
		f.frame(makePage(0, 0, 1, i+1, make([]byte, 60_000)), func(unit) { t.Fatal("header went on air") })
	}
	if f.next != nil {
		t.Error("an endless header is still held")
	}
}
