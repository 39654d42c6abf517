package attach

import (
	"bytes"
	"encoding/binary"
	"image/jpeg"
	"slices"

	"github.com/athir-radio/athir/internal/kit/exif"
)

// readJPEG copies the segments a decoder needs (ITU-T T.81, annex B): APP0
// (JFIF), APP2 where it holds a colour profile, APP14 (Adobe's colour transform).
func readJPEG(b []byte) (Picture, error) {
	cfg, err := jpeg.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return Picture{}, refused("this JPEG cannot be read")
	}
	p := Picture{Width: cfg.Width, Height: cfg.Height}
	p.Kind, _ = KindOf("jpg")
	turn := uint16(1)
	var segments bytes.Buffer
	at, scans := 2, 0
	for {
		marker, content, next, ok := exif.Segment(b, at)
		if !ok {
			return Picture{}, refused("this JPEG is damaged")
		}
		if marker == 0xE1 && turn == 1 {
			turn = exif.Orientation(content)
		}
		if keptInJPEG(marker, content) {
			segments.Write(b[at:next])
		}
		at = next
		if marker == 0xD9 {
			break
		}
		if marker == 0xDA { // the picture itself follows, up to the next marker
			scans++
			end := jpegScan(b, at)
			segments.Write(b[at:end])
			if at = end; at >= len(b) {
				segments.WriteString("\xff\xd9") // cut off: browsers show what there is
				break
			}
		}
	}
	if scans == 0 {
		return Picture{}, refused("this JPEG holds no picture")
	}
	out := []byte("\xff\xd8")
	if turn > 1 {
		out = append(out, exifTurn(turn)...)
	}
	if turn >= 5 {
		p.Width, p.Height = p.Height, p.Width
	}
	p.Data = slices.Concat(out, segments.Bytes())
	return p, nil
}

func keptInJPEG(marker byte, content []byte) bool {
	switch {
	case marker == 0xE0:
		return bytes.HasPrefix(content, []byte("JFIF\x00")) && len(content) == 14 // no thumbnail
	case marker == 0xE2:
		return bytes.HasPrefix(content, []byte("ICC_PROFILE\x00"))
	case marker == 0xEE:
		return bytes.HasPrefix(content, []byte("Adobe")) && len(content) == 12
	case marker >= 0xE0 && marker <= 0xEF, marker == 0xFE, marker >= 0xF0 && marker <= 0xFD:
		return false
	}
	return true
}

// jpegScan returns the end of the coded data that begins at b[at].
func jpegScan(b []byte, at int) int {
	for ; at+1 < len(b); at++ {
		if b[at] == 0xFF && b[at+1] != 0 && b[at+1] != 0xFF && (b[at+1] < 0xD0 || b[at+1] > 0xD7) {
			return at
		}
	}
	return len(b)
}

// exifTurn returns an Exif segment that holds the orientation alone.
func exifTurn(turn uint16) []byte {
	out := []byte("\xff\xe1\x00\x22" + exif.Head + "MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	out = binary.BigEndian.AppendUint16(out, turn)
	return append(out, 0, 0, 0, 0, 0, 0)
}
