package attach

import (
	"bytes"
	"image/gif"
)

// mostFrames bounds the frames that a browser has to decode for one GIF.
const mostFrames = 600

// readGIF copies the blocks that are shown (GIF89a, appendix A). Comments and texts
// are left out, and of the application blocks all but the loop.
func readGIF(b []byte) (Picture, error) {
	cfg, err := gif.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return Picture{}, refused("this GIF cannot be read")
	}
	p := Picture{Width: cfg.Width, Height: cfg.Height}
	p.Kind, _ = KindOf("gif")
	at := 13 + table(b[10])
	frames := 0
	if at > len(b) {
		return p, refused("this GIF is damaged")
	}
	p.Data = append(p.Data, b[:at]...)
	for at < len(b) {
		start, head := at, 0
		switch b[at] {
		case 0x3B:
			if frames > 0 {
				p.Data = append(p.Data, 0x3B)
				return p, nil
			}
			return p, refused("this GIF holds no picture")
		case 0x21:
			head = 2
		case 0x2C:
			if frames++; frames > mostFrames || at+10 > len(b) {
				return p, refused("this GIF is damaged or has more than %d frames", mostFrames)
			}
			head = 11 + table(b[at+9])
		default:
			return p, refused("this GIF is damaged")
		}
		end, ok := gifBlocks(b, at+head)
		if !ok {
			return p, refused("this GIF is damaged")
		}
		if block := b[start:end]; b[at] == 0x2C || block[1] == 0xF9 || gifLoop(block) {
			p.Data = append(p.Data, block...)
		}
		at = end
	}
	return p, refused("this GIF is cut off")
}

// table returns the length of the colour table that a flag byte announces.
func table(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// gifBlocks returns the end of a chain of data blocks.
func gifBlocks(b []byte, at int) (int, bool) {
	for at < len(b) {
		size := int(b[at])
		at += 1 + size
		if size == 0 {
			return at, true
		}
	}
	return 0, false
}

func gifLoop(block []byte) bool {
	return bytes.HasPrefix(block, []byte("\x21\xff\x0bNETSCAPE2.0\x03\x01")) && len(block) == 19
}
