package attach

import (
	"encoding/binary"
	"slices"
)

// readWebP copies the chunks that are shown (RFC 9649), without Exif and XMP.
func readWebP(b []byte) (Picture, error) {
	damaged := refused("this WebP is damaged")
	size := int64(binary.LittleEndian.Uint32(b[4:])) + 8
	if size > int64(len(b)) || size < 20 {
		return Picture{}, damaged
	}
	b = b[:size]
	p := Picture{}
	p.Kind, _ = KindOf("webp")
	out := append([]byte{}, b[:12]...)
	picture := false
	for at := int64(12); at+8 <= int64(len(b)); {
		n := int64(binary.LittleEndian.Uint32(b[at+4:]))
		end := at + 8 + n + n&1
		if end > int64(len(b)) {
			return Picture{}, damaged
		}
		kind, content := string(b[at:at+4]), b[at+8:at+8+n]
		if slices.Contains([]string{"VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"}, kind) {
			begin := len(out)
			out = append(out, b[at:end]...)
			if kind == "VP8X" && n >= 10 {
				out[begin+8] &^= 0x0C // neither Exif nor XMP
			}
		}
		w, h := webpSize(kind, content)
		p.Width, p.Height = max(p.Width, w), max(p.Height, h)
		picture = picture || kind == "VP8 " || kind == "VP8L" || kind == "ANMF"
		at = end
	}
	if !picture || p.Width == 0 {
		return Picture{}, refused("this WebP holds no picture")
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	p.Data = out
	return p, nil
}

func webpSize(kind string, c []byte) (w, h int) {
	switch {
	case kind == "VP8X" && len(c) >= 10:
		return 1 + (int(c[4]) | int(c[5])<<8 | int(c[6])<<16), 1 + (int(c[7]) | int(c[8])<<8 | int(c[9])<<16)
	case kind == "VP8L" && len(c) >= 5 && c[0] == 0x2F:
		bits := binary.LittleEndian.Uint32(c[1:])
		return 1 + int(bits&0x3FFF), 1 + int(bits>>14&0x3FFF)
	case kind == "VP8 " && len(c) >= 10 && c[3] == 0x9D && c[4] == 0x01 && c[5] == 0x2A:
		return int(binary.LittleEndian.Uint16(c[6:]) & 0x3FFF), int(binary.LittleEndian.Uint16(c[8:]) & 0x3FFF)
	}
	return 0, 0
}
