package attach

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image/png"
	"slices"
)

const pngHead = "\x89PNG\r\n\x1a\n"

// readPNG copies the chunks of the picture, its colours and its animation (PNG, third
// edition). Texts, times and Exif are left out.
func readPNG(b []byte) (Picture, error) {
	cfg, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return Picture{}, refused("this PNG cannot be read")
	}
	p := Picture{Width: cfg.Width, Height: cfg.Height, Data: []byte(pngHead)}
	p.Kind, _ = KindOf("png")
	kept := []string{"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "sBIT", "bKGD", "pHYs", "acTL", "fcTL", "fdAT"}
	data := false
	for at := len(pngHead); ; {
		if at+12 > len(b) {
			return Picture{}, refused("this PNG is damaged")
		}
		size := int64(binary.BigEndian.Uint32(b[at:]))
		end := int64(at) + 12 + size
		if end > int64(len(b)) {
			return Picture{}, refused("this PNG is damaged")
		}
		chunk := b[at:end]
		kind := string(chunk[4:8])
		if crc32.ChecksumIEEE(chunk[4:8+size]) != binary.BigEndian.Uint32(chunk[8+size:]) {
			return Picture{}, refused("this PNG is damaged")
		}
		if slices.Contains(kept, kind) {
			p.Data = append(p.Data, chunk...)
		}
		data = data || kind == "IDAT"
		if at = int(end); kind == "IEND" {
			break
		}
	}
	if !data {
		return Picture{}, refused("this PNG holds no picture")
	}
	return p, nil
}
